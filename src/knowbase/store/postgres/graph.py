"""Reading the graph."""

from collections.abc import Collection

from psycopg.sql import SQL

from knowbase.changes import Link
from knowbase.edges import Edge
from knowbase.query.conditions import FORGOTTEN, Condition, Not, both
from knowbase.store.postgres.compile import compile_condition
from knowbase.store.postgres.connection import Connected
from knowbase.store.postgres.links import Linking
from knowbase.types import Model

_EDGE = "s.id, t.id, e.relation, e.weight, e.origin"


class Graph(Connected):
    """The part of `knowbase.store.contract.Store` about links between documents."""

    def edges(self, condition: Condition) -> list[Edge]:
        test, values = compile_condition(both(Not(FORGOTTEN), condition))
        query = SQL(
            "WITH passing AS MATERIALIZED (SELECT d.seq, d.id FROM documents d"
            " WHERE d.base_id = %s AND {})"
            f" SELECT {_EDGE} FROM edges e JOIN passing s ON s.seq = e.source"
            " JOIN passing t ON t.seq = e.target WHERE e.base_id = %s"
            " ORDER BY s.seq, t.seq, e.relation"
        ).format(test)
        return [Edge(*row) for row in self._read(query, (self._base, *values, self._base))]

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        """UNION drops a place reached before in as many hops, so that a circle ends."""
        test, values = compile_condition(both(Not(FORGOTTEN), condition))
        query = SQL(
            "WITH RECURSIVE reached (seq, hops) AS ("
            " SELECT d.seq, 0 FROM documents d WHERE d.base_id = %s AND d.id = ANY(%s)"
            " AND d.deleted_at IS NULL"
            " UNION SELECT d.seq, r.hops + 1 FROM reached r CROSS JOIN LATERAL ("
            "  SELECT e.target AS other FROM edges e WHERE e.base_id = %s AND e.source = r.seq"
            "  UNION ALL SELECT e.source FROM edges e WHERE e.base_id = %s AND e.target = r.seq"
            " ) beside JOIN documents d ON d.base_id = %s AND d.seq = beside.other"
            " WHERE r.hops < %s AND {}),"
            " near AS MATERIALIZED (SELECT seq, min(hops) AS hops FROM reached GROUP BY seq)"
            f" SELECT {_EDGE} FROM near a JOIN edges e ON e.base_id = %s AND e.source = a.seq"
            " JOIN near b ON b.seq = e.target AND least(a.hops, b.hops) < %s"
            " JOIN documents s ON s.base_id = e.base_id AND s.seq = e.source"
            " JOIN documents t ON t.base_id = e.base_id AND t.seq = e.target"
            " ORDER BY s.seq, t.seq, e.relation"
        ).format(test)
        base = self._base
        found = self._read(
            query,
            (base, list(documents), base, base, base, depth, *values, base, depth),
        )
        return [Edge(*row) for row in found]

    def unresolved(self, document: str) -> list[Link]:
        found = self._read(
            SQL(
                "SELECT m.target, m.origin FROM mentions m JOIN documents d"
                " ON d.base_id = m.base_id AND d.seq = m.document"
                " WHERE d.base_id = %s AND d.id = %s AND d.deleted_at IS NULL"
                " AND m.origin IN ('wiki', 'markdown') AND NOT EXISTS (SELECT 1 FROM names n"
                " WHERE n.base_id = m.base_id AND n.name = m.name AND n.kind <= m.reach)"
                " ORDER BY 1, 2"
            ),
            (self._base, document),
        )
        return [Link(*row) for row in found]

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

    def link_similar(self, threshold: float) -> int:
        base, known = self._base, self._model()
        if self._connections.run(lambda c: Linking(c, base).is_linked(threshold)):
            return 0
        return self._connections.writing(lambda c: Linking(c, base).link_similar(known, threshold))

    def relink(self) -> None:
        self._connections.writing(lambda c: Linking(c, self._base).relink())

    def _model(self) -> tuple[int, Model] | None:
        raise NotImplementedError
