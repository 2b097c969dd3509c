"""A transaction that sees the base as it was after a change.

Views of its own, called as the tables are, come before these, as in SQLite: they join what has not
changed since with what was replaced, which is copied aside (decision 28).
"""

import json
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier, Literal

from knowbase.store.postgres.bulk import copy_rows
from knowbase.store.postgres.links import resolving
from knowbase.store.seals import OF_USE
from knowbase.text.names import Named, mentions_of, names_of_document
from knowbase.values.documents import FIELDS, Document
from knowbase.values.edges import WEIGHTS
from knowbase.values.reading import Link

_CHUNK = (
    "base_id, id, document, position, slug, chunk_index, hash, line, page, tokens, overlap, title,"
    " heading, header, text, terms, length"
)
_EDGES = "base_id, source, target, relation, weight, origin"
_MENTIONS = "base_id, document, name, relation, target, origin, reach, inverse, weight"
_UNCHANGED = "NOT EXISTS (SELECT 1 FROM was_gone g WHERE g.seq = {})"
_KEPT = (
    "FROM was_gone g JOIN versions v ON v.base_id = {base} AND v.document = g.seq"
    " AND v.until = g.until"
)


class Then:
    """One base within one transaction."""

    def __init__(self, connection: Connection, base: int, number: int) -> None:
        self._connection = connection
        row = connection.execute("SELECT current_schema()").fetchone()
        self.schema = Identifier(row[0] if row else "knowbase")
        self._base = Literal(base)
        self._number = Literal(number)
        row = connection.execute(
            "SELECT next_seq, next_chunk FROM changes WHERE base_id = %s AND number = %s",
            (base, number),
        ).fetchone()
        self.next_seq, self.next_chunk = row or (1, 1)
        self._base_id = base
        self._has_graph = False

    def _run(self, statement: str, values: Any = None, **more: Composable) -> Any:
        parts = {
            "schema": self.schema,
            "base": self._base,
            "number": self._number,
            "seqs": Literal(self.next_seq),
            "chunks": Literal(self.next_chunk),
            **more,
        }
        return self._connection.execute(SQL(statement).format(**parts), values)

    def prepare(self) -> None:
        """All tables and views; of the graph, without what is in them."""
        self._documents()
        self._chunks()
        for table in ("names", "mentions", "edges"):
            self._run(f"CREATE TEMP TABLE was_{table} (LIKE {{schema}}.{table}) ON COMMIT DROP")
        self._run("CREATE TEMP TABLE was_owners (seq bigint PRIMARY KEY) ON COMMIT DROP")
        self._views()
        self._connection.execute("SET TRANSACTION READ ONLY")

    def fill_graph(self) -> None:
        """Names and mentions of what was replaced, and the edges of all whom that concerns. What is
        read only may still be written to what is temporary."""
        if not self._has_graph:
            self._graph()
            self._edges()
            self._has_graph = True

    def _make(self, table: str, query: str, key: str = "", **more: Composable) -> None:
        """A table of its own; one that is looked up by a key, known to the planner."""
        self._run(f"CREATE TEMP TABLE {table} ON COMMIT DROP AS {query}", **more)
        if key:
            self._run(f"CREATE INDEX ON {table} ({key})")
            self._run(f"ANALYZE {table} ({key})")

    def _view(self, table: str, columns: str, test: str, **more: Composable) -> None:
        self._run(
            f"CREATE TEMP VIEW {table} AS SELECT {columns} FROM {{schema}}.{table} t"
            f" WHERE t.base_id = {{base}} AND {test} UNION ALL SELECT {columns} FROM was_{table}",
            **more,
        )

    def _documents(self) -> None:
        self._make(
            "was_gone",
            "SELECT document AS seq, min(until) AS until FROM versions WHERE base_id = {base}"
            " AND until > {number} GROUP BY document",
            key="seq",
        )
        columns = [
            name
            for (name,) in self._connection.execute(
                "SELECT attname::text FROM pg_attribute WHERE attrelid = 'documents'::regclass"
                " AND attnum > 0 AND NOT attisdropped ORDER BY attnum"
            )
        ]
        defaults = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in Document._field_defaults.items()
            if value is not None and FIELDS[name].kind != "other"
        }
        values = ", ".join(f"{_value(name)} AS {name}" for name in columns)
        self._make(
            "was_documents",
            f"SELECT {values} {_KEPT} CROSS JOIN LATERAL json_populate_record("
            "json_populate_record(NULL::{schema}.documents, {defaults}::json),"
            " v.data::json -> 'document') r LEFT JOIN documents n"
            " ON n.base_id = {base} AND n.seq = g.seq"
            " WHERE v.since <= {number} AND v.data IS NOT NULL",
            defaults=Literal(json.dumps({**defaults, "metadata": {}})),
        )
        self._view(
            "documents", ", ".join(columns), f"t.seq < {{seqs}} AND {_UNCHANGED.format('t.seq')}"
        )
        self._make(
            "was_relations",
            "SELECT {base}::integer AS base_id, g.seq AS source, d.seq AS target,"
            " r.value ->> 2 AS relation, r.value ->> 3 AS origin, r.value ->> 4 AS created_at"
            f" {_KEPT} JOIN was_documents s ON s.seq = g.seq"
            " CROSS JOIN LATERAL json_array_elements(v.data::json -> 'relations') r"
            " JOIN documents d ON d.base_id = {base} AND d.id = r.value ->> 1",
        )

    def _chunks(self) -> None:
        self._make(
            "was_places",
            "SELECT p.seq, (e.value ->> 0)::bigint AS chunk, (e.at - 1)::integer AS position,"
            " (e.value ->> 1)::integer AS line, (e.value ->> 2)::integer AS page,"
            " (SELECT min(k.until) FROM past_chunks k WHERE k.base_id = {base}"
            " AND k.chunk = (e.value ->> 0)::bigint AND k.until > {number}) AS until"
            " FROM (SELECT d.seq, (SELECT v.places FROM versions v WHERE v.base_id = {base}"
            " AND v.document = d.seq AND v.until >= g.until AND v.places IS NOT NULL"
            " ORDER BY v.until LIMIT 1) AS places FROM was_documents d"
            " JOIN was_gone g ON g.seq = d.seq) p CROSS JOIN LATERAL"
            " json_array_elements(p.places::json) WITH ORDINALITY AS e (value, at)",
            key="chunk",
        )
        self._make(
            "was_moved",
            "SELECT g.seq FROM was_gone g WHERE NOT EXISTS (SELECT 1 FROM was_documents d"
            " WHERE d.seq = g.seq) OR EXISTS (SELECT 1 FROM was_places p WHERE p.seq = g.seq)"
            " OR (SELECT v.places FROM versions v WHERE v.base_id = {base} AND v.document = g.seq"
            " AND v.until >= g.until AND v.places IS NOT NULL ORDER BY v.until LIMIT 1) = '[]'",
            key="seq",
        )
        replaced = "SELECT chunk, until FROM was_places WHERE until IS NOT NULL"
        self._make("was_replaced", replaced, key="chunk")
        placed = (
            "p.position, c.slug, c.chunk_index, c.hash, p.line, p.page, c.tokens, c.overlap,"
            " c.title"
        )
        self._make(
            "was_chunks",
            "SELECT {base}::integer AS base_id, p.chunk AS id, p.seq AS document, "
            f"{placed}, t.heading, t.header, t.text, c.terms, c.length FROM was_places p"
            " JOIN past_chunks c ON c.base_id = {base} AND c.chunk = p.chunk AND c.until = p.until"
            " JOIN past_texts t ON t.base_id = {base} AND t.key = c.key"
            " UNION ALL SELECT {base}::integer, p.chunk, p.seq, "
            f"{placed}, c.heading, c.header, c.text, c.terms, c.length"
            " FROM was_places p JOIN chunks c ON c.base_id = {base} AND c.id = p.chunk"
            " WHERE p.until IS NULL",
            key="id",
        )
        self._make(
            "was_stale",
            "SELECT c.id AS chunk, c.length FROM was_moved m JOIN chunks c"
            " ON c.base_id = {base} AND c.document = m.seq WHERE c.id < {chunks} AND NOT EXISTS"
            " (SELECT 1 FROM was_places p WHERE p.chunk = c.id AND p.until IS NULL)",
            key="chunk",
        )

    def _graph(self) -> None:
        links: dict[int, list[Link]] = {}
        for seq, target, kind in self._run(
            f"SELECT g.seq, l.value ->> 0, l.value ->> 1 {_KEPT}"
            " JOIN was_documents d ON d.seq = g.seq"
            " CROSS JOIN LATERAL json_array_elements(v.data::json -> 'links') l"
        ):
            links.setdefault(seq, []).append(Link(target, kind))
        names, mentions = [], {}
        for seq, deleted_at, *fields in self._run(
            f"SELECT seq, deleted_at, {', '.join(Named._fields)} FROM was_documents"
        ).fetchall():
            named = Named(*fields)
            if deleted_at is None:
                names += [
                    (self._base_id, name, kind, seq)
                    for name, kind in names_of_document(named).items()
                ]
            for one in reversed(mentions_of(named, links.get(seq, ()))):
                line = (self._base_id, seq, *one, one.weight)
                mentions[line[1:6]] = line
        copy_rows(self._connection, "was_names", ("base_id", "name", "kind", "document"), names)
        copy_rows(self._connection, "was_mentions", _MENTIONS.split(", "), [*mentions.values()])

    def _views(self) -> None:
        moved = "NOT EXISTS (SELECT 1 FROM {} WHERE {})"
        fresh = f"t.document < {{seqs}} AND {_UNCHANGED.format('t.document')}"
        self._view("names", "base_id, name, kind, document", fresh)
        self._view("mentions", _MENTIONS, fresh)
        self._view(
            "relations",
            "base_id, source, target, relation, origin, created_at",
            f"t.source < {{seqs}} AND {_UNCHANGED.format('t.source')}",
        )
        self._view(
            "chunks",
            _CHUNK,
            f"t.id < {{chunks}} AND {moved.format('was_moved m', 'm.seq = t.document')}",
        )
        self._view_edges()
        row = self._run(
            "SELECT b.chunks - o.number + p.number, b.length - o.length + p.length FROM"
            " {schema}.bases b, (SELECT count(*) AS number, coalesce(sum(length), 0) AS length FROM"
            " (SELECT length FROM {schema}.chunks WHERE base_id = {base} AND id >= {chunks}"
            " UNION ALL SELECT c.length FROM was_moved m JOIN {schema}.chunks c ON c.base_id ="
            " {base} AND c.document = m.seq WHERE c.id < {chunks}) a) o,"
            " (SELECT count(*) AS number, coalesce(sum(length), 0) AS length FROM was_chunks) p"
            " WHERE b.id = {base}"
        ).fetchone()
        self._run(
            "CREATE TEMP VIEW bases AS SELECT id, name, next_seq, next_chunk, next_word,"
            " {number_of}::bigint AS chunks, {length}::bigint AS length FROM {schema}.bases"
            " WHERE id = {base}",
            number_of=Literal(int(row[0])),
            length=Literal(int(row[1])),
        )

    def _edges(self) -> None:
        self._run(
            "INSERT INTO was_owners SELECT seq FROM was_gone UNION"
            " SELECT m.document FROM {schema}.mentions m"
            " WHERE m.base_id = {base} AND m.name IN (SELECT name FROM was_names UNION"
            " SELECT n.name FROM {schema}.names n WHERE n.base_id = {base} AND (n.document >="
            " {seqs} OR n.document IN (SELECT seq FROM was_gone)))",
        )
        called = (
            "SELECT f.document FROM (SELECT n.kind, n.document FROM {schema}.names n"
            " WHERE n.base_id = {base} AND n.name = m.name AND n.kind <= m.reach"
            f" AND n.document < {{seqs}} AND {_UNCHANGED.format('n.document')}"
            " UNION ALL SELECT n.kind, n.document FROM was_names n WHERE n.name = m.name"
            " AND n.kind <= m.reach) f ORDER BY f.kind, f.document LIMIT 1"
        )
        self._run(
            "INSERT INTO was_edges (base_id, source, target, relation, weight, origin) "
            + resolving(called, "(SELECT seq FROM was_owners)").replace("%(base)s", "{base}"),
            {"relations": list(WEIGHTS), "weights": list(WEIGHTS.values())},
        )

    def _view_edges(self) -> None:
        owned = "NOT EXISTS (SELECT 1 FROM was_owners o WHERE o.seq = t.{})"
        self._view(
            "edges",
            _EDGES,
            "t.source < {seqs} AND t.target < {seqs} AND CASE WHEN t.relation = 'SIMILAR_TO' THEN "
            f"{_UNCHANGED.format('t.source')} AND {_UNCHANGED.format('t.target')}"
            f" WHEN t.relation IN ('PARENT_OF', 'SUPERSEDES') THEN {owned.format('target')}"
            f" ELSE {owned.format('source')} END",
        )


def _value(name: str) -> str:
    """A column of a version. What use it was is known of today alone; and what is forgotten today
    is not shown."""
    if name == "base_id":
        return "{base}::integer"
    if name in ("code_key", "parent_key"):
        return f"lower(r.{name.removesuffix('_key')})"
    if name in OF_USE or name == "deleted_at":
        return f"coalesce(n.{name}, r.{name})"
    if name in ("seal", "text_seal"):
        return "v.seal"
    return f"r.{name}"
