"""A base in PostgreSQL as it was after a change: the same store, within one transaction that sees
it so (`then.py`), and that is rolled back when it is closed."""

import threading
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Literal

from knowbase.query.conditions import EVERYTHING, Condition, is_everything
from knowbase.store.asked_of_the_past import refused
from knowbase.store.nearest import nearest
from knowbase.store.postgres.cluster import BaseConnection
from knowbase.store.postgres.compile import compile_for_chunks
from knowbase.store.postgres.connection import Connections, Query, Result, translated
from knowbase.store.postgres.parts import PostgresParts
from knowbase.store.postgres.then import Then
from knowbase.store.postgres.vector_tables import unpacked, vector_table
from knowbase.values.documents import Candidate, Document
from knowbase.values.vectors import Model, Vector

if TYPE_CHECKING:
    from knowbase.store.contract import HistoryStore, Present, Store
    from knowbase.store.postgres.wordlists import WordLists
    from knowbase.values.edges import Edge, Wiring
    from knowbase.values.reading import Link
    from knowbase.values.replicas import ReplicaState


_REPLACED = SQL("FROM was_replaced r JOIN was_chunks c ON c.id = r.chunk WHERE c.base_id = %s")


class PastConnections(Connections):
    """One connection of the base's pool, for as long as it is asked: all threads share it."""

    def __init__(self, connections: Connections, base: int, number: int) -> None:
        self.url = connections.url
        self._timeouts = connections._timeouts
        self._lock = threading.RLock()
        with translated():
            self._held = connections._taken()
            self._end = weakref.finalize(self, _put_back, connections, self._held)
            try:
                self._held.execute(SQL(connections.beginning_to_read()))
                self.then = Then(self._held, base, number)
                self.then.prepare()
            except BaseException:
                self._end()
                raise

    def close(self) -> None:
        self._end()

    def read(self, query: Query, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.run(lambda connection: connection.execute(query, values).fetchall())

    def consistently(self, work: Callable[[Connection], Result], *, long: bool = False) -> Result:  # noqa: ARG002
        return self.run(work)

    def run(self, work: Callable[[Connection], Result]) -> Result:
        with self._lock, translated():
            return work(self._held)

    def writing(self, work: Callable[[Connection], Result], *, wait: bool = True) -> Result:  # noqa: ARG002
        raise refused()

    def replicas(self) -> "list[ReplicaState]":
        return []


def _put_back(connections: Connections, connection: BaseConnection) -> None:
    try:
        connection.rollback()
    finally:
        connections._pool.putconn(connection)


class PostgresAsOf(PostgresParts):
    """See `knowbase.store.contract.Store` for what each method promises."""

    _connections: PastConnections

    def __init__(self, store: PostgresParts, present: "Present", number: int) -> None:
        self._present = present
        self.url = store.url
        self._base = store._base
        self._vectors_known = store._vectors_known
        self._indexes = store._indexes
        self._connections = PastConnections(store._connections, self._base, number)
        self._replaced: dict[tuple[int, Model], dict[int, Vector]] = {}
        self._embedded_counts: dict[tuple[tuple[int, Model], Condition], int] = {}

    def history(self) -> "HistoryStore":
        return self._present.history()

    def as_of(self, number: int) -> "Store":
        return self._present.as_of(number)

    def apply(self, *_: Any, **__: Any) -> list[Document]:
        raise refused()

    def link_similar(self, *_: Any, **__: Any) -> int:
        return 0

    def renew_index(self, **_: Any) -> bool:
        return False

    def lease(self, *_: Any) -> bool:
        return False

    def _lists(self, connection: Connection) -> "WordLists":
        from knowbase.store.postgres.then_words import PastWordLists

        return PastWordLists(connection, self._base, self._connections.then.next_chunk)

    def _written(self, connection: Connection) -> str:  # noqa: ARG002
        return ""

    def _that_hold(self) -> Composable:
        return SQL(
            "v.chunk < {} AND NOT EXISTS (SELECT 1 FROM was_stale s WHERE s.chunk = v.chunk)"
        ).format(Literal(self._connections.then.next_chunk))

    def _nearest(
        self,
        connection: Connection,
        known: tuple[int, Model],
        asked: tuple[Vector, Condition, int],
    ) -> list[Candidate]:
        """Of what is as it was, and of what was replaced: the best of both."""
        vector, condition, limit = asked
        now = super()._nearest(connection, known, asked)
        past = self._past_vectors(connection, known, condition)
        found = now + nearest(vector, limit, lambda _: past)
        return sorted(found, key=lambda one: (-one.score, one.chunk))[:limit]

    def _past_vectors(
        self, connection: Connection, known: tuple[int, Model], condition: Condition
    ) -> list[tuple[int, Vector]]:
        """Of the chunks that were replaced and pass."""
        if known not in self._replaced:
            self._replaced[known] = self._read_replaced(connection, known)
        found = self._replaced[known]
        if is_everything(condition):
            return [*found.items()]
        test, values = compile_for_chunks(condition, self._having(connection))
        query = SQL("SELECT c.id {} AND {}").format(_REPLACED, test)
        passing = connection.execute(query, (self._base, *values))
        return [(chunk, found[chunk]) for (chunk,) in passing if chunk in found]

    def _read_replaced(self, connection: Connection, known: tuple[int, Model]) -> dict[int, Vector]:
        """Their own vectors, or those of the same text today."""
        kept = SQL(
            "SELECT r.chunk, c.hash, (SELECT v.embedding FROM past_vectors v WHERE"
            " v.base_id = c.base_id AND v.hash = c.hash AND v.model = %s) {}"
        ).format(_REPLACED)
        found, missing = {}, {}
        for chunk, digest, vector in connection.execute(kept, (known[0], self._base)):
            if vector is None:
                missing[chunk] = digest
            else:
                found[chunk] = bytes(vector)
        same = self._of_today(connection, known, [*missing.values()])
        return found | {one: same[digest] for one, digest in missing.items() if digest in same}

    def _of_today(
        self, connection: Connection, known: tuple[int, Model], hashes: Sequence[str]
    ) -> dict[str, Vector]:
        """The vectors that texts have today, by their hashes."""
        if not hashes:
            return {}
        query = SQL(
            "SELECT c.hash, v.embedding FROM {schema}.chunks c JOIN {table} v"
            " ON v.base_id = c.base_id AND v.chunk = c.id"
            " WHERE c.base_id = %s AND v.model = %s AND c.hash = ANY(%s)"
        ).format(schema=self._connections.then.schema, table=vector_table(known[1].dimensions))
        with connection.cursor(binary=True) as cursor:
            cursor.execute(query, (self._base, known[0], list(hashes)))
            return {digest: unpacked(one) for digest, one in cursor}

    def _embedded_by(
        self, connection: Connection, number: int, model: Model, condition: Condition = EVERYTHING
    ) -> int:
        """Counted once: nothing changes meanwhile."""
        key = (number, model), condition
        if key not in self._embedded_counts:
            test, values = self._filtered(connection, condition).of(SQL("v.chunk"))
            statement = SQL(
                "SELECT count(*) FROM {} v WHERE v.base_id = %s AND v.model = %s AND {} AND {}"
            ).format(vector_table(model.dimensions), self._that_hold(), test)
            row = connection.execute(statement, (self._base, number, *values)).fetchone()
            past = self._past_vectors(connection, (number, model), condition)
            self._embedded_counts[key] = (int(row[0]) if row else 0) + len(past)
        return self._embedded_counts[key]

    # the graph

    def _with_graph(self) -> None:
        self._connections.run(lambda _: self._connections.then.fill_graph())

    def edges(self, condition: Condition) -> "list[Edge]":
        self._with_graph()
        return super().edges(condition)

    def wiring(self, condition: Condition) -> "Wiring":
        self._with_graph()
        return super().wiring(condition)

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> "list[Edge]":
        self._with_graph()
        return super().edges_around(documents, depth, condition)

    def unresolved_in(self, documents: Collection[str]) -> "dict[str, list[Link]]":
        self._with_graph()
        return super().unresolved_in(documents)

    def dead_links(self) -> list[tuple[str, int]]:
        self._with_graph()
        return super().dead_links()

    def vectors(self, hashes: Collection[str], model: Model | None = None) -> Mapping[str, Vector]:
        """By the text alone, whenever it was there."""
        known = self._model(model)
        if known is None or not self._vectors_known:
            return {}
        given = (self._base, known[0], list(hashes))

        def read(connection: Connection) -> dict[str, Vector]:
            past = connection.execute(
                "SELECT hash, embedding FROM past_vectors"
                " WHERE base_id = %s AND model = %s AND hash = ANY(%s)",
                given,
            )
            there = self._of_today(connection, known, given[2])
            return {**{digest: bytes(one) for digest, one in past}, **there}

        return self._connections.run(read)
