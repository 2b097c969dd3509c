"""Reading the graph. What only it needs is loaded when it is asked for, as a search by words
loads this, too."""

from collections.abc import Callable, Collection
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.query.conditions import FORGOTTEN, Condition, Not, both
from knowbase.store.sqlite.compile import compile_condition
from knowbase.store.sqlite.connection import Connected, as_json, translated
from knowbase.store.sqlite.packing import MILLION, SIMILAR

if TYPE_CHECKING:
    import apsw

    from knowbase.store.similar import Found, Moment, Rule
    from knowbase.store.sqlite.connection import Connections
    from knowbase.values.edges import Edge, Wiring
    from knowbase.values.reading import Link

RELATION = f"iif(e.relation = {SIMILAR}, 'SIMILAR_TO', e.relation)"
EDGE = (
    f"s.id, t.id, {RELATION}, e.weight / {MILLION},"
    f" iif(e.relation = {SIMILAR}, 'vectors', e.origin)"
)

_DEAD = (
    "m.origin IN ('markdown', 'wiki') GROUP BY m.document, m.target, m.origin"
    " HAVING NOT max(EXISTS (SELECT 1 FROM names n WHERE n.name = m.name AND n.kind <= m.reach))"
)
"""Links of a text that lead nowhere, whichever of the names is meant that one may stand for."""


class SqliteGraph(Connected):
    """See `knowbase.store.contract.GraphStore` for what each method promises."""

    def edges(self, condition: Condition) -> "list[Edge]":
        from knowbase.values.edges import Edge

        sql, values = compile_condition(both(Not(FORGOTTEN), condition))
        found = self._read(
            f"WITH passing AS MATERIALIZED (SELECT d.seq, d.id FROM documents d WHERE {sql})"
            f" SELECT {EDGE} FROM passing s CROSS JOIN edges e ON e.source = s.seq"
            " CROSS JOIN passing t ON t.seq = e.target ORDER BY s.seq, t.seq, 3",
            values,
        )
        return [Edge(*row) for row in found]

    def wiring(self, condition: Condition) -> "Wiring":
        import numpy as np

        from knowbase.store.wiring import wired_with
        from knowbase.values.edges import Node

        sql, values = compile_condition(both(Not(FORGOTTEN), condition))
        with translated():
            connection = self._connections.get()
            with connection:  # one state of the base
                nodes: Any = connection.execute(
                    "SELECT d.seq, d.id, d.code, d.title FROM documents d"
                    f" WHERE {sql} ORDER BY d.seq",
                    values,
                ).fetchall()
                tags: dict[int, tuple[str, ...]] = {}
                for seq, name in connection.execute(
                    "SELECT document, name FROM tags ORDER BY 1, 2"
                ):
                    tags[seq] = (*tags.get(seq, ()), name)
                edges: Any = connection.execute(
                    f"SELECT source, target, relation, weight / {MILLION} FROM edges"
                    f" WHERE relation <> {SIMILAR} ORDER BY source, target, relation"
                ).fetchall()
                alike: Any = connection.execute(
                    f"SELECT source, target, weight / {MILLION} FROM edges"
                    f" WHERE relation = {SIMILAR}"
                    " ORDER BY source, target"
                )
                ends = np.fromiter(chain.from_iterable(alike), "f8").reshape(-1, 3)
        known = {
            seq: Node(identity, code, title, tags.get(seq, ()))
            for seq, identity, code, title in nodes
        }
        return wired_with(known, edges, "SIMILAR_TO", ends)

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> "list[Edge]":
        """UNION drops a place reached before in as many hops, so that a circle ends."""
        from knowbase.values.edges import Edge

        sql, values = compile_condition(both(Not(FORGOTTEN), condition))
        step = (
            " UNION SELECT d.seq, r.hops + 1 FROM reached r CROSS JOIN edges e ON e.{} = r.seq"
            f" CROSS JOIN documents d ON d.seq = e.{{}} WHERE r.hops < ? AND {sql}"
        )
        found = self._read(
            "WITH RECURSIVE reached (seq, hops) AS ("
            " SELECT d.seq, 0 FROM json_each(?) wanted"
            " CROSS JOIN documents d ON d.id = wanted.value WHERE d.deleted_at IS NULL"
            f"{step.format('source', 'target')}{step.format('target', 'source')}),"
            " near AS MATERIALIZED (SELECT seq, min(hops) AS hops FROM reached GROUP BY seq)"
            f" SELECT {EDGE} FROM near a CROSS JOIN edges e ON e.source = a.seq"
            " CROSS JOIN near b ON b.seq = e.target AND min(a.hops, b.hops) < ?"
            " CROSS JOIN documents s ON s.seq = e.source CROSS JOIN documents t ON t.seq = e.target"
            " ORDER BY s.seq, t.seq, 3",
            (as_json(documents), depth, *values, depth, *values, depth),
        )
        return [Edge(*row) for row in found]

    def unresolved(self, document: str) -> "list[Link]":
        return self.unresolved_in([document]).get(document, [])

    def unresolved_in(self, documents: Collection[str]) -> "dict[str, list[Link]]":
        from knowbase.values.reading import Link

        rows = self._read(
            "SELECT d.id, m.target, m.origin FROM json_each(?) wanted"
            " CROSS JOIN documents d ON d.id = wanted.value"
            " CROSS JOIN mentions m ON m.document = d.seq"
            f" WHERE d.deleted_at IS NULL AND {_DEAD} ORDER BY d.seq, 2, 3",
            (as_json(documents),),
        )
        found: dict[str, list[Link]] = {}
        for document, *link in rows:
            found.setdefault(document, []).append(Link(*link))
        return found

    def dead_links(self) -> list[tuple[str, int]]:
        found = self._read(
            "SELECT target, count(DISTINCT document) FROM (SELECT m.target, m.document"
            " FROM mentions m JOIN documents d ON d.seq = m.document"
            f" WHERE d.deleted_at IS NULL AND d.type <> 'commit' AND {_DEAD})"
            " GROUP BY target ORDER BY 2 DESC, 1"
        )
        return [(target, number) for target, number in found]

    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        sql, values = compile_condition(both(Not(FORGOTTEN), condition))
        found = self._read(
            "SELECT d.id, count(*) FROM documents o CROSS JOIN tags mine ON mine.document = o.seq"
            " CROSS JOIN tags t ON t.name = mine.name AND t.document <> o.seq"
            f" CROSS JOIN documents d ON d.seq = t.document WHERE o.id = ? AND {sql}"
            " GROUP BY d.seq HAVING count(*) >= ? ORDER BY count(*) DESC, d.seq",
            (document, *values, least),
        )
        return [(identity, number) for identity, number in found]

    def link_similar(self, threshold: float, most: int | None = None) -> int:
        from knowbase.store import similar

        rule = similar.Rule(threshold, similar.MOST_SIMILAR if most is None else most)
        with translated():
            engine = _Linking(self._connections, self._model_id, rule)
            return similar.link(engine, rule, self._connections.path)

    def relink(self) -> None:
        from knowbase.store.sqlite import links

        with translated(), self._connections.writing() as connection:
            links.relink(connection)


class _Linking(NamedTuple):
    """See `knowbase.store.similar.Linking`."""

    connections: "Connections"
    model: "Callable[[apsw.Connection], int | None]"
    rule: "Rule"

    def is_due(self) -> bool:
        from knowbase.store.sqlite import alike

        return alike.is_due(self.connections.get(), self.rule)

    def read(self, work: "Callable[[Moment], Found]") -> "Found":
        from knowbase.store.sqlite.alike import SqliteMoment

        connection = self.connections.get()
        with connection:  # one state of the base
            found = work(SqliteMoment(connection, self.model(connection)))
        return found  # noqa: RET504 - to mypy, the block could swallow an error

    def write(self, found: "Found") -> "Found | None":
        from knowbase.store.sqlite import alike

        with self.connections.writing(sync=False) as connection:
            moment = alike.SqliteMoment(connection, self.model(connection))
            return alike.write(moment, found, self.rule)
