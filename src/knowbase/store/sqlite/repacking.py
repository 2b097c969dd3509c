"""Texts, hashes and text indexes of earlier versions, as they are kept now."""

import apsw

_TEXT_INDEX = """
CREATE VIRTUAL TABLE {0} USING fts5 (
    text, title, heading, terms,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
"""
_BEFORE = """
DROP TRIGGER chunks_inserted;
DROP TRIGGER chunks_updated;
DROP TRIGGER past_chunks_inserted;
DROP TABLE chunks_fts;
DROP TABLE past_fts;
DROP INDEX chunks_hash;
UPDATE chunks SET text = packed(text), terms = packed(terms),
    hash = iif(length(hash) = 64, coalesce(unhex(hash), hash), hash);
UPDATE past_texts SET text = packed(text);
UPDATE past_chunks SET terms = packed(terms);
CREATE INDEX chunks_hash ON chunks (substr(hash, 1, 8));
UPDATE names SET name = kept_name(name);
UPDATE mentions SET name = kept_name(name);
UPDATE stale_names SET name = kept_name(name);
UPDATE edges SET relation = '', origin = '' WHERE relation = 'SIMILAR_TO';
"""
_AFTER = """
INSERT INTO chunks_fts (rowid, title, heading, text, terms)
    SELECT id, title, coalesce(heading, ''), plain(text), plain(terms) FROM chunks;
INSERT INTO past_fts (rowid, title, heading, text, terms)
    SELECT c.id, c.title, coalesce(t.heading, ''), plain(t.text), plain(c.terms)
    FROM past_chunks c JOIN past_texts t ON t.key = c.key;
CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, title, heading, text, terms)
    VALUES (new.id, new.title, coalesce(new.heading, ''), plain(new.text), plain(new.terms));
END;
CREATE TRIGGER chunks_updated AFTER UPDATE OF title, heading, text, terms ON chunks BEGIN
    UPDATE chunks_fts
    SET title = new.title, heading = coalesce(new.heading, ''), text = plain(new.text),
        terms = plain(new.terms)
    WHERE rowid = new.id;
END;
CREATE TRIGGER past_chunks_inserted AFTER INSERT ON past_chunks BEGIN
    INSERT INTO past_fts (rowid, title, heading, text, terms)
    SELECT new.id, new.title, coalesce(heading, ''), plain(text), plain(new.terms)
    FROM past_texts WHERE key = new.key;
END;
"""


def pack_texts(connection: apsw.Connection) -> None:
    """Within the transaction of an upgrade. The text is the first column of its index: of what
    stands there, FTS5 does not note in which column it does."""
    from knowbase.store.sqlite.change_log import WORDS

    WORDS.drop(connection)  # all of them would be logged, and no word has changed
    connection.execute(_BEFORE)
    connection.execute(_TEXT_INDEX.format("chunks_fts"))
    connection.execute(_TEXT_INDEX.format("past_fts"))
    connection.execute(_AFTER)
