"""A connection that sees the base as it was after a change.

Views of its own, called as the tables are, come before these: whoever reads through it, reads what
was. They join what has not changed since with what was replaced. Copied aside is only which
documents and chunks those are, a few numbers each; what they said is read where it lies, and only
of what is asked for (decision 28).
"""

from collections.abc import Mapping
from typing import Any

import apsw

from knowbase.store.seals import OF_USE
from knowbase.store.sqlite import rows
from knowbase.store.sqlite.links import json_weights, mention_rows, resolving
from knowbase.store.sqlite.packing import SIMILAR, TERMS, has_hash, kept_hash, kept_name
from knowbase.text.names import Named, mentions_of, names_of_document
from knowbase.values.documents import FIELDS, Document
from knowbase.values.reading import Link

_CHUNK = (
    "id, document, position, slug, chunk_index, hash, line, page, tokens, overlap, title, heading,"
    " header, text, terms"
)
_TABLES = """
CREATE TEMP TABLE was_then (seqs INTEGER NOT NULL, chunks INTEGER NOT NULL);
CREATE TEMP TABLE was_gone (seq INTEGER PRIMARY KEY, until INTEGER NOT NULL);
CREATE TEMP TABLE was_there (
    seq INTEGER PRIMARY KEY, until INTEGER NOT NULL, flags INTEGER NOT NULL
);
CREATE TEMP TABLE was_stale (
    chunk INTEGER PRIMARY KEY, row INTEGER  -- what it said; NULL: nothing that is kept
);
CREATE TEMP TABLE was_relations (
    source INTEGER NOT NULL, target INTEGER NOT NULL, relation TEXT NOT NULL,
    origin TEXT NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE INDEX temp.was_relations_target ON was_relations (target, source);
CREATE TEMP TABLE was_names (
    name TEXT NOT NULL, kind INTEGER NOT NULL, document INTEGER NOT NULL,
    PRIMARY KEY (name, kind, document)
) WITHOUT ROWID;
CREATE TEMP TABLE was_mentions (
    document INTEGER NOT NULL, name TEXT NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL,
    origin TEXT NOT NULL, reach INTEGER NOT NULL, inverse INTEGER NOT NULL, weight REAL NOT NULL,
    PRIMARY KEY (document, name, relation, target, origin)
) WITHOUT ROWID;
CREATE TEMP TABLE was_owners (seq INTEGER PRIMARY KEY);
CREATE TEMP TABLE was_edges (
    source INTEGER NOT NULL, target INTEGER NOT NULL, relation TEXT NOT NULL,
    weight INTEGER NOT NULL, origin TEXT NOT NULL, PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE INDEX temp.was_edges_target ON was_edges (target, source);
CREATE VIRTUAL TABLE temp.places USING fts5vocab (main, chunks_fts, instance);
CREATE VIRTUAL TABLE temp.past_places USING fts5vocab (main, past_fts, instance);
ANALYZE temp;
INSERT INTO temp.sqlite_stat1 VALUES ('was_gone', NULL, '1000'), ('was_there', NULL, '1000'),
    ('was_stale', NULL, '1000');
ANALYZE temp.sqlite_schema;
"""  # it is far less than there is in the base, so that SQLite goes over it first
_SEQS, _CHUNKS = "(SELECT seqs FROM temp.was_then)", "(SELECT chunks FROM temp.was_then)"
_UNCHANGED = "NOT IN (SELECT seq FROM temp.was_gone)"
_KINDS = 1 << 48  # more than there will be documents
_KEPT = "FROM temp.was_there g JOIN main.versions v ON v.document = g.seq AND v.until = g.until"
_TAGGED = (
    f"SELECT g.seq, CAST(t.value AS TEXT) {_KEPT} CROSS JOIN json_each(v.data, '$.document.tags') t"
)
_FOUND_BY = {"seq": "g.seq", "id": "v.id", "code": "v.code", "path": "v.path"}
_LIFECYCLE = ", ".join(
    f"'$.document.{name}'"
    for name in ("archived", "expires_at", "superseded_by", "valid_until", "deleted_at")
)
RELATED, MAY_BE_HIDDEN = 1, 2
FLAGS = (  # of a version `v`
    f"{RELATED} * (json_type(v.data, '$.relations[0]') IS NOT NULL) + {MAY_BE_HIDDEN}"
    f" * (json_extract(v.data, {_LIFECYCLE}) <> '[false,null,null,null,null]')"
)


_PLACES = {
    "position": "e.key",
    "line": "json_extract(e.value, '$[1]')",
    "page": "json_extract(e.value, '$[2]')",
}


def _place(name: str, chunk: str) -> str:
    """What the first version that says where the chunks of a document stood says of one of them:
    -1 for nothing, and nothing where none says it."""
    return (
        f"SELECT coalesce({_PLACES[name]}, -1) FROM temp.was_there w CROSS JOIN main.versions v"
        " ON v.document = w.seq AND v.until >= w.until CROSS JOIN json_each(v.places) e"
        f" WHERE w.seq = c.document AND json_extract(e.value, '$[0]') = {chunk}"
        " ORDER BY v.until LIMIT 1"
    )


_OF_TODAY = {  # of a chunk `c` that says what it said, maybe in another place
    name: "CAST(CASE WHEN c.document IN (SELECT seq FROM temp.was_there) THEN"
    f" nullif(coalesce(({_place(name, 'c.id')}), c.{name}), -1) ELSE c.{name} END AS INTEGER)"
    for name in _PLACES
} | {
    "hash": "+c.hash",  # of no kind, as it and the next are of what was
    "terms": "CASE WHEN c.document IN (SELECT seq FROM temp.was_there) THEN"
    f" {TERMS.replace('FROM documents', 'FROM main.documents')} ELSE c.terms END",
}
_OF_THEN = {
    "id": "c.chunk",
    "heading": "t.heading",
    "header": "t.header",
    "text": "t.text",
    "hash": kept_hash("c.hash"),  # history has letters
    "terms": "+c.terms",
} | {name: f"CAST(nullif(({_place(name, 'c.chunk')}), -1) AS INTEGER)" for name in _PLACES}
_IN_PAST = "FROM temp.was_stale r JOIN main.past_chunks c ON c.id = r.row AND c.chunk = r.chunk"
_EMBEDDED = (  # its own vector, or that of the same text today
    f"SELECT m.id, c.chunk {_IN_PAST} CROSS JOIN main.models m WHERE EXISTS (SELECT 1 FROM"
    " main.past_vectors v WHERE v.hash = c.hash AND v.model = m.id) OR EXISTS (SELECT 1 FROM"
    " main.chunks o CROSS JOIN main.embedded e ON e.model = m.id AND e.chunk = o.id"
    f" WHERE {has_hash('c.hash', 'o')})"
)


def open_views(connection: apsw.Connection) -> None:
    """Make the views, over nothing yet. Those of all moments are the same, so that statements need
    not be prepared anew."""
    connection.execute(f"PRAGMA temp_store = MEMORY;{_TABLES}")
    there = f"< {_SEQS} AND {{0}} {_UNCHANGED}".format
    columns = _columns(connection)
    names = ", ".join(columns)
    _view(connection, "was_documents", names, f"SELECT {', '.join(columns.values())} {_KEPT}")
    _view(connection, "was_tags", "document, name", _TAGGED)
    _view(connection, "was_embedded", "model, chunk", _EMBEDDED)
    for table, (listed, test) in {
        "documents": (names, "seq " + there("seq")),
        "tags": ("document, name", "document " + there("document")),
        "relations": ("source, target, relation, origin, created_at", "source " + there("source")),
        "embedded": (
            "model, chunk",
            f"chunk < {_CHUNKS} AND chunk NOT IN (SELECT chunk FROM temp.was_stale)",
        ),
        "names": ("name, kind, document", "document " + there("document")),
        "mentions": (
            "document, name, relation, target, origin, reach, inverse, weight",
            "document " + there("document"),
        ),
        "edges": ("source, target, relation, weight, origin", _edges()),
    }.items():
        now = f"SELECT {listed} FROM main.{table} WHERE {test}"
        _view(connection, table, listed, f"{now} UNION ALL SELECT {listed} FROM temp.was_{table}")
    now = (
        f"SELECT {_listed(_OF_TODAY)} FROM main.chunks c WHERE c.id < {_CHUNKS}"
        " AND c.id NOT IN (SELECT chunk FROM temp.was_stale)"
    )
    past = f"{_IN_PAST} CROSS JOIN main.past_texts t ON t.key = c.key"
    _view(connection, "chunks", _CHUNK, f"{now} UNION ALL SELECT {_listed(_OF_THEN)} {past}")


def _view(connection: apsw.Connection, name: str, columns: str, query: str) -> None:
    connection.execute(f"CREATE TEMP VIEW {name} ({columns}) AS {query}")


def _listed(columns: Mapping[str, str]) -> str:
    """The columns of chunks, `c` or where it says."""
    return ", ".join(columns.get(name, f"c.{name}") for name in _CHUNK.split(", "))


def _columns(connection: apsw.Connection) -> dict[str, str]:
    """The columns of documents, and what each is of a version `v`: of the same kind, for else
    SQLite would read a view whole where it is joined."""
    found = {}
    for _, column, *_ in connection.execute("PRAGMA main.table_info(documents)"):
        name = str(column)
        kind, collation, *_ = connection.column_metadata("main", "documents", name)
        made = f"CAST({_value(name)} AS {kind}) COLLATE {collation}"
        found[name] = _FOUND_BY.get(name, made)
    return found


def _value(name: str) -> str:
    """A column of a version. What use it was is known of today alone; and what is forgotten today
    is not shown."""
    if name in ("seal", "text_seal"):
        return "v.seal"
    if name == "said":
        return "json_extract(v.data, '$.said')"
    if name not in FIELDS:
        return "NULL"
    found = f"json_extract(v.data, '$.document.{name}')"
    if FIELDS[name].kind == "names":  # as they are written: they are read without a parser
        found = f"replace({found}, '\",\"', '\", \"')"
    if name in OF_USE or name == "deleted_at":
        found = f"coalesce((SELECT n.{name} FROM main.documents n WHERE n.seq = g.seq), {found})"
    default = Document._field_defaults.get(name)
    if default is None:
        return found
    return f"coalesce({found}, {apsw.format_sql_value(rows.written(name, default))})"


def _edges() -> str:
    """What documents say that need not be found again; and who was alike, of those that say
    today what they said then."""
    return (
        f"source < {_SEQS} AND target < {_SEQS} AND CASE WHEN relation = {SIMILAR} THEN"
        f" source {_UNCHANGED} AND target {_UNCHANGED}"
        " WHEN relation IN ('PARENT_OF', 'SUPERSEDES') THEN"
        " target NOT IN (SELECT seq FROM temp.was_owners)"
        " ELSE source NOT IN (SELECT seq FROM temp.was_owners) END"
    )


def empty_views(connection: apsw.Connection, number: int) -> tuple[int, int]:
    """Views of a moment, without what was replaced since; the numbers that documents and chunks had
    not reached then."""
    for (table,) in connection.execute(
        "SELECT name FROM temp.sqlite_schema WHERE type = 'table' AND name GLOB 'was_*'"
    ).fetchall():
        connection.execute(f"DELETE FROM temp.{table}")
    row: Any = connection.execute(
        "SELECT next_seq, next_chunk FROM main.changes WHERE number = ?", (number,)
    ).fetchone()
    next_seq, next_chunk = row or (1, 1)
    connection.execute("INSERT INTO temp.was_then VALUES (?, ?)", (next_seq, next_chunk))
    return next_seq, next_chunk


def fill_views(connection: apsw.Connection, number: int, next_chunk: int) -> None:
    """What was replaced since, as the base lists it; `then_versions.py` and `then_rows.py` choose
    the same among what is in memory."""
    connection.execute(
        "INSERT INTO temp.was_gone SELECT document, min(until) FROM main.versions WHERE until > ?"
        " GROUP BY document",
        (number,),
    )
    connection.execute(
        f"INSERT INTO temp.was_there SELECT g.seq, g.until, {FLAGS} FROM temp.was_gone g"
        " CROSS JOIN main.versions v ON v.document = g.seq AND v.until = g.until"
        " WHERE v.since <= ? AND v.data IS NOT NULL",
        (number,),
    )
    # Numbers are not used again: a chunk that was ended later and has one of then was there.
    connection.execute(
        "INSERT INTO temp.was_stale SELECT chunk, id FROM (SELECT chunk, id, document,"
        " min(until) FROM main.past_chunks WHERE until > ? AND chunk < ? GROUP BY chunk)"
        " WHERE document IN (SELECT seq FROM temp.was_there)",
        (number, next_chunk),
    )
    connection.execute(
        "INSERT OR IGNORE INTO temp.was_stale"
        " SELECT c.id, NULL FROM temp.was_gone g CROSS JOIN main.chunks c ON c.document = g.seq"
        " WHERE g.seq NOT IN (SELECT seq FROM temp.was_there) AND c.id < ?",
        (next_chunk,),
    )


def fill_relations(connection: apsw.Connection) -> None:
    """What was said of what was replaced: the views of documents are filled."""
    is_any = f"SELECT 1 FROM temp.was_there WHERE flags & {RELATED} LIMIT 1"
    if connection.execute(is_any).get is None:
        return
    connection.execute(
        "INSERT INTO temp.was_relations SELECT g.seq, t.seq, json_extract(r.value, '$[2]'),"
        f" json_extract(r.value, '$[3]'), json_extract(r.value, '$[4]') {_KEPT}"
        f" AND g.flags & {RELATED} CROSS JOIN json_each(v.data, '$.relations') r"
        " CROSS JOIN documents t ON t.id = json_extract(r.value, '$[1]')"
    )


def fill_graph(connection: apsw.Connection, next_seq: int) -> None:
    """Names and mentions of what was replaced, and the edges of all whom that concerns."""
    links: dict[int, list[Link]] = {}
    for seq, target, kind in connection.execute(
        f"SELECT g.seq, json_extract(l.value, '$[0]'), json_extract(l.value, '$[1]') {_KEPT}"
        " CROSS JOIN json_each(v.data, '$.links') l"
    ):
        links.setdefault(seq, []).append(Link(target, kind))
    found: Any = connection.execute(
        f"SELECT seq, deleted_at, {', '.join(Named._fields)} FROM temp.was_documents"
    ).fetchall()
    names: list[tuple[Any, ...]] = []
    mentions: list[tuple[Any, ...]] = []
    for seq, deleted_at, *fields in found:
        named = Named(*fields)
        if not deleted_at:
            called = names_of_document(named).items()
            names += [(kept_name(name), kind, seq) for name, kind in called]
        mentions += mention_rows(seq, mentions_of(named, links.get(seq, ())))
    connection.executemany("INSERT INTO temp.was_names VALUES (?, ?, ?)", names)
    connection.executemany(
        "INSERT OR IGNORE INTO temp.was_mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)", mentions
    )
    connection.execute(
        "INSERT OR IGNORE INTO temp.was_owners SELECT seq FROM temp.was_gone UNION"
        " SELECT m.document FROM (SELECT name FROM temp.was_names UNION SELECT name"
        " FROM main.names WHERE document >= ? OR document IN (SELECT seq FROM temp.was_gone)) n"
        " CROSS JOIN main.mentions m ON m.name = n.name",
        (next_seq,),
    )
    connection.execute(
        f"INSERT INTO temp.was_edges {resolving(_called(next_seq), 'temp.was_owners')}",
        (json_weights(),),
    )


def _called(next_seq: int) -> str:
    """Who goes by the name of a mention `m`: of what has not changed, and of what was."""
    one, other = (
        f"(SELECT kind * {_KINDS:d} + document FROM {test} name = m.name AND kind <= m.reach"
        " ORDER BY kind, document LIMIT 1)"
        for test in (
            f"main.names WHERE document < {next_seq:d} AND document {_UNCHANGED} AND",
            "temp.was_names WHERE",
        )
    )
    nobody = _KINDS << 8
    best = f"min(coalesce({one}, {nobody:d}), coalesce({other}, {nobody:d}))"
    return f"nullif({best}, {nobody:d}) % {_KINDS:d}"
