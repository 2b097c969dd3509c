"""The index of vectors beside a base, for whoever searches and for whoever has time to write it."""

import os
import sys
from functools import cached_property
from typing import TYPE_CHECKING

from knowbase.store.sqlite import vector_log
from knowbase.store.sqlite.beside import index_of
from knowbase.store.sqlite.connection import Connected, translated
from knowbase.store.sqlite.vector_tables import vector_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.store.sqlite.scan import Among
    from knowbase.store.sqlite.vector_index import InStep, VectorIndex
    from knowbase.values.vectors import IndexState, Vector

    Propose = Callable[[int], list[tuple[int, Vector]]]

INDEX_AFTER = 20_000  # vectors; fewer are compared in a moment
WORTH_NUMPY = 150_000  # vectors; to load it takes as long as to compare them without


class WithIndex(Connected):
    """See `knowbase.store.contract.VectorStore` for what each method promises."""

    _index_after = INDEX_AFTER

    @cached_property
    def _index(self) -> "VectorIndex":
        from knowbase.store.sqlite.vector_index import VectorIndex

        return VectorIndex(index_of(self._connections.path))

    def _in_step(self, model: int) -> "InStep | None":
        """The index, when there is one that can be used in this transaction."""
        if not self._has_index():
            return None
        if "numpy" not in sys.modules:
            last = self._read(f"SELECT max(rowid) FROM {vector_table(model)}_rowids")
            if (last[0][0] or 0) < WORTH_NUMPY:
                return None
        found = self._index.in_step(self._connections.get(), model)
        if found is not None:
            self._connections.map_file()
        return found

    def _indexed(
        self, model: int, vector: "Vector", among: "Callable[[], Among | None]"
    ) -> "Propose | None":
        """The nearest by the index, when there is one that can be used."""
        in_step = self._in_step(model)
        if in_step is None:
            return None
        from knowbase.store.sqlite.vector_index import Indexed

        return Indexed(self._connections.get(), in_step, vector, among()).nearest

    def _has_index(self) -> bool:
        return bool(self._index_after) and os.path.isdir(index_of(self._connections.path))

    def renew_index(self, *, anew: bool = False) -> bool:
        with translated():
            if not self._may_be_due(anew=anew):
                return False
            from knowbase.store.sqlite.indexing import Indexing

            indexing = Indexing(self._connections, self._index, self._index_after)
            return indexing.bring_in_step(anew=anew)

    def _may_be_due(self, *, anew: bool) -> bool:
        """A small base needs neither an index nor numpy to say that it needs none."""
        if anew or os.path.isdir(index_of(self._connections.path)):
            few = self._index_after // vector_log.DUE
            return (
                anew
                or "numpy" in sys.modules
                or not vector_log.is_short(self._connections.get(), few)
            )
        last = self._read("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'")
        return bool(self._index_after) and bool(last) and last[0][0] >= self._index_after

    def vector_index(self) -> "IndexState | None":
        if not self._has_index():
            return None
        from knowbase.values.vectors import IndexState

        with translated(), self._connections.with_vectors() as connection:
            model = self._model_id(connection)
            found = None if model is None else self._index.in_step(connection, model)
        if found is None:
            return IndexState(0, 0, 0)
        rows = sum(len(part.segment.chunks) - len(part.dead) for part in found.loaded.parts)
        return IndexState(rows, len(found.changed), len(found.loaded.parts))
