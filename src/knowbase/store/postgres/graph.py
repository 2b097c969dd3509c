"""Reading the graph."""

from collections.abc import Collection, Iterable
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.query.conditions import FORGOTTEN, Condition, Not, both
from knowbase.store import lagging
from knowbase.store.postgres.compile import compile_condition
from knowbase.store.postgres.connection import Connected
from knowbase.store.postgres.links import Linking
from knowbase.values.edges import MOST_SIMILAR, Edge, Node, Wiring
from knowbase.values.reading import Link

_EDGE = "SELECT source, target, relation, weight, origin FROM edges WHERE base_id = %s"
_REACHED = (
    "WITH RECURSIVE reached (seq, id, hops) AS ("
    " SELECT d.seq, d.id, 0 FROM documents d WHERE d.base_id = %s AND d.id = ANY(%s)"
    " AND d.deleted_at IS NULL"
    " UNION SELECT d.seq, d.id, r.hops + 1 FROM reached r CROSS JOIN LATERAL ("
    "  SELECT e.target AS seq FROM edges e WHERE e.base_id = %s AND e.source = r.seq"
    "  UNION SELECT e.source FROM edges e WHERE e.base_id = %s AND e.target = r.seq"
    "  OFFSET 0) beside CROSS JOIN LATERAL (SELECT d.seq, d.id FROM documents d"
    "  WHERE d.base_id = %s AND d.seq = beside.seq AND {} OFFSET 0) d WHERE r.hops < %s)"
    " SELECT seq, id, min(hops) FROM reached GROUP BY seq, id"
)
"""UNION drops a place reached before in as many hops, so that a circle ends; OFFSET 0 keeps the
order of the joins, whatever the planner believes of a table that has just grown."""
_DEAD = (
    "m.origin IN ('markdown', 'wiki') GROUP BY m.base_id, m.document, m.target, m.origin"
    " HAVING NOT bool_or(EXISTS (SELECT 1 FROM names n"
    " WHERE n.base_id = m.base_id AND n.name = m.name AND n.kind <= m.reach))"
)
"""Links of a text that lead nowhere, whichever of the names is meant that one may stand for."""


class PostgresGraph(Connected):
    """See `knowbase.store.contract.GraphStore` for what each method promises."""

    def edges(self, condition: Condition) -> list[Edge]:
        test, values = compile_condition(both(Not(FORGOTTEN), condition))
        passing = SQL("SELECT d.seq, d.id FROM documents d WHERE d.base_id = %s AND {}")

        def read(connection: Connection) -> list[Edge]:
            found = connection.execute(passing.format(test), (self._base, *values))
            known: dict[int, str] = dict(found.fetchall())
            order = " ORDER BY source, target, relation"
            rows = connection.execute(SQL(_EDGE + order), (self._base,))
            return _edges(rows, known)

        return self._connections.consistently(read)

    def wiring(self, condition: Condition) -> Wiring:
        from knowbase.store.wiring import wired

        test, values = compile_condition(both(Not(FORGOTTEN), condition))
        passing = SQL(
            "SELECT d.seq, d.id, d.code, d.title, d.tags FROM documents d"
            " WHERE d.base_id = %s AND {} ORDER BY d.seq"
        )

        def read(connection: Connection) -> Wiring:
            nodes = connection.execute(passing.format(test), (self._base, *values)).fetchall()
            edges = connection.execute(
                "SELECT source, target, relation, weight FROM edges WHERE base_id = %s"
                " ORDER BY source, target, relation",
                (self._base,),
            ).fetchall()
            known = {seq: Node(*names, tuple(tags)) for seq, *names, tags in nodes}  # type: ignore[call-arg]
            return wired(known, edges)

        return self._connections.consistently(read)

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        test, values = compile_condition(both(Not(FORGOTTEN), condition))
        base = self._base

        def read(connection: Connection) -> list[Edge]:
            reached = connection.execute(
                SQL(_REACHED).format(test),
                (base, list(documents), base, base, base, *values, depth),
            ).fetchall()
            within = [seq for seq, _, hops in reached if hops < depth]
            beside = f"{_EDGE} AND source = ANY(%s) UNION {_EDGE} AND target = ANY(%s)"
            rows = connection.execute(
                SQL(beside + " ORDER BY source, target, relation"), (base, within, base, within)
            )
            return _edges(rows, {seq: identity for seq, identity, _ in reached})

        return self._connections.consistently(read)

    def unresolved(self, document: str) -> list[Link]:
        return self.unresolved_in([document]).get(document, [])

    def unresolved_in(self, documents: Collection[str]) -> dict[str, list[Link]]:
        rows = self._read(
            SQL(
                "SELECT min(d.id), m.target, m.origin FROM mentions m JOIN documents d"
                " ON d.base_id = m.base_id AND d.seq = m.document"
                " WHERE d.base_id = %s AND d.id = ANY(%s) AND d.deleted_at IS NULL"
                f" AND {_DEAD} ORDER BY m.document, 2, 3"
            ),
            (self._base, list(documents)),
        )
        found: dict[str, list[Link]] = {}
        for document, *link in rows:
            found.setdefault(document, []).append(Link(*link))
        return found

    def dead_links(self) -> list[tuple[str, int]]:
        found = self._read(
            SQL(
                "SELECT target, count(DISTINCT document) FROM (SELECT m.target, m.document"
                " FROM mentions m JOIN documents d"
                " ON d.base_id = m.base_id AND d.seq = m.document"
                " WHERE d.base_id = %s AND d.deleted_at IS NULL AND d.type <> 'commit'"
                f" AND {_DEAD}) dead GROUP BY target ORDER BY 2 DESC, 1"
            ),
            (self._base,),
        )
        return [(target, number) for target, number in found]

    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        test, values = compile_condition(both(Not(FORGOTTEN), condition))
        query = SQL(
            "SELECT id, shared FROM (SELECT d.id, d.seq, (SELECT count(*) FROM unnest(d.tags) AS"
            " tag WHERE tag = ANY(o.tags)) AS shared FROM documents o JOIN documents d"
            " ON d.base_id = o.base_id AND d.tags && o.tags AND d.seq <> o.seq"
            " WHERE o.base_id = %s AND o.id = %s AND {}) others"
            " WHERE shared >= %s ORDER BY shared DESC, seq"
        ).format(test)
        found = self._read(query, (self._base, document, *values, least))
        return [(identity, number) for identity, number in found]

    def link_similar(self, threshold: float, most: int = MOST_SIMILAR) -> int:
        from knowbase.store import similar
        from knowbase.store.postgres.alike import Engine

        rule = similar.Rule(threshold, most)
        engine = Engine(self._connections, self._base, rule)
        with lagging.afresh():
            return similar.link(engine, rule, f"{self._connections.url}#{self._base}")

    def relink(self) -> None:
        self._connections.writing(lambda c: Linking(c, self._base).relink())


def _edges(rows: Iterable[tuple[Any, ...]], known: dict[int, str]) -> list[Edge]:
    """The edges between known documents."""
    return [
        Edge(known[source], known[target], *rest)
        for source, target, *rest in rows
        if source in known and target in known
    ]
