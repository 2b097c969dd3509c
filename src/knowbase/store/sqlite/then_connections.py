"""Connections that see the base as it was after a change."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw

from knowbase.store.asked_of_the_past import refused
from knowbase.store.sqlite import then
from knowbase.store.sqlite.connection import BaseFile, Connections

if TYPE_CHECKING:
    from knowbase.query.conditions import Condition
    from knowbase.store.bm25 import Population
    from knowbase.store.sqlite.scan import Floats, Integers


class PastConnections(Connections):
    """Connections that see the base as it was; what is written meanwhile is taken into account
    before the next read, so that what is erased or pruned is not there either."""

    def __init__(self, file: BaseFile, busy_timeout: float, number: int) -> None:
        super().__init__(file, busy_timeout)
        self.number = number
        self.next_seq = self.next_chunk = 1
        self.population: dict[Condition, Population] = {}
        self._prepared: tuple[apsw.Connection, int] | None = None
        self._has_graph = False
        self._past_vectors: tuple[int, list[tuple[Integers, Floats]]] | None = None

    def get(self) -> apsw.Connection:
        """Within a transaction, asking for the version also makes it see one state from now on."""
        connection = super().get()
        version = connection.pragma("data_version")
        if self._prepared != (connection, version):
            if self._prepared is None or self._prepared[0] is not connection:
                self.next_seq, self.next_chunk = then.open_views(connection, self.number)
            then.fill_views(connection, self.number, self.next_chunk)
            self._prepared, self._has_graph = (connection, version), False
            self._past_vectors = None
            self.population = {}
        return connection

    def past_vectors(self, model: int) -> "list[tuple[Integers, Floats]]":
        """Those of what was replaced, at half precision as they are kept."""
        connection = self.get()
        if self._past_vectors is None or self._past_vectors[0] != model:
            self._past_vectors = (model, then.past_vectors(connection, model))
        return self._past_vectors[1]

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
