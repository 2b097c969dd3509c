"""A connection that sees the base as it was after a change.

Views of its own, called as the tables are, come before these: whoever reads through it, reads what
was. They join what has not changed since with what was replaced, which is copied aside: that
costs what changed since, whatever the size of the base (decision 28).
"""

from typing import TYPE_CHECKING, Any

import apsw

from knowbase.store.seals import OF_USE
from knowbase.store.sqlite import rows
from knowbase.store.sqlite.links import json_weights, resolving
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.text.names import Named, mentions_of, names_of_document
from knowbase.values.documents import FIELDS, Document
from knowbase.values.reading import Link

if TYPE_CHECKING:
    from knowbase.store.sqlite.scan import Floats, Integers

_CHUNK = (
    "id, document, position, slug, chunk_index, hash, line, page, tokens, overlap, title, heading,"
    " header, text, terms"
)
_TABLES = """
CREATE TEMP TABLE was_gone (seq INTEGER PRIMARY KEY, until INTEGER NOT NULL);
CREATE TEMP TABLE was_moved (seq INTEGER PRIMARY KEY);
CREATE TEMP TABLE was_stale (chunk INTEGER PRIMARY KEY);
CREATE TEMP TABLE was_places (seq INTEGER PRIMARY KEY, places TEXT NOT NULL);
CREATE TEMP TABLE was_replaced (chunk INTEGER PRIMARY KEY, row INTEGER NOT NULL UNIQUE);
CREATE TEMP TABLE was_chunks (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL, position INTEGER NOT NULL,
    slug TEXT NOT NULL, chunk_index INTEGER NOT NULL, hash TEXT NOT NULL, line INTEGER NOT NULL,
    page INTEGER, tokens INTEGER NOT NULL, overlap INTEGER NOT NULL, title TEXT NOT NULL,
    heading TEXT, header TEXT NOT NULL, text TEXT NOT NULL, terms TEXT NOT NULL
);
CREATE INDEX temp.was_chunks_document ON was_chunks (document, position);
CREATE TEMP TABLE was_tags (
    document INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (document, name)
) WITHOUT ROWID;
CREATE INDEX temp.was_tags_name ON was_tags (name, document);
CREATE TEMP TABLE was_relations (
    source INTEGER NOT NULL, target INTEGER NOT NULL, relation TEXT NOT NULL,
    origin TEXT NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE INDEX temp.was_relations_target ON was_relations (target, source);
CREATE TEMP TABLE was_embedded (
    model INTEGER NOT NULL, chunk INTEGER NOT NULL, PRIMARY KEY (model, chunk)
) WITHOUT ROWID;
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
    weight REAL NOT NULL, origin TEXT NOT NULL, PRIMARY KEY (source, target, relation)
) WITHOUT ROWID;
CREATE INDEX temp.was_edges_target ON was_edges (target, source);
"""
_UNCHANGED = "NOT IN (SELECT seq FROM temp.was_gone)"
_KINDS = 1 << 48  # more than there will be documents
_KEPT = (
    "FROM temp.was_gone g CROSS JOIN main.versions v ON v.document = g.seq AND v.until = g.until"
)


def open_views(connection: apsw.Connection, number: int) -> tuple[int, int]:
    """Make the views, over nothing yet; the numbers that documents and chunks had not reached."""
    row: Any = connection.execute(
        "SELECT next_seq, next_chunk FROM main.changes WHERE number = ?", (number,)
    ).fetchone()
    seqs, chunks = row or (1, 1)
    made: Any = connection.execute(
        "SELECT sql FROM main.sqlite_schema WHERE name = 'documents'"
    ).get
    alike = made.replace("CREATE TABLE documents", "CREATE TEMP TABLE was_documents", 1)
    connection.execute(f"PRAGMA temp_store = MEMORY;{alike.replace('AUTOINCREMENT', '')};{_TABLES}")
    columns = [name for _, name, *_ in connection.execute("PRAGMA main.table_info(documents)")]
    ended = f"< {seqs:d} AND {{}} {_UNCHANGED}"
    parts = {
        "documents": (", ".join(map(str, columns)), "seq " + ended.format("seq")),
        "tags": ("document, name", "document " + ended.format("document")),
        "relations": (
            "source, target, relation, origin, created_at",
            "source " + ended.format("source"),
        ),
        "chunks": (
            _CHUNK,
            f"id < {chunks:d} AND document NOT IN (SELECT seq FROM temp.was_moved)",
        ),
        "embedded": (
            "model, chunk",
            f"chunk < {chunks:d} AND chunk NOT IN (SELECT chunk FROM temp.was_stale)",
        ),
        "names": ("name, kind, document", "document " + ended.format("document")),
        "mentions": (
            "document, name, relation, target, origin, reach, inverse, weight",
            "document " + ended.format("document"),
        ),
        "edges": ("source, target, relation, weight, origin", _edges(seqs)),
    }
    for table, (names, test) in parts.items():
        connection.execute(
            f"CREATE TEMP VIEW {table} AS SELECT {names} FROM main.{table} WHERE {test}"
            f" UNION ALL SELECT {names} FROM temp.was_{table}"
        )
    return seqs, chunks


def _edges(seqs: int) -> str:
    """What documents say that need not be found again; and who was alike, of those that say
    today what they said then."""
    return (
        f"source < {seqs:d} AND target < {seqs:d} AND CASE WHEN relation = 'SIMILAR_TO' THEN"
        f" source {_UNCHANGED} AND target {_UNCHANGED}"
        " WHEN relation IN ('PARENT_OF', 'SUPERSEDES') THEN"
        " target NOT IN (SELECT seq FROM temp.was_owners)"
        " ELSE source NOT IN (SELECT seq FROM temp.was_owners) END"
    )


def fill_views(connection: apsw.Connection, number: int, next_chunk: int) -> None:
    """What was replaced since, in place of what the views had of it before."""
    for (table,) in connection.execute(
        "SELECT name FROM temp.sqlite_schema WHERE type = 'table' AND name GLOB 'was_*'"
    ).fetchall():
        connection.execute(f"DELETE FROM temp.{table}")
    connection.execute(
        "INSERT INTO temp.was_gone SELECT document, min(until) FROM main.versions WHERE until > ?"
        " GROUP BY document",
        (number,),
    )
    _fill_documents(connection, number)
    _fill_chunks(connection, number, next_chunk)


def _fill_documents(connection: apsw.Connection, number: int) -> None:
    names = [name for name in FIELDS if name != "tags"]
    defaults = Document._field_defaults
    given = [rows.written(one, defaults[one]) for one in names if defaults.get(one) is not None]
    values = ", ".join(_value(one, has_default=defaults.get(one) is not None) for one in names)
    connection.execute(
        f"INSERT INTO temp.was_documents ({', '.join(names)}, said, seal, text_seal)"
        f" SELECT {values}, json_extract(v.data, '$.said'), v.seal, v.seal {_KEPT}"
        " LEFT JOIN main.documents n ON n.seq = g.seq WHERE v.since <= ? AND v.data IS NOT NULL",
        (*given, number),
    )
    there = "CROSS JOIN temp.was_documents d ON d.seq = g.seq"
    connection.execute(
        f"INSERT INTO temp.was_tags SELECT g.seq, t.value {_KEPT} {there}"
        " CROSS JOIN json_each(v.data, '$.document.tags') t"
    )
    connection.execute(
        "INSERT INTO temp.was_relations SELECT g.seq, t.seq, json_extract(r.value, '$[2]'),"
        f" json_extract(r.value, '$[3]'), json_extract(r.value, '$[4]') {_KEPT} {there}"
        " CROSS JOIN json_each(v.data, '$.relations') r"
        " CROSS JOIN documents t ON t.id = json_extract(r.value, '$[1]')"
    )


def _value(name: str, *, has_default: bool) -> str:
    """A field of a version. What use it was is known of today alone; and what is forgotten today
    is not shown."""
    found = f"json_extract(v.data, '$.document.{name}')"
    if FIELDS[name].kind == "names":  # as they are written: they are read without a parser
        found = f"replace({found}, '\",\"', '\", \"')"
    if name in OF_USE or name == "deleted_at":
        found = f"coalesce(n.{name}, {found})"
    return f"coalesce({found}, ?)" if has_default else found


def _fill_chunks(connection: apsw.Connection, number: int, next_chunk: int) -> None:
    connection.execute(
        "INSERT INTO temp.was_places SELECT seq, places FROM (SELECT d.seq, (SELECT v.places"
        " FROM main.versions v WHERE v.document = d.seq AND v.until >= g.until"
        " AND v.places IS NOT NULL ORDER BY v.until LIMIT 1) AS places"
        " FROM temp.was_documents d CROSS JOIN temp.was_gone g ON g.seq = d.seq)"
        " WHERE places IS NOT NULL"
    )
    connection.execute(
        "INSERT INTO temp.was_moved SELECT seq FROM temp.was_gone"
        " WHERE seq NOT IN (SELECT seq FROM temp.was_documents)"
        " OR seq IN (SELECT seq FROM temp.was_places)"
    )
    connection.execute(
        "INSERT INTO temp.was_replaced SELECT chunk, row FROM (SELECT p.chunk, (SELECT k.id FROM"
        " main.past_chunks k WHERE k.chunk = p.chunk AND k.until > ? ORDER BY k.until LIMIT 1)"
        " AS row FROM (SELECT json_extract(e.value, '$[0]') AS chunk FROM temp.was_places w"
        " CROSS JOIN json_each(w.places) e) p) WHERE row IS NOT NULL",
        (number,),
    )
    _copy_chunks(
        connection,
        ("c.chunk", "t"),
        "CROSS JOIN temp.was_replaced r ON r.chunk = json_extract(e.value, '$[0]')"
        " CROSS JOIN main.past_chunks c ON c.id = r.row"
        " CROSS JOIN main.past_texts t ON t.key = c.key",
    )
    _copy_chunks(
        connection,
        ("c.id", "c"),
        "CROSS JOIN main.chunks c ON c.id = json_extract(e.value, '$[0]')"
        " WHERE c.id NOT IN (SELECT chunk FROM temp.was_replaced)",
    )
    connection.execute(
        "INSERT INTO temp.was_stale SELECT c.id FROM temp.was_moved m CROSS JOIN main.chunks c"
        " ON c.document = m.seq WHERE c.id < ? AND (c.id IN (SELECT chunk FROM temp.was_replaced)"
        " OR c.id NOT IN (SELECT id FROM temp.was_chunks))",
        (next_chunk,),
    )
    there = "FROM temp.was_replaced r CROSS JOIN main.past_chunks c ON c.id = r.row CROSS JOIN"
    connection.execute(
        f"INSERT OR IGNORE INTO temp.was_embedded SELECT v.model, r.chunk {there}"
        " main.past_vectors v ON v.hash = c.hash;"
        f"INSERT OR IGNORE INTO temp.was_embedded SELECT e.model, r.chunk {there}"
        " main.chunks o ON o.hash = c.hash CROSS JOIN main.embedded e ON e.chunk = o.id"
    )


def _copy_chunks(connection: apsw.Connection, source: tuple[str, str], joined: str) -> None:
    """The chunks of those documents whose chunks stood elsewhere or said something else."""
    number, text = source
    connection.execute(
        f"INSERT INTO temp.was_chunks ({_CHUNK}) SELECT {number}, w.seq, e.key, c.slug,"
        " c.chunk_index, c.hash, json_extract(e.value, '$[1]'), json_extract(e.value, '$[2]'),"
        f" c.tokens, c.overlap, c.title, {text}.heading, {text}.header, {text}.text, c.terms"
        f" FROM temp.was_places w CROSS JOIN json_each(w.places) e {joined}"
    )


def past_vectors(connection: apsw.Connection, model: int) -> "list[tuple[Integers, Floats]]":
    """Of what was replaced: its own vectors, or those of the same text today."""
    from knowbase.store.sqlite.scan import halves_in

    found: Any = connection.execute(
        "SELECT c.id, coalesce((SELECT v.embedding FROM main.past_vectors v"
        " WHERE v.hash = c.hash AND v.model = ?1),"
        f" (SELECT n.embedding FROM main.chunks o CROSS JOIN {vector_table(model)} n"
        " ON n.chunk_id = o.id WHERE o.hash = c.hash LIMIT 1))"
        " FROM temp.was_embedded e CROSS JOIN temp.was_replaced r ON r.chunk = e.chunk"
        " CROSS JOIN temp.was_chunks c ON c.id = e.chunk WHERE e.model = ?1",
        (model,),
    ).fetchall()
    return [halves_in(connection, model, [row for row in found if row[1] is not None])]


def fill_graph(connection: apsw.Connection, next_seq: int) -> None:
    """Names and mentions of what was replaced, and the edges of all whom that concerns."""
    links: dict[int, list[Link]] = {}
    for seq, target, kind in connection.execute(
        f"SELECT g.seq, json_extract(l.value, '$[0]'), json_extract(l.value, '$[1]') {_KEPT}"
        " CROSS JOIN temp.was_documents d ON d.seq = g.seq"
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
            names += [(*one, seq) for one in names_of_document(named).items()]
        mentions += [(seq, *one, one.weight) for one in mentions_of(named, links.get(seq, ()))]
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
