"""Connections that see the base as it was after a change."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from knowbase.store.asked_of_the_past import refused
from knowbase.store.sqlite import then
from knowbase.store.sqlite.connection import BaseFile, Connections
from knowbase.store.sqlite.scoring import population

if TYPE_CHECKING:
    from knowbase.query.conditions import Condition
    from knowbase.store.bm25 import Population
    from knowbase.store.sqlite.scan import Floats, Integers
    from knowbase.store.sqlite.then_chosen import Chosen, Past


MOST = 4  # moments that are kept at hand


def is_numpy_loaded() -> bool:
    """A process that has not needed it takes longer to load it than to ask the base."""
    return "numpy" in sys.modules


class Covered(NamedTuple):
    """How many chunks there are today, and how many of them have a vector."""

    chunks: int
    embedded: int


class Shared:
    """What is the same for all moments, as long as nobody writes."""

    def __init__(self) -> None:
        self.past: Past | None = None  # where numpy is
        self.covered: tuple[object, Covered] | None = None  # in which state, and what


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
        self._is_steady = False  # in a transaction whose state is the one that is prepared
        self._has_graph = False
        self._chosen: Chosen | None = None
        self._past_vectors: tuple[int, list[tuple[Integers, Floats]]] | None = None

    def is_reading(self) -> bool:
        return self._connection.in_transaction

    def get(self) -> apsw.Connection:
        """Within a transaction, asking for the version also makes it see one state from now on."""
        connection = super().get()
        if self._is_steady and connection.in_transaction:
            return connection
        wanted = connection, connection.pragma("data_version"), self.number
        if self._prepared != wanted:
            self._map(connection)  # what was lies here and there
            if self._with_views is not connection:
                then.open_views(connection)
                self._with_views = connection
            with connection:
                self._fill(connection)
            self._prepared, self._has_graph = wanted, False
        self._is_steady = connection.in_transaction
        return connection

    def _fill(self, connection: apsw.Connection) -> None:
        self._chosen, self._past_vectors, self.population = None, None, {}
        self.next_seq, self.next_chunk = then.empty_views(connection, self.number)
        if is_numpy_loaded():
            from knowbase.store.sqlite.then_chosen import fill_views

            fill_views(connection, self._choose(connection))
        else:
            then.fill_views(connection, self.number, self.next_chunk)
        then.fill_relations(connection)

    def chosen(self) -> "Chosen":
        """What was replaced since."""
        connection = self.get()
        return self._chosen or self._choose(connection)

    def _choose(self, connection: apsw.Connection) -> "Chosen":
        from knowbase.store.sqlite.then_chosen import Past

        past = self._shared.past = self._shared.past or Past()
        reached = self.next_seq, self.next_chunk
        self._chosen = past.at(connection, self._base_state(connection), self.number, reached)
        return self._chosen

    def _base_state(self, connection: apsw.Connection) -> object:
        """The same for all connections as long as nobody has written."""
        return connection.execute("SELECT generation FROM journal").get, self._mark

    def past_vectors(self, model: int) -> "list[tuple[Integers, Floats]]":
        """Those of what was replaced, at half precision as they are kept."""
        if self._past_vectors is None or self._past_vectors[0] != model:
            chosen = self.chosen()
            found = chosen.rows.vectors(self.get(), model, chosen.places)
            self._past_vectors = (model, found)
        return self._past_vectors[1]

    def embedded(self, model: int, chunks: int) -> int:
        """How many of the chunks had a vector of a model that there still is."""
        connection = self.get()
        today, past = self._covered(connection, model), self._embedded_in_past(connection, model)
        if self._chosen is not None and today.embedded == today.chunks:
            return chunks - len(self._chosen.places) + past
        other: Any = connection.execute(
            "SELECT (SELECT count(*) FROM main.embedded WHERE model = ?1 AND chunk >= ?2)"
            " + (SELECT count(*) FROM temp.was_stale s CROSS JOIN main.embedded e"
            " ON e.model = ?1 AND e.chunk = s.chunk)",
            (model, self.next_chunk),
        ).get
        return today.embedded - int(other) + past

    def _covered(self, connection: apsw.Connection, model: int) -> Covered:
        """Counted once for all moments."""
        state = self._base_state(connection), model
        if self._shared.covered is None or self._shared.covered[0] != state:
            sql = "SELECT count(*) FROM main.embedded WHERE model = ?"
            embedded: Any = connection.execute(sql, (model,)).get
            self._shared.covered = state, Covered(population(connection).rows, embedded)
        return self._shared.covered[1]

    def _embedded_in_past(self, connection: apsw.Connection, model: int) -> int:
        if is_numpy_loaded():
            chosen = self.chosen()
            return chosen.rows.embedded(connection, model, chosen.places)
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
