"""Connections that see the base as it was after a change."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from knowbase.store.asked_of_the_past import refused
from knowbase.store.sqlite import then
from knowbase.store.sqlite.connection import BaseFile, Connections

if TYPE_CHECKING:
    from knowbase.query.conditions import Condition
    from knowbase.store.bm25 import Population
    from knowbase.store.sqlite.scan import Floats, Integers
    from knowbase.store.sqlite.then_rows import PastRows


MOST = 4  # moments that are kept at hand


class Shared:
    """What is the same for all moments, as long as nobody writes."""

    def __init__(self) -> None:
        self.rows: PastRows | None = None  # where numpy is
        self.embedded: tuple[object, int] | None = None  # in which state, and how many


class Moments(threading.local):
    """The connections of a thread to what was: each sees the moment that it was last asked for,
    and the one that was not for longest gets the next."""

    def __init__(self, file: BaseFile, busy_timeout: float) -> None:
        self._opening = file, busy_timeout
        self._shared = Shared()
        self._opened: list[PastConnections] = []

    def at(self, number: int) -> "PastConnections":
        opened = self._opened
        if not opened or opened[-1].number != number:
            found = next((one for one in opened if one.number == number), None)
            if found is None:
                found = self._another()
            if found in opened:
                opened.remove(found)
            opened.append(found)
            found.number = number
        return opened[-1]

    def _another(self) -> "PastConnections":
        idle = [one for one in self._opened if not one.is_reading()]
        if len(self._opened) < MOST or not idle:
            return PastConnections(*self._opening, self._shared)
        return idle[0]


class PastConnections(Connections):
    """A connection that sees the base as it was; what is written meanwhile is taken into account
    before the next read, so that what is erased or pruned is not there either."""

    def __init__(self, file: BaseFile, busy_timeout: float, shared: Shared) -> None:
        super().__init__(file, busy_timeout)
        self.number = -1
        self.next_seq = self.next_chunk = 1
        self.population: dict[Condition, Population] = {}
        self._shared = shared
        self._with_views: apsw.Connection | None = None
        self._prepared: tuple[object, ...] = ()
        self._has_graph = False
        self._replaced: tuple[PastRows, Integers] | None = None
        self._past_vectors: tuple[int, list[tuple[Integers, Floats]]] | None = None

    def is_reading(self) -> bool:
        return self._connection.in_transaction

    def get(self) -> apsw.Connection:
        """Within a transaction, asking for the version also makes it see one state from now on."""
        connection = super().get()
        wanted = connection, connection.pragma("data_version"), self.number
        if self._prepared != wanted:
            self._map(connection)  # what was lies here and there
            if self._with_views is not connection:
                then.open_views(connection)
                self._with_views = connection
            self.next_seq, self.next_chunk = then.fill_views(connection, self.number)
            self._prepared, self._has_graph = wanted, False
            self._replaced = self._past_vectors = None
            self.population = {}
        return connection

    def replaced(self) -> "tuple[PastRows, Integers]":
        """What is known of all that was replaced, and which of it counts: by chunk."""
        connection = self.get()
        if self._replaced is None:
            from knowbase.store.sqlite.then_rows import PastRows

            known = self._shared.rows = self._shared.rows or PastRows()
            known.renew(connection, self.number)
            listed: Any = connection.execute(
                "SELECT group_concat(row) FROM (SELECT row FROM temp.was_replaced ORDER BY chunk)"
            ).get
            self._replaced = known, known.places(listed)
        return self._replaced

    def past_vectors(self, model: int) -> "list[tuple[Integers, Floats]]":
        """Those of what was replaced, at half precision as they are kept."""
        if self._past_vectors is None or self._past_vectors[0] != model:
            known, chosen = self.replaced()
            self._past_vectors = (model, known.vectors(self.get(), model, chosen))
        return self._past_vectors[1]

    def embedded(self, model: int) -> int:
        """How many chunks had a vector of a model that there still is; how many have one today is
        counted once for all moments."""
        connection = self.get()
        state: Any = connection.execute("SELECT generation FROM journal").get, self._mark, model
        if self._shared.embedded is None or self._shared.embedded[0] != state:
            sql = "SELECT count(*) FROM main.embedded WHERE model = ?"
            self._shared.embedded = state, connection.execute(sql, (model,)).get
        other: Any = connection.execute(
            "SELECT (SELECT count(*) FROM main.embedded WHERE model = ?1 AND chunk >= ?2)"
            " + (SELECT count(*) FROM temp.was_stale s CROSS JOIN main.embedded e"
            " ON e.model = ?1 AND e.chunk = s.chunk)",
            (model, self.next_chunk),
        ).get
        past = self._embedded_in_past(connection, model)
        return self._shared.embedded[1] - int(other) + past

    def _embedded_in_past(self, connection: apsw.Connection, model: int) -> int:
        if "numpy" in sys.modules:
            known, chosen = self.replaced()
            return known.embedded(connection, model, chosen)
        sql = "SELECT count(*) FROM temp.was_embedded WHERE model = ?"
        found: Any = connection.execute(sql, (model,)).get
        return int(found)

    def with_graph(self) -> apsw.Connection:
        connection = self.get()
        if not self._has_graph:
            then.fill_graph(connection, self.next_seq)
            self._has_graph = True
        return connection

    @contextmanager
    def writing(self, *, wait: bool = True, sync: bool = True) -> Iterator[apsw.Connection]:  # noqa: ARG002
        raise refused()
        yield  # pragma: no cover - as a writer would
