"""Comparing a vector with all stored ones, block by block.

Loaded only where numpy is, or where there are so many that it is worth to load it.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from knowbase.store.rows import damaged
from knowbase.store.sqlite.vector_tables import stored_vectors, vector_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import apsw
    from numpy import bool_, floating, integer
    from numpy.typing import NDArray

    from knowbase.values.vectors import Vector

    Floats = NDArray[floating]
    Integers = NDArray[integer]
    Flags = NDArray[bool_]
    Blocks = Iterable[tuple[Integers, Floats]]


BLOCK = 512  # vectors that are read at once: as floats they fit into the processor's cache
_FEW = 1_000  # that pass are each read for itself
_RARE = 0.25  # of floats that pass: fewer are copied sooner than all are compared
SMALL = 20_000  # chunks: their vectors are kept in memory, 15 MB of 384 numbers each
_FINITE, _INFINITE = np.int16(0x7FFF), 0x7C00
_MOVED = np.int32(0x8FFFFFFF - 2**32)  # sign, exponent and fraction
_EXPONENTS = np.float32(2.0**112)


def blocks(connection: "apsw.Connection", model: int) -> "Iterator[tuple[Integers, Floats]]":
    """Some chunks and their vectors at a time, in order. To be read within a transaction."""
    return ((chunks, floats(halves)) for chunks, halves in halves_of(connection, model))


def halves_of(connection: "apsw.Connection", model: int) -> "Iterator[tuple[Integers, Floats]]":
    """The same, at half precision as they are kept.

    SQLite puts the vectors of a block together: to get each as a value of its own takes twice as
    long.
    """
    dimensions = dimensions_of(connection, model)
    sql = (
        "SELECT group_concat(chunk_id), CAST(group_concat(embedding, '') AS BLOB) FROM (SELECT"
        f" chunk_id, embedding FROM {vector_table(model)} WHERE chunk_id > ?"
        f" ORDER BY chunk_id LIMIT {BLOCK})"
    )
    last: int = np.iinfo("i8").min
    while True:
        found: Any = connection.execute(sql, (last,)).fetchall()
        listed, held = found[0]
        if listed is None:
            return
        chunks = np.fromstring(listed, "i8", sep=",")
        if len(held) != 2 * dimensions * len(chunks):
            raise damaged("a vector has another size")
        yield chunks, np.frombuffer(held, "<f2").reshape(len(chunks), dimensions)
        last = int(chunks[-1])


def floats(halves: "Floats") -> "Floats":
    """Half precision as single precision: the bits are moved to where they belong and multiplied
    by what the exponents differ by, a quarter of the time that numpy takes for it. What is single
    precision already stays as it is."""
    if halves.dtype == np.float32:
        return halves
    bits = halves.view("<i2")
    if (bits & _FINITE).max(initial=0) >= _INFINITE:
        return halves.astype("f4")
    moved = bits.astype("<i4")
    moved <<= 13
    moved &= _MOVED
    found: Floats = moved.view("<f4")
    found *= _EXPONENTS
    return found


def vectors_of(
    connection: "apsw.Connection", model: int, chunks: "Integers"
) -> "tuple[Integers, Floats]":
    """Some chunks' vectors; those that there are. To be read within a transaction."""
    listed = "[" + ",".join(map(str, chunks.tolist())) + "]"
    rows: Any = connection.execute(stored_vectors(model), (listed,)).fetchall()
    found, halves = halves_in(connection, model, rows)
    return found, floats(halves)


def halves_in(
    connection: "apsw.Connection", model: int, rows: "Sequence[tuple[int, bytes]]"
) -> "tuple[Integers, Floats]":
    """Chunks and their vectors, as rows have them."""
    dimensions = dimensions_of(connection, model)
    held = b"".join(vector for _, vector in rows)
    if len(held) != 2 * dimensions * len(rows):
        raise damaged("a vector has another size")
    found = np.array([chunk for chunk, _ in rows], "i8")
    return found, np.frombuffer(held, "<f2").reshape(len(rows), dimensions)


def dimensions_of(connection: "apsw.Connection", model: int) -> int:
    found: Any = connection.execute("SELECT dimensions FROM models WHERE id = ?", (model,)).get
    return int(found)


class Compared:
    """The vectors of a model, and which of their chunks pass."""

    def __init__(
        self,
        connection: "apsw.Connection",
        model: int,
        vector: "Vector",
        among: "Among | None" = None,
        in_memory: "Callable[[bool], Blocks | None]" = lambda _: None,
    ) -> None:
        self._connection = connection
        self._model = model
        self._vector = vector
        self._query = np.frombuffer(vector, "<f4")
        self._among = among
        self._in_memory = in_memory  # told whether it is worth to read all

    def nearest(self, most: int) -> "list[tuple[int, Vector]]":
        """The most similar ones that pass, by single-precision products, with their vectors."""
        with self._connection:  # one state of the base
            if dimensions_of(self._connection, self._model) != len(self._query):
                raise damaged("the vectors have another length")
            is_few = self._among is not None and self._among.are_few(_FEW)
            blocks = self._in_memory(not is_few)
            if self._among is not None and is_few and blocks is None:
                blocks = [vectors_of(self._connection, self._model, self._among.named)]
            if blocks is None:
                blocks = halves_of(self._connection, self._model)
            found = best_of(blocks, self._vector, most, self._among)
        return found  # noqa: RET504 - within, it would not be a return for type checkers


def best_of(
    blocks: "Iterable[tuple[Integers, Floats]]", vector: "Vector", most: int, among: "Among | None"
) -> "list[tuple[int, Vector]]":
    """The most similar ones that pass, by single-precision products, with their vectors."""
    query = np.frombuffer(vector, "<f4")
    best = _Best(most, len(query))
    for chunks, halves in blocks:
        flags = None if among is None else among.passing(chunks)
        if flags is not None and (
            halves.dtype != np.float32 or np.count_nonzero(flags) < _RARE * len(flags)
        ):
            chunks, halves, flags = chunks[flags], halves[flags], None
        matrix = floats(halves)
        scores = _products(matrix, query)
        if flags is not None:
            scores[~flags] = -np.inf
        best.take(chunks, scores, matrix)
    return best.found()


def _products(matrix: "Floats", query: "Floats") -> "Floats":
    """Of so many rows at once as one thread has the product of: more would wait for others."""
    products = np.empty(len(matrix), "f4")
    for start in range(0, len(matrix), BLOCK):
        np.matmul(matrix[start : start + BLOCK], query, out=products[start : start + BLOCK])
    return products


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
        if len(good) > self._most:
            good = good[np.argpartition(scores[good], -self._most)[-self._most :]]
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

    @classmethod
    def before(cls, end: int, without: "Integers") -> "Among":
        """Those with lower numbers, but for some of them."""
        flags = np.ones(end + 1, bool)
        flags[without] = flags[end] = False
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

    def and_(self, other: "Among") -> "Among":
        """Those that pass both."""
        numbers = np.arange(max(len(self._flags), len(other._flags)))
        return Among(self.passing(numbers) & other.passing(numbers))

    def are_few(self, most: int) -> bool:
        return not self.is_open and self.number <= most

    def passing(self, chunks: "Integers") -> "Flags":
        if int(chunks.max(initial=0)) < len(self._flags):
            return self._flags[chunks]
        return self._flags[np.minimum(chunks, len(self._flags) - 1)]


def among_listed(listed: str | None) -> Among:
    """Those that are named, with commas between them."""
    return Among.of(numbers_in(listed), inverted=False)
