"""Comparing a vector with all stored ones, block by block as sqlite-vec keeps them.

Its own search takes twice as long for them. Loaded only where numpy is: a new process that has
the query's vector from the cache would take longer to load that.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from knowbase.store.rows import damaged
from knowbase.store.sqlite.vector_tables import vector_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw
    from numpy import bool_, floating, integer
    from numpy.typing import NDArray

    from knowbase.values.vectors import Vector

    Floats = NDArray[floating]
    Integers = NDArray[integer]
    Flags = NDArray[bool_]


def blocks(connection: "apsw.Connection", model: int) -> "Iterator[tuple[Integers, Floats]]":
    """Each block's chunks and vectors, which are there until the next block is asked for; the
    places of deleted ones are left out. To be read within a transaction.

    One buffer serves for all: to get memory for each takes as long as to fill it.
    """
    table = vector_table(model)
    dimensions: Any = connection.execute("SELECT dimensions FROM models WHERE id = ?", (model,)).get
    found: Any = connection.execute(
        f"SELECT chunk_id, size, validity, rowids FROM {table}_chunks ORDER BY chunk_id"
    ).fetchall()
    if not found:
        return
    held = f"{table}_vector_chunks00"
    blob = connection.blob_open("main", held, "vectors", found[0][0], False)
    with blob:
        buffer = bytearray()
        for number, size, validity, rowids in found:
            blob.reopen(number)
            if len(rowids) != 8 * size or blob.length() != 4 * size * dimensions:
                raise damaged("a block of vectors has another size")
            if len(buffer) != blob.length():
                buffer = bytearray(blob.length())
            blob.read_into(buffer)
            chunks = np.frombuffer(rowids, "<i8")
            matrix = np.frombuffer(buffer, "<f4").reshape(size, dimensions)
            if validity.count(b"\xff") * 8 != size:
                bits = np.unpackbits(np.frombuffer(validity, "u1"), bitorder="little")
                there = np.flatnonzero(bits[:size])
                chunks, matrix = chunks[there], matrix[there]
            if len(chunks):
                yield chunks, matrix


def vectors_of(
    connection: "apsw.Connection", model: int, chunks: "Integers"
) -> "tuple[Integers, Floats]":
    """Some chunks' vectors, out of the blocks that they lie in; those that there are. To be read
    within a transaction."""
    table = vector_table(model)
    dimensions: Any = connection.execute("SELECT dimensions FROM models WHERE id = ?", (model,)).get
    places: Any = connection.execute(
        "SELECT r.chunk_id, r.chunk_offset, r.rowid FROM json_each(?) wanted"
        f" CROSS JOIN {table}_rowids r ON r.rowid = wanted.value",
        ("[" + ",".join(map(str, chunks.tolist())) + "]",),
    ).fetchall()
    places.sort()
    size = 4 * dimensions
    buffer = bytearray(size * len(places))
    if places:
        held, block = f"{table}_vector_chunks00", places[0][0]
        with connection.blob_open("main", held, "vectors", block, False) as blob:
            length = blob.length()
            for at, (number, offset, _) in enumerate(places):
                if number != block:
                    blob.reopen(number)
                    block, length = number, blob.length()
                if length < size * (offset + 1):
                    raise damaged("a block of vectors has another size")
                blob.seek(size * offset)
                blob.read_into(buffer, size * at, size)
    found = np.array([chunk for _, _, chunk in places], "i8")
    return found, np.frombuffer(buffer, "<f4").reshape(len(places), dimensions)


class Compared:
    """The vectors of a model, and which of their chunks pass."""

    def __init__(
        self,
        connection: "apsw.Connection",
        model: int,
        vector: "Vector",
        among: "Among | None" = None,
    ) -> None:
        self._connection = connection
        self._model = model
        self._query = np.frombuffer(vector, "<f4")
        self._among = among

    def nearest(self, most: int) -> "list[tuple[int, Vector]]":
        """The most similar ones that pass, by single-precision products, with their vectors."""
        best = _Best(most, len(self._query))
        with self._connection:  # one state of the base
            for chunks, matrix in blocks(self._connection, self._model):
                if matrix.shape[1] != len(self._query):
                    raise damaged("the vectors have another length")
                scores = matrix @ self._query
                if self._among is not None:
                    scores[~self._among.passing(chunks)] = -np.inf
                best.take(chunks, scores, matrix)
        return best.found()


class _Best:
    """The best so far; what cannot be among them is not copied."""

    def __init__(self, most: int, dimensions: int) -> None:
        self._most = most
        self._kept = [(np.empty(0, "i8"), np.empty(0, "f4"), np.empty((0, dimensions), "f4"))]
        self._waiting = 0
        self._floor = np.float32(-np.inf)  # what is not above it does not pass, or is worse

    def take(self, chunks: "Integers", scores: "Floats", matrix: "Floats") -> None:
        good = np.flatnonzero(scores > self._floor)
        if not len(good):
            return
        self._kept.append((chunks[good], scores[good], matrix[good]))
        self._waiting += len(good)
        if self._waiting > 2 * self._most:
            self._thin_out()

    def _thin_out(self) -> None:
        chunks, scores, matrix = (np.concatenate(part) for part in zip(*self._kept, strict=True))
        if len(scores) > self._most:
            at = len(scores) - self._most
            first = np.argpartition(scores, at)[at:]
            chunks, scores, matrix = chunks[first], scores[first], matrix[first]
            self._floor = scores.min()
        self._kept, self._waiting = [(chunks, scores, matrix)], 0

    def found(self) -> "list[tuple[int, Vector]]":
        self._thin_out()
        chunks, _, matrix = self._kept[0]
        return [(chunk, row.tobytes()) for chunk, row in zip(chunks.tolist(), matrix, strict=True)]


def numbers_in(listed: str | None) -> "Integers":
    """Numbers with commas between them, made to rise."""
    return np.sort(np.fromstring(listed, dtype="i8", sep=",")) if listed else np.empty(0, "i8")


class Among:
    """Which chunks pass: a flag for each number, the last one for all behind it."""

    def __init__(self, flags: "Flags") -> None:
        self._flags = flags

    @classmethod
    def of(cls, named: "Integers", *, inverted: bool) -> "Among":
        """Those that are named; or, if most pass, all but those."""
        flags = np.full(int(named.max(initial=0)) + 2, inverted)
        flags[named] = not inverted
        return cls(flags)

    @property
    def is_open(self) -> bool:
        """Whether those pass that are behind all that are known."""
        return bool(self._flags[-1])

    @cached_property
    def number(self) -> int:
        return int(np.count_nonzero(self._flags))

    @cached_property
    def named(self) -> "Integers":
        """Those that pass, rising."""
        return np.flatnonzero(self._flags)

    def others(self) -> "Among":
        """All that do not pass here."""
        return Among(~self._flags)

    def are_few(self, most: int) -> bool:
        return not self.is_open and self.number <= most

    def passing(self, chunks: "Integers") -> "Flags":
        if int(chunks.max(initial=0)) < len(self._flags):
            return self._flags[chunks]
        return self._flags[np.minimum(chunks, len(self._flags) - 1)]
