"""Comparing a vector with all stored ones, block by block as sqlite-vec keeps them.

Its own search takes twice as long for them. Loaded only where numpy is: a new process that has
the query's vector from the cache would take longer to load that.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from knowbase.store.rows import damaged
from knowbase.store.sqlite.vector_tables import stored_vectors, vector_table

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


class Compared:
    """Every chunk that passes, and how near it is, by single-precision products."""

    def __init__(
        self,
        connection: "apsw.Connection",
        model: int,
        vector: "Vector",
        among: "Among | None" = None,
    ) -> None:
        self._connection = connection
        self._table = vector_table(model)
        query = np.frombuffer(vector, "<f4")
        chunks, scores = [np.empty(0, dtype="i8")], [np.empty(0, dtype="f4")]
        with connection:  # one state of the base
            for numbers, matrix in blocks(connection, model):
                if matrix.shape[1] != len(query):
                    raise damaged("the vectors have another length")
                chunks.append(numbers)
                scores.append(matrix @ query)
        self._chunks, self._scores = np.concatenate(chunks), np.concatenate(scores)
        if among is not None:
            passing = among.passing(self._chunks)
            self._chunks, self._scores = self._chunks[passing], self._scores[passing]

    def nearest(self, most: int) -> "list[tuple[int, Vector]]":
        """The most similar ones, with their vectors."""
        places = np.arange(len(self._scores))
        if most < len(places):
            places = np.argpartition(self._scores, len(places) - most)[len(places) - most :]
        wanted = "[" + ",".join(map(str, self._chunks[places].tolist())) + "]"
        found: Any = self._connection.execute(stored_vectors(self._table), (wanted,)).fetchall()
        return list(found)


class Among:
    """The chunks that pass, by their numbers; or, if most do, those that do not."""

    def __init__(self, numbers: str, *, inverted: bool) -> None:
        self._numbers = np.fromstring(numbers, dtype="i8", sep=",") if numbers else None
        self._inverted = inverted

    def passing(self, chunks: "Integers") -> "Flags":
        if self._numbers is None:
            return np.full(len(chunks), self._inverted)
        return np.isin(chunks, self._numbers, invert=self._inverted)
