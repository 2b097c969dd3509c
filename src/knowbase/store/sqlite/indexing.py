"""Writing the index of vectors."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from knowbase import deadline
from knowbase.store.sqlite.change_log import VECTORS
from knowbase.store.sqlite.codes import coded
from knowbase.store.sqlite.connection import Connections
from knowbase.store.sqlite.mapped import Unusable
from knowbase.store.sqlite.renewing import LARGER, Renewing
from knowbase.store.sqlite.scan import blocks, vectors_of
from knowbase.store.sqlite.segments import Current, Part, write_current, write_segment
from knowbase.store.sqlite.vector_index import InStep, VectorIndex

if TYPE_CHECKING:
    import apsw

    from knowbase.store.sqlite.scan import Integers

_BLOCKS = 8  # that are coded at once
_PART = 8  # when more than an eighth would be read one by one, all is written anew


class VectorIndexing(Renewing):
    """Keeps the index of the active model in step."""

    log = VECTORS

    def __init__(self, connections: Connections, index: VectorIndex, least: int) -> None:
        super().__init__(connections, index.folder, least)
        self._index = index

    def connection(self) -> "apsw.Connection":
        return self._connections.get()

    def model(self, connection: "apsw.Connection") -> int | None:
        found: Any = connection.execute("SELECT id FROM models WHERE active").get
        return None if found is None else int(found)

    def number(self, connection: "apsw.Connection", model: int) -> int:
        sql = "SELECT count(*) FROM (SELECT 1 FROM embedded WHERE model = ? LIMIT ?)"
        found: Any = connection.execute(sql, (model, self._least)).get
        return int(found)

    def behind(self, connection: "apsw.Connection", model: int) -> int | None:
        in_step = self._index.in_step(connection, model)
        return len(in_step.changed) if in_step else None

    def write(
        self, connection: "apsw.Connection", model: int, checkpoint: tuple[int, str]
    ) -> tuple[str, ...]:
        made = self._made(connection, model, self._index.in_step(connection, model))
        place, token = checkpoint
        write_current(self._folder, made._replace(place=place, token=token))
        return tuple(one.name for one in made.segments)

    def _made(self, connection: "apsw.Connection", model: int, in_step: InStep | None) -> Current:
        dimensions: Any = connection.execute(
            "SELECT dimensions FROM models WHERE id = ?", (model,)
        ).get
        empty = Current(model, dimensions, 0, "", ())
        kept, chunks = _absorbing(in_step, _number(connection, model)) if in_step else (0, None)
        if in_step is None or chunks is None:
            whole = write_segment(self._folder, _all(connection, model), ())
            return empty._replace(segments=(whole,))
        there, matrix = vectors_of(connection, model, chunks)
        gone = np.setdiff1d(chunks, there).tolist()
        new = write_segment(self._folder, [_part(there, matrix)], gone)
        return empty._replace(segments=(*in_step.loaded.current.segments[:kept], new))


def _number(connection: "apsw.Connection", model: int) -> int:
    sql = "SELECT count(*) FROM embedded WHERE model = ?"
    found: Any = connection.execute(sql, (model,)).get
    return int(found)


def _absorbing(in_step: InStep, number: int) -> "tuple[int, Integers | None]":
    """How many segments stay as they are, and the chunks of a new one; None: all of them."""
    chunks = np.unique(in_step.changed)
    kept = len(in_step.loaded.parts)
    for part in reversed(in_step.loaded.parts):
        if len(part.segment.chunks) > LARGER * len(chunks):
            break
        chunks = np.union1d(chunks, np.union1d(part.segment.chunks, part.segment.gone))
        kept -= 1
    return (0, None) if kept == 0 or len(chunks) * _PART > number else (kept, chunks)


def _all(connection: "apsw.Connection", model: int) -> Iterator[Part]:
    chunks, parts = [], []
    for numbers, matrix in blocks(connection, model):
        deadline.check()
        chunks.append(numbers)
        parts.append(matrix)
        if len(parts) == _BLOCKS:
            yield _part(np.concatenate(chunks), np.concatenate(parts))
            chunks, parts = [], []
    if parts:
        yield _part(np.concatenate(chunks), np.concatenate(parts))


def _part(chunks: "Integers", matrix: Any) -> Part:
    length = float(np.sqrt(np.einsum("ij,ij->i", matrix, matrix).max(initial=0)))
    if not np.isfinite(length):
        raise Unusable("a vector that is not of numbers")
    return Part(chunks, coded(matrix), length)
