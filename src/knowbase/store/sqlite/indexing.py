"""Writing the index of vectors, and bringing it in step with the base.

One process at a time does it, and nobody waits for it. What is new is a segment of its own, which
takes in the last ones if they are not much larger: so there are few of them, and each vector is
written a few times in all. A process that is killed leaves a file that the next one removes.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from errno import EDQUOT, EFBIG, ENOSPC
from typing import TYPE_CHECKING, Any

import numpy as np

from knowbase import deadline
from knowbase.errors import BaseReadOnly, DiskFull
from knowbase.logs import log
from knowbase.process.filing import locked
from knowbase.store.sqlite import vector_log
from knowbase.store.sqlite.codes import coded
from knowbase.store.sqlite.connection import Connections
from knowbase.store.sqlite.scan import blocks, vectors_of
from knowbase.store.sqlite.segments import (
    CURRENT,
    Current,
    Part,
    Unusable,
    remove_others,
    write_current,
    write_segment,
)
from knowbase.store.sqlite.vector_index import InStep, VectorIndex
from knowbase.store.sqlite.vector_tables import vector_table

if TYPE_CHECKING:
    import apsw

    from knowbase.store.sqlite.scan import Integers

_BLOCKS = 32  # of sqlite-vec's that are coded at once
_LARGER = 2  # a segment that is not larger than so many times the new one goes into it
_PART = 8  # when more than an eighth would be read one by one, all is written anew


class Indexing:
    """Keeps the index of the active model in step."""

    def __init__(self, connections: Connections, index: VectorIndex, least: int) -> None:
        self._connections = connections
        self._index = index
        self._least = least

    def renew(self, *, anew: bool = False) -> bool:
        """Write what is due; whether anything was. Another process that is at it does it."""
        try:
            return self._renew(anew=anew)
        except Unusable as error:
            log("warning", "there can be no index of these vectors", reason=str(error))
            return False
        except OSError as error:
            kind = DiskFull if error.errno in (ENOSPC, EDQUOT, EFBIG) else BaseReadOnly
            raise kind(
                f"the index of vectors cannot be written: {error.strerror}",
                hint="searches do without it; store.index_after = 0 switches it off",
            ) from error

    def _renew(self, *, anew: bool) -> bool:
        connection = self._connections.with_vectors()
        if connection.readonly("main"):
            return False
        if anew or not self._least:
            self._remove()
        model: Any = connection.execute("SELECT id FROM models WHERE active").get
        if not self._least or model is None or not self._is_due(connection, model):
            return False
        folder = self._index.folder
        os.makedirs(folder, mode=0o700, exist_ok=True)  # its owner's alone, as the base is
        with suppress(BlockingIOError, PermissionError), locked(folder + os.sep, patience=0):
            if not self._is_due(connection, model):  # another was faster
                return False
            self._write(model)
            return True
        return False

    def _is_due(self, connection: "apsw.Connection", model: int) -> bool:
        with connection:
            number = _number(connection, model)
            in_step = self._index.in_step(connection, model)
        if number < self._least:
            if 2 * number < self._least:
                self._remove()
            return False
        return in_step is None or len(in_step.changed) * vector_log.DUE > self._least

    def _write(self, model: int) -> None:
        folder = self._index.folder
        with self._connections.writing() as connection:
            place, token = vector_log.check_in(connection, model)
        with connection:  # one state; it has the checkpoint
            in_step = self._index.in_step(connection, model)
            made = self._made(connection, model, in_step)
        current = made._replace(place=place, token=token)
        write_current(folder, current)
        remove_others(folder, current)
        with self._connections.writing() as connection:
            vector_log.trim(connection, place)

    def _made(self, connection: "apsw.Connection", model: int, in_step: InStep | None) -> Current:
        dimensions: Any = connection.execute(
            "SELECT dimensions FROM models WHERE id = ?", (model,)
        ).get
        empty = Current(model, dimensions, 0, "", ())
        kept, chunks = _absorbing(in_step, _number(connection, model)) if in_step else (0, None)
        if in_step is None or chunks is None:
            whole = write_segment(self._index.folder, _all(connection, model), ())
            return empty._replace(segments=(whole,))
        there, matrix = vectors_of(connection, model, chunks)
        gone = np.setdiff1d(chunks, there).tolist()
        new = write_segment(self._index.folder, [_part(there, matrix)], gone)
        return empty._replace(segments=(*in_step.loaded.current.segments[:kept], new))

    def _remove(self) -> None:
        """Without an index the base keeps no log for one."""
        if vector_log.is_there(self._connections.get()):
            with self._connections.writing() as connection:
                vector_log.drop(connection)
        remove_index(self._index.folder)


def remove_index(folder: str) -> None:
    """Remove an index, as far as that can be done."""
    with suppress(OSError):
        for name in (CURRENT, *os.listdir(folder)):
            with suppress(FileNotFoundError):
                os.remove(os.path.join(folder, name))
        os.rmdir(folder)


def _number(connection: "apsw.Connection", model: int) -> int:
    found: Any = connection.execute(f"SELECT count(*) FROM {vector_table(model)}_rowids").get
    return int(found)


def _absorbing(in_step: InStep, number: int) -> "tuple[int, Integers | None]":
    """How many segments stay as they are, and the chunks of a new one; None: all of them."""
    chunks = np.unique(in_step.changed)
    kept = len(in_step.loaded.parts)
    for part in reversed(in_step.loaded.parts):
        if len(part.segment.chunks) > _LARGER * len(chunks):
            break
        chunks = np.union1d(chunks, np.union1d(part.segment.chunks, part.segment.gone))
        kept -= 1
    return (0, None) if kept == 0 or len(chunks) * _PART > number else (kept, chunks)


def _all(connection: "apsw.Connection", model: int) -> Iterator[Part]:
    chunks, parts = [], []
    for numbers, matrix in blocks(connection, model):
        deadline.check()
        chunks.append(numbers)
        parts.append(matrix.copy())
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
