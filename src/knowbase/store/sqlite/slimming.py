"""A base of an earlier version, as it is kept now: what it said twice, it says once.

Within the transaction of an upgrade, a number of documents at a time.
"""

import re
from itertools import groupby
from typing import Any

import apsw

from knowbase.store.sqlite.adding import Naming, shared_terms
from knowbase.store.sqlite.packing import MILLION, digest, kept_header, packed

_BATCH = 500  # documents
_UNIQUE = re.compile(r",\s*UNIQUE \(document, slug, chunk_index\)")
_BEFORE = f"""
ALTER TABLE documents ADD COLUMN terms TEXT NOT NULL DEFAULT '';
DROP INDEX documents_content;
DROP INDEX documents_created;
CREATE INDEX documents_project ON documents (project, created_at, seq) WHERE project IS NOT NULL;
UPDATE changes SET touched = packed(touched);
ALTER TABLE edges RENAME TO edges_before;
DROP INDEX edges_target;
CREATE TABLE edges (
    source INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    weight INTEGER NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
INSERT INTO edges SELECT source, target, relation,  -- those found by this upgrade are so already
    iif(weight > 1, weight, CAST(round(weight * {MILLION}) AS INTEGER)), origin
    FROM edges_before ORDER BY source, target, relation;
DROP TABLE edges_before;
CREATE INDEX edges_target ON edges (target, source);
DROP TRIGGER names_inserted;
DROP TRIGGER names_deleted;
ALTER TABLE embedded RENAME TO embedded_before;
CREATE TABLE embedded (
    model INTEGER NOT NULL REFERENCES models (id),
    chunk INTEGER NOT NULL,
    seal BLOB,
    PRIMARY KEY (model, chunk)
) WITHOUT ROWID;
INSERT INTO embedded SELECT model, chunk, seal FROM embedded_before ORDER BY model, chunk;
DROP TABLE embedded_before;
"""
_AFTER = """
CREATE INDEX documents_content ON documents (substr(content_hash, 1, 8));
CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, title, heading, text, terms)
    VALUES (new.id, new.title, coalesce(new.heading, ''), plain(new.text),
        coalesce((SELECT plain(terms) FROM documents WHERE seq = new.document), '')
        || plain(new.terms));
END;
CREATE TRIGGER chunks_updated AFTER UPDATE OF title, heading, text, terms ON chunks BEGIN
    UPDATE chunks_fts
    SET title = new.title, heading = coalesce(new.heading, ''), text = plain(new.text),
        terms = coalesce((SELECT plain(terms) FROM documents WHERE seq = new.document), '')
        || plain(new.terms)
    WHERE rowid = new.id;
END;
CREATE TRIGGER names_inserted AFTER INSERT ON names
WHEN EXISTS (SELECT 1 FROM mentions WHERE name = new.name) BEGIN
    INSERT OR IGNORE INTO stale_names VALUES (new.name);
END;
CREATE TRIGGER names_deleted AFTER DELETE ON names
WHEN EXISTS (SELECT 1 FROM mentions WHERE name = old.name) BEGIN
    INSERT OR IGNORE INTO stale_names VALUES (old.name);
END;
CREATE TRIGGER documents_terms AFTER UPDATE OF terms ON documents BEGIN
    UPDATE chunks SET terms = terms WHERE document = new.seq;
END;
"""


def slim(connection: apsw.Connection) -> None:
    """Words and vectors are the same as before: their indexes stay, and what keeps their logs."""
    kept: Any = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        " AND tbl_name IN ('chunks', 'embedded')"
    ).fetchall()
    for name, _ in kept:
        connection.execute(f'DROP TRIGGER "{name}"')
    _find_by_place(connection)
    connection.execute(_BEFORE)
    last: Any = connection.execute("SELECT coalesce(max(seq), 0) FROM documents").get
    for first in range(0, last + 1, _BATCH):
        _slim_documents(connection, first)
        _slim_chunks(connection, first)
    connection.execute(_AFTER)
    for name, sql in kept:
        if name not in ("chunks_inserted", "chunks_updated"):
            connection.execute(sql)


def _find_by_place(connection: apsw.Connection) -> None:
    """Chunks are asked for by their document, and no longer by what they are called: the index of
    a constraint becomes one that can be dropped."""
    sql: Any = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'chunks'").get
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_schema SET sql = ? WHERE name = 'chunks'", (_UNIQUE.sub("", sql),)
    )
    connection.execute(
        "UPDATE sqlite_schema SET name = 'chunks_slug',"
        " sql = 'CREATE INDEX chunks_slug ON chunks (document, slug, chunk_index)'"
        " WHERE name = 'sqlite_autoindex_chunks_1'"
    )
    connection.execute("PRAGMA writable_schema = RESET")
    connection.execute("DROP INDEX chunks_slug")
    connection.execute("CREATE INDEX chunks_place ON chunks (document, position)")


def _slim_documents(connection: apsw.Connection, first: int) -> None:
    hashes: Any = connection.execute(
        "SELECT content_hash, seq FROM documents WHERE seq >= ? AND seq < ?",
        (first, first + _BATCH),
    ).fetchall()
    connection.executemany(
        "UPDATE documents SET content_hash = ? WHERE seq = ?",
        [(digest(letters), seq) for letters, seq in hashes if isinstance(letters, str)],
    )


def _slim_chunks(connection: apsw.Connection, first: int) -> None:
    found: Any = connection.execute(
        "SELECT d.seq, d.type, d.title, d.code, d.path, c.id, c.heading, c.header, plain(c.terms)"
        " FROM documents d JOIN chunks c ON c.document = d.seq WHERE d.seq >= ? AND d.seq < ?"
        " ORDER BY d.seq",
        (first, first + _BATCH),
    ).fetchall()
    for (seq, *fields), group in groupby(found, key=lambda row: row[:5]):
        chunks = [row[5:] for row in group]
        shared = shared_terms(Naming(*fields), [terms for *_, terms in chunks])
        connection.execute("UPDATE documents SET terms = ? WHERE seq = ?", (packed(shared), seq))
        connection.executemany(
            "UPDATE chunks SET header = ?, terms = ? WHERE id = ?",
            [
                (kept_header(header, heading), packed(terms[len(shared) :]), number)
                for number, heading, header, terms in chunks
            ],
        )
