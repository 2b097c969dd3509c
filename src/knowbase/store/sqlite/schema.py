"""The schema as numbered steps: an older file is upgraded in place, a newer one refused."""

from collections.abc import Callable
from typing import TypeAlias

import apsw

from knowbase.errors import BaseReadOnly, BaseTooNew, NotABase
from knowbase.store.rows import damaged
from knowbase.store.sqlite.packing import register

APPLICATION_ID = 0x6B6E6F77  # "know"

Relink: TypeAlias = Callable[[apsw.Connection], None]
"""Finds every link of a base: asked for once, when a base from before the graph is upgraded."""

_STEP_1 = """
CREATE TABLE models (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    revision TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    UNIQUE (name, revision)
);
CREATE TABLE documents (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    code TEXT NOT NULL UNIQUE COLLATE NOCASE,
    title TEXT NOT NULL,
    type TEXT NOT NULL,
    path TEXT UNIQUE,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    parent TEXT COLLATE NOCASE,
    project TEXT,
    roles TEXT NOT NULL,
    confidence REAL,
    archived INTEGER NOT NULL,
    expires_at TEXT,
    superseded_by TEXT,
    valid_until TEXT,
    scope TEXT NOT NULL,
    sector TEXT,
    tier TEXT,
    salience REAL NOT NULL,
    access_count INTEGER NOT NULL DEFAULT 0,
    last_accessed_at TEXT,
    metadata TEXT NOT NULL
);
CREATE INDEX documents_newest ON documents (updated_at DESC, seq);
CREATE INDEX documents_type ON documents (type);
CREATE INDEX documents_parent ON documents (parent) WHERE parent IS NOT NULL;
CREATE INDEX documents_with_a_lifecycle ON documents (seq)
    WHERE archived OR expires_at IS NOT NULL OR superseded_by IS NOT NULL
    OR valid_until IS NOT NULL;
CREATE TABLE tags (
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    name TEXT NOT NULL,
    PRIMARY KEY (document, name)
) WITHOUT ROWID;
CREATE INDEX tags_name ON tags (name, document);
CREATE TABLE links (
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    target TEXT NOT NULL,
    kind TEXT NOT NULL,
    PRIMARY KEY (document, target, kind)
) WITHOUT ROWID;
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    slug TEXT NOT NULL,
    chunk_index INTEGER NOT NULL,
    model INTEGER REFERENCES models (id),
    hash TEXT NOT NULL,
    line INTEGER NOT NULL,
    page INTEGER,
    tokens INTEGER NOT NULL,
    overlap INTEGER NOT NULL,
    title TEXT NOT NULL,
    heading TEXT,
    header TEXT NOT NULL,
    text TEXT NOT NULL,
    terms TEXT NOT NULL,
    UNIQUE (document, slug, chunk_index)
);
CREATE INDEX chunks_hash ON chunks (hash) WHERE model IS NOT NULL;
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    title, heading, text, terms,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, title, heading, text, terms)
    VALUES (new.id, new.title, coalesce(new.heading, ''), new.text, new.terms);
END;
CREATE TRIGGER chunks_deleted AFTER DELETE ON chunks BEGIN
    DELETE FROM chunks_fts WHERE rowid = old.id;
END;
CREATE TRIGGER chunks_updated AFTER UPDATE OF title, heading, text, terms ON chunks BEGIN
    UPDATE chunks_fts
    SET title = new.title, heading = coalesce(new.heading, ''), text = new.text, terms = new.terms
    WHERE rowid = new.id;
END;
CREATE TABLE sources (
    path TEXT PRIMARY KEY,
    tags TEXT NOT NULL,
    parent TEXT,
    tree INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE files (
    path TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    document TEXT,
    problem TEXT,
    excluded INTEGER NOT NULL
) WITHOUT ROWID;
"""

HAS_A_LIFECYCLE = (
    "archived OR expires_at IS NOT NULL OR superseded_by IS NOT NULL"
    " OR valid_until IS NOT NULL OR deleted_at IS NOT NULL"
)
"""Exactly the condition of the index documents_with_a_lifecycle, so that it is used."""

_STEP_2 = f"""
ALTER TABLE documents ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE documents ADD COLUMN deleted_at TEXT;
ALTER TABLE documents ADD COLUMN content_hash TEXT NOT NULL DEFAULT '';
ALTER TABLE documents ADD COLUMN said TEXT NOT NULL DEFAULT '{{}}';
DROP INDEX documents_with_a_lifecycle;
CREATE INDEX documents_with_a_lifecycle ON documents (seq) WHERE {HAS_A_LIFECYCLE};
CREATE INDEX documents_created ON documents (project, created_at, seq);
CREATE INDEX documents_content ON documents (content_hash);
CREATE INDEX documents_expiring ON documents (expires_at, seq) WHERE expires_at IS NOT NULL;
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    project TEXT,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    summary TEXT
) WITHOUT ROWID;
CREATE INDEX sessions_started ON sessions (started_at DESC, id);
CREATE TABLE uses (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    usage TEXT NOT NULL,
    used_at TEXT NOT NULL,
    UNIQUE (session, document, usage)
);
CREATE INDEX uses_latest ON uses (document, used_at, id);
CREATE TABLE verdicts (
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    occasion TEXT NOT NULL,
    good INTEGER NOT NULL,
    given_at TEXT NOT NULL,
    PRIMARY KEY (document, occasion)
) WITHOUT ROWID;
CREATE TABLE relations (
    source INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    origin TEXT NOT NULL,
    created_at TEXT NOT NULL,
    PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE INDEX relations_target ON relations (target, source);
"""

_STEP_3 = """
ALTER TABLE models ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE models ADD COLUMN active INTEGER NOT NULL DEFAULT 0;
UPDATE models SET active = 1 WHERE id = (SELECT min(id) FROM models);
CREATE TABLE embedded (
    model INTEGER NOT NULL REFERENCES models (id),
    chunk INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
    PRIMARY KEY (model, chunk)
) WITHOUT ROWID;
CREATE INDEX embedded_chunk ON embedded (chunk);
INSERT INTO embedded SELECT model, id FROM chunks WHERE model IS NOT NULL;
DROP INDEX chunks_hash;
ALTER TABLE chunks DROP COLUMN model;
CREATE INDEX chunks_hash ON chunks (hash);
"""

_STEP_4 = """
CREATE TABLE names (
    name TEXT NOT NULL,
    kind INTEGER NOT NULL,
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    PRIMARY KEY (name, kind, document)
) WITHOUT ROWID;
CREATE INDEX names_document ON names (document);
CREATE TABLE stale_names (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TRIGGER names_inserted AFTER INSERT ON names BEGIN
    INSERT OR IGNORE INTO stale_names VALUES (new.name);
END;
CREATE TRIGGER names_deleted AFTER DELETE ON names BEGIN
    INSERT OR IGNORE INTO stale_names VALUES (old.name);
END;
CREATE TABLE mentions (
    document INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    name TEXT NOT NULL,
    relation TEXT NOT NULL,
    target TEXT NOT NULL,
    origin TEXT NOT NULL,
    reach INTEGER NOT NULL,
    inverse INTEGER NOT NULL,
    weight REAL NOT NULL,
    PRIMARY KEY (document, name, relation, target, origin)
) WITHOUT ROWID;
CREATE INDEX mentions_name ON mentions (name, document);
CREATE TABLE edges (
    source INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES documents (seq) ON DELETE CASCADE,
    relation TEXT NOT NULL,
    weight REAL NOT NULL,
    origin TEXT NOT NULL,
    PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE INDEX edges_target ON edges (target, source);
CREATE TABLE unlinked (
    document INTEGER PRIMARY KEY REFERENCES documents (seq) ON DELETE CASCADE
);
CREATE TABLE graph (similar_above REAL, version INTEGER NOT NULL);
INSERT INTO graph VALUES (NULL, 0);
"""

_STEP_5 = """
CREATE TABLE saved (
    name TEXT PRIMARY KEY,
    query TEXT NOT NULL,
    options TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE moving (source TEXT NOT NULL);
"""

_STEP_6 = """
ALTER TABLE documents ADD COLUMN split_by TEXT NOT NULL DEFAULT '';
UPDATE documents SET split_by = 'types:' WHERE metadata LIKE '%"type":%';
"""

_STEP_7 = """
ALTER TABLE files ADD COLUMN inode INTEGER;
ALTER TABLE files ADD COLUMN ctime_ns INTEGER;
"""

_STEP_8 = """
CREATE TABLE journal (generation INTEGER NOT NULL, lost INTEGER NOT NULL);
INSERT INTO journal VALUES (0, 0);
"""

_STEP_9 = """
ALTER TABLE documents ADD COLUMN seal BLOB;
ALTER TABLE documents ADD COLUMN text_seal BLOB;
ALTER TABLE documents ADD COLUMN use_seal BLOB;
ALTER TABLE embedded ADD COLUMN seal BLOB;
"""

# Why a file is left out is kept, so that it is said once, and by kb status.
_STEP_10 = """
ALTER TABLE files ADD COLUMN skipped TEXT;
"""

# What somebody decided of a memory.
_STEP_11 = """
ALTER TABLE documents ADD COLUMN judged TEXT;
"""

# A document is linked with its nearest ones alone: which those are is found when it is asked for.
_STEP_12 = """
ALTER TABLE graph ADD COLUMN similar_most INTEGER;
UPDATE graph SET similar_above = NULL;
"""

# Numbers by name: what the base has learnt of its answers.
_STEP_13 = """
CREATE TABLE calibration (
    name TEXT PRIMARY KEY,
    number REAL NOT NULL,
    made_at TEXT NOT NULL
) WITHOUT ROWID;
"""

# Of a file that made no document, its hash and its readers are two things. And what several
# processes would do at once is done by the one that holds a lease.
_STEP_14 = """
ALTER TABLE files ADD COLUMN readers TEXT;
UPDATE files SET readers = substr(sha256, 1, instr(sha256, ' ') - 1),
    sha256 = substr(sha256, instr(sha256, ' ') + 1)
    WHERE sha256 LIKE 'readers:% %';
CREATE TABLE leases (
    work TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until REAL NOT NULL
) WITHOUT ROWID;
"""

# What was, beside what is: a search that asks for no other moment never reads it.
_STEP_15 = """
CREATE TABLE changes (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    surface TEXT NOT NULL,
    command TEXT NOT NULL,
    session TEXT,
    run TEXT NOT NULL,
    touched TEXT NOT NULL,
    next_seq INTEGER NOT NULL,
    next_chunk INTEGER NOT NULL
);
CREATE INDEX changes_next_seq ON changes (next_seq, number);
CREATE INDEX changes_run ON changes (run);
CREATE TABLE versions (
    document INTEGER NOT NULL,
    until INTEGER NOT NULL,
    since INTEGER NOT NULL,
    id TEXT NOT NULL,
    code TEXT COLLATE NOCASE,
    path TEXT,
    data TEXT,
    places TEXT,
    seal BLOB NOT NULL,
    PRIMARY KEY (document, until)
) WITHOUT ROWID;
CREATE INDEX versions_until ON versions (until);
CREATE INDEX versions_id ON versions (id);
CREATE INDEX versions_code ON versions (code);
CREATE TABLE past_texts (
    key BLOB PRIMARY KEY,
    heading TEXT,
    header TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE TABLE past_chunks (
    chunk INTEGER NOT NULL,
    until INTEGER NOT NULL,
    document INTEGER NOT NULL,
    slug TEXT NOT NULL,
    chunk_index INTEGER NOT NULL,
    overlap INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key BLOB NOT NULL,
    PRIMARY KEY (chunk, until)
) WITHOUT ROWID;
CREATE INDEX past_chunks_document ON past_chunks (document, until);
CREATE INDEX past_chunks_until ON past_chunks (until);
CREATE INDEX past_chunks_key ON past_chunks (key);
CREATE INDEX past_chunks_hash ON past_chunks (hash);
CREATE TABLE past_vectors (
    hash TEXT NOT NULL,
    model INTEGER NOT NULL REFERENCES models (id) ON DELETE CASCADE,
    embedding BLOB NOT NULL,
    PRIMARY KEY (hash, model)
);
INSERT INTO changes SELECT 0, iif(documents, strftime('%Y-%m-%dT%H:%M:%f000Z'), ''),
    '', '', '', NULL, '', '[]', documents + 1, chunks + 1 FROM (SELECT
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'documents'), 0) AS documents,
    coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0) AS chunks);
"""

# What chunks said is found by its words, as what they say is.
_STEP_16 = """
ALTER TABLE past_chunks RENAME TO former_chunks;
DROP INDEX past_chunks_document;
DROP INDEX past_chunks_until;
DROP INDEX past_chunks_key;
DROP INDEX past_chunks_hash;
CREATE TABLE past_chunks (
    id INTEGER PRIMARY KEY,
    chunk INTEGER NOT NULL,
    until INTEGER NOT NULL,
    document INTEGER NOT NULL,
    slug TEXT NOT NULL,
    chunk_index INTEGER NOT NULL,
    overlap INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    hash TEXT NOT NULL,
    key BLOB NOT NULL,
    title TEXT NOT NULL,
    terms TEXT NOT NULL,
    UNIQUE (chunk, until)
);
CREATE INDEX past_chunks_document ON past_chunks (document, until);
CREATE INDEX past_chunks_until ON past_chunks (until);
CREATE INDEX past_chunks_key ON past_chunks (key);
CREATE INDEX past_chunks_hash ON past_chunks (hash);
CREATE VIRTUAL TABLE past_fts USING fts5 (
    title, heading, text, terms,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61'
);
CREATE TRIGGER past_chunks_inserted AFTER INSERT ON past_chunks BEGIN
    INSERT INTO past_fts (rowid, title, heading, text, terms)
    SELECT new.id, new.title, coalesce(heading, ''), text, new.terms FROM past_texts
    WHERE key = new.key;
END;
CREATE TRIGGER past_chunks_deleted AFTER DELETE ON past_chunks BEGIN
    DELETE FROM past_fts WHERE rowid = old.id;
END;
INSERT INTO past_chunks SELECT NULL, c.chunk, c.until, c.document, c.slug, c.chunk_index,
    c.overlap, c.tokens, c.hash, c.key, coalesce((SELECT json_extract(v.data, '$.document.title')
    FROM versions v WHERE v.document = c.document AND v.until = c.until), ''), ''
    FROM former_chunks c;
DROP TABLE former_chunks;
"""

# How many documents of a moment are no longer kept is said with each answer.
_STEP_18 = """
CREATE INDEX IF NOT EXISTS versions_lost ON versions (until) WHERE data IS NULL;
"""


def halve_vectors(connection: apsw.Connection) -> None:
    """Loaded where a base is upgraded, and by no search."""
    from knowbase.store.sqlite import halving

    halving.halve_vectors(connection)


def pack_texts(connection: apsw.Connection) -> None:
    """Loaded where a base is upgraded, and by no search."""
    from knowbase.store.sqlite import repacking

    repacking.pack_texts(connection)


def slim(connection: apsw.Connection) -> None:
    """Loaded where a base is upgraded, and by no search."""
    from knowbase.store.sqlite import slimming

    slimming.slim(connection)


STEPS = (
    _STEP_1, _STEP_2, _STEP_3, _STEP_4, _STEP_5, _STEP_6, _STEP_7, _STEP_8, _STEP_9, _STEP_10,
    _STEP_11, _STEP_12, _STEP_13, _STEP_14, _STEP_15, _STEP_16, halve_vectors, _STEP_18, pack_texts,
    slim,
)  # fmt: skip
WITH_CONTENT_HASHES = 2
_NEVER = 1000  # a number that no schema will have
WITH_A_GRAPH = 4


def create(connection: apsw.Connection, relink: Relink) -> None:
    """Make an empty file a base."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
    upgrade(connection, relink)


def check(connection: apsw.Connection, relink: Relink) -> None:
    """Refuse what is not a base or is newer than this program; upgrade what is older."""
    if connection.pragma("application_id") != APPLICATION_ID:
        raise NotABase("this file is not a knowbase base", hint="choose another --base")
    version = connection.pragma("user_version")
    if not 0 <= version < _NEVER:
        raise damaged("the number of its schema is none")
    if version > len(STEPS):
        raise BaseTooNew(
            f"the base has schema {version}, this knowbase knows up to {len(STEPS)}",
            hint="upgrade knowbase: pip install -U knowbase",
        )
    if version < len(STEPS):
        if connection.readonly("main"):
            raise BaseReadOnly(
                f"the base has schema {version} and must be upgraded to {len(STEPS)} once",
                hint="open it once where it can be written",
            )
        upgrade(connection, relink)


def upgrade(connection: apsw.Connection, relink: Relink) -> None:
    """Run the missing steps, all in one transaction."""
    register(connection)
    connection.execute("BEGIN IMMEDIATE")
    try:
        before = connection.pragma("user_version")
        for number in range(before, len(STEPS)):
            step = STEPS[number]
            connection.execute(step) if isinstance(step, str) else step(connection)
            if number + 1 == WITH_CONTENT_HASHES:
                _fill_content_hashes(connection)
            if number + 1 == WITH_A_GRAPH:
                relink(connection)
            connection.execute(f"PRAGMA user_version = {number + 1:d}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise
    from knowbase.store.upgrading import announce_upgrade

    announce_upgrade(before, len(STEPS))


def _fill_content_hashes(connection: apsw.Connection) -> None:
    """For documents that were written before there were any."""
    from knowbase.values.reading import text_hash

    texts: dict[int, str] = {}
    rows = connection.execute(
        "SELECT document, header, text, overlap FROM chunks ORDER BY document, position"
    )
    for document, header, text, overlap in rows:
        piece = text[overlap:] if overlap else header + text
        texts[document] = texts.get(document, "") + piece
    connection.executemany(
        "UPDATE documents SET content_hash = ? WHERE seq = ?",
        [(text_hash(text), document) for document, text in texts.items()],
    )
