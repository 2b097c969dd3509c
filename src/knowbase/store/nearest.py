"""Nearest vectors, exactly: an engine proposes, the same arithmetic decides for every engine.

Engines compute in single precision, each in its own order. Here the products of two
single-precision numbers are exact in double precision, and are added up the same way whatever
else was proposed: the result depends on the vectors alone.
"""

import sys
from math import fsum
from operator import mul
from typing import TYPE_CHECKING

from knowbase.values.documents import Candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy import float64
    from numpy.typing import NDArray

    from knowbase.values.vectors import Vector

    Numbers = NDArray[float64]

SPARE = 8  # more than asked for, so that rounding at the last place loses nothing
ROUNDING = 1e-6  # more than engines are ever wrong by


def nearest(
    query: "Vector", limit: int, propose: "Callable[[int], Iterable[tuple[int, Vector]]]"
) -> list[Candidate]:
    """The `limit` nearest, ties by number; more are asked for until the last place is certain."""
    asked = limit + SPARE
    while True:
        found = list(propose(asked))
        scores = similarities(query, [vector for _, vector in found])
        proposed = [
            Candidate(chunk, score) for (chunk, _), score in zip(found, scores, strict=True)
        ]
        ordered = sorted(proposed, key=lambda candidate: (-candidate.score, candidate.chunk))
        if len(proposed) < asked or ordered[limit - 1].score - ordered[-1].score > ROUNDING:
            return ordered[:limit]
        asked *= 4


def similarities(query: "Vector", vectors: "Sequence[Vector]") -> list[float]:
    """The product of the query with each vector, rounded once.

    By numpy where it is loaded, three times as fast; a new process that has the query's vector
    from the cache would take longer to load it than to add up. Both give the same to the last
    bit, but where numbers are made up to be a trifle beside the middle between two results.
    """
    if "numpy" not in sys.modules or not vectors or not query:
        wanted = memoryview(query).cast("f").tolist()
        return [fsum(map(mul, wanted, memoryview(vector).cast("f"))) for vector in vectors]
    import numpy as np

    rows = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
    return _row_sums(rows.astype(np.float64) * np.frombuffer(query, "<f4"))


def _row_sums(rows: "Numbers") -> list[float]:
    """The sum of each row: halves are added until one number is left, and what rounding takes
    away is kept aside and added last."""
    kept = rows[:, 0] * 0.0
    while rows.shape[1] > 1:
        half = rows.shape[1] // 2
        total, lost = _added(rows[:, :half], rows[:, half : 2 * half])
        kept = kept + lost.sum(axis=1)
        if rows.shape[1] % 2:
            total[:, 0], lost = _added(total[:, 0], rows[:, -1])
            kept = kept + lost
        rows = total
    sums: list[float] = (rows[:, 0] + kept).tolist()
    return sums


def _added(one: "Numbers", other: "Numbers") -> "tuple[Numbers, Numbers]":
    """The rounded sums, and what the rounding took from each (Knuth's TwoSum)."""
    total = one + other
    part = total - one
    return total, (one - (total - part)) + (other - part)
