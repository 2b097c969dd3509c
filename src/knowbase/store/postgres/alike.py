"""SIMILAR_TO in PostgreSQL: what `knowbase.store.similar` reads and writes."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.bulk import copy_rows
from knowbase.store.postgres.cluster import together
from knowbase.store.postgres.connection import Connections, find_model
from knowbase.store.postgres.vector_tables import unpacked, vector_table
from knowbase.store.similar import Block, Due, Found, Links, Moment, Rule, still_valid
from knowbase.values.edges import WEIGHTS

if TYPE_CHECKING:
    from knowbase.values.vectors import Vector

_BLOCK = 8192  # vectors that are compared at once


class PostgresMoment:
    """See `knowbase.store.similar.Moment`."""

    def __init__(self, connection: Connection, base: int) -> None:
        self._connection = connection
        self._base = base
        self._known = find_model(connection, base)

    def due(self, rule: Rule) -> Due:
        above, most, version = state(self._connection, self._base)
        is_whole = (above, most) != rule
        table = "SELECT seq FROM documents" if is_whole else "SELECT document FROM unlinked"
        due = self._connection.execute(
            SQL(f"{table} WHERE base_id = %s ORDER BY 1"), (self._base,)
        ).fetchall()
        documents = self._count(SQL("SELECT count(*) FROM documents WHERE base_id = %s"))
        vectors = 0
        if self._known is not None:
            number, model = self._known
            counted = SQL("SELECT count(*) FROM {} WHERE base_id = %s AND model = %s")
            vectors = self._count(counted.format(vector_table(model.dimensions)), number)
        return Due(version, [one for (one,) in due], documents, vectors, is_whole)

    def _count(self, statement: object, *values: int) -> int:
        row = self._connection.execute(statement, (self._base, *values)).fetchone()  # type: ignore[call-overload]
        return int(row[0])

    def chunks_of(self, documents: Sequence[int]) -> Mapping[int, int]:
        return self._owned("d.seq = ANY(%s)", list(documents))

    def owners(self, chunks: Collection[int] | None) -> Mapping[int, int]:
        return self._owned("true") if chunks is None else self._owned("c.id = ANY(%s)", [*chunks])

    def _owned(self, which: str, *values: list[int]) -> dict[int, int]:
        found = self._connection.execute(
            SQL(
                "SELECT c.id, c.document FROM chunks c JOIN documents d ON d.base_id = c.base_id"
                f" AND d.seq = c.document WHERE c.base_id = %s AND d.deleted_at IS NULL AND {which}"
            ),
            (self._base, *values),
        )
        return dict(found.fetchall())

    def vectors(self, chunks: Sequence[int]) -> Block:
        blocks = list(self._read(" AND v.chunk = ANY(%s)", list(chunks)))
        return blocks[0] if blocks else _block([])

    def blocks(self) -> Iterator[Block]:
        return self._read("")

    def _read(self, which: str, *values: list[int]) -> Iterator[Block]:
        if self._known is None:
            return
        number, model = self._known
        statement = SQL(
            "SELECT v.chunk, v.embedding FROM {} v WHERE v.base_id = %s AND v.model = %s"
            f"{which} ORDER BY v.chunk"
        ).format(vector_table(model.dimensions))
        with self._connection.cursor("vectors", binary=True) as cursor:
            cursor.execute(statement, (self._base, number, *values))
            size = _BLOCK if not values else max(1, len(values[0]))
            while found := cursor.fetchmany(size):
                yield _block([(chunk, unpacked(given)) for chunk, given in found])

    def links(self, documents: Collection[int]) -> Links:
        found: dict[int, dict[int, float]] = {}
        weight = WEIGHTS["SIMILAR_TO"]
        rows = self._connection.execute(
            "SELECT source, target, weight FROM edges WHERE base_id = %(base)s"
            " AND relation = 'SIMILAR_TO' AND source = ANY(%(wanted)s)"
            " UNION ALL SELECT target, source, weight FROM edges WHERE base_id = %(base)s"
            " AND relation = 'SIMILAR_TO' AND target = ANY(%(wanted)s)",
            {"base": self._base, "wanted": list(documents)},
        )
        for document, other, value in rows:
            found.setdefault(document, {})[other] = value / weight
        return found

    def marks(self, documents: Collection[int] | None) -> Mapping[int, object]:
        some = "" if documents is None else " AND seq = ANY(%(wanted)s)"
        rows = self._connection.execute(
            SQL(
                "SELECT seq, text_seal, deleted_at IS NULL FROM documents"
                f" WHERE base_id = %(base)s{some}"
            ),
            {"base": self._base, "wanted": None if documents is None else list(documents)},
        ).fetchall()
        vectors = self._seals_of_vectors(documents)
        number = self._known and self._known[0]
        return {seq: (number, *mark, vectors.get(seq)) for seq, *mark in rows}

    def _seals_of_vectors(self, documents: Collection[int] | None) -> dict[int, str]:
        if self._known is None:
            return {}
        number, model = self._known
        some = "" if documents is None else " AND c.document = ANY(%(wanted)s)"
        statement = SQL(
            "SELECT c.document,"
            " md5(string_agg(coalesce(encode(v.seal, 'hex'), ''), ',' ORDER BY c.id))"
            " FROM chunks c JOIN {} v ON v.base_id = c.base_id AND v.chunk = c.id{}"
            f" WHERE c.base_id = %(base)s AND v.model = %(model)s{some} GROUP BY c.document"
        ).format(vector_table(model.dimensions), together(self._connection, "v", "c"))
        wanted = None if documents is None else list(documents)
        values = {"base": self._base, "model": number, "wanted": wanted}
        return dict(self._connection.execute(statement, values).fetchall())


class Engine(NamedTuple):
    """See `knowbase.store.similar.Linking`."""

    connections: Connections
    base: int
    rule: Rule

    def is_due(self) -> bool:
        def look(connection: Connection) -> bool:
            left = connection.execute(
                "SELECT 1 FROM unlinked WHERE base_id = %s LIMIT 1", (self.base,)
            ).fetchone()
            return left is not None or state(connection, self.base)[:2] != self.rule

        return self.connections.run(look)

    def read(self, work: Callable[[Moment], Found]) -> Found:
        return self.connections.consistently(
            lambda connection: work(PostgresMoment(connection, self.base)), long=True
        )

    def write(self, found: Found) -> Found | None:
        return self.connections.writing(lambda c: write(c, self.base, found, self.rule))


def state(connection: Connection, base: int) -> tuple[float | None, int | None, int]:
    """The rule by which documents were linked the last time, and the version."""
    row = connection.execute(
        "SELECT similar_above, similar_most, version FROM graph WHERE base_id = %s", (base,)
    ).fetchone()
    return (row[0], row[1], row[2]) if row else (None, None, 0)


def write(connection: Connection, base: int, found: Found, rule: Rule) -> Found | None:
    """Write the links that were found, those that still hold if vectors or links have changed
    meanwhile; what was written."""
    connection.execute("SELECT 1 FROM bases WHERE id = %s FOR UPDATE", (base,))
    if state(connection, base)[2] != found.version:
        valid = still_valid(PostgresMoment(connection, base), found, rule)
        if valid is None:
            return None
        found = valid
    if found.is_whole:
        connection.execute(
            "DELETE FROM edges WHERE base_id = %s AND relation = 'SIMILAR_TO'", (base,)
        )
        connection.execute("DELETE FROM unlinked WHERE base_id = %s", (base,))
    else:
        _take_away(connection, base, found)
    connection.execute(
        "INSERT INTO unlinked (base_id, document) SELECT %s, unnest(%s::bigint[])"
        " ON CONFLICT DO NOTHING",
        (base, found.again),
    )
    weight = WEIGHTS["SIMILAR_TO"]
    columns = ("base_id", "source", "target", "relation", "weight", "origin")
    lines = [
        (base, *pair, "SIMILAR_TO", likeness * weight, "vectors")
        for pair, likeness in sorted(found.added.items())
    ]
    copy_rows(connection, "edges", columns, lines)
    connection.execute(
        "INSERT INTO graph (base_id, similar_above, similar_most, version) VALUES (%s, %s, %s, 1)"
        " ON CONFLICT (base_id) DO UPDATE SET similar_above = excluded.similar_above,"
        " similar_most = excluded.similar_most, version = graph.version + 1",
        (base, *rule),
    )
    return found


def _take_away(connection: Connection, base: int, found: Found) -> None:
    for end in ("source", "target"):
        connection.execute(
            SQL(
                "DELETE FROM edges WHERE base_id = %s AND relation = 'SIMILAR_TO'"
                f" AND {end} = ANY(%s)"
            ),
            (base, found.documents),
        )
    gone = [*found.dropped, *found.added]
    connection.execute(
        "DELETE FROM edges e USING unnest(%s::bigint[], %s::bigint[]) AS gone (source, target)"
        " WHERE e.base_id = %s AND e.source = gone.source AND e.target = gone.target"
        " AND e.relation = 'SIMILAR_TO'",
        ([one for one, _ in gone], [other for _, other in gone], base),
    )
    connection.execute(
        "DELETE FROM unlinked WHERE base_id = %s AND document = ANY(%s)", (base, found.documents)
    )


def _block(found: "list[tuple[int, Vector]]") -> Block:
    import numpy as np

    matrix = np.frombuffer(b"".join(vector for _, vector in found), dtype="<f4")
    chunks = np.array([chunk for chunk, _ in found], dtype="i8")
    return Block(chunks, matrix.reshape(len(found), -1 if found else 1))
