"""Nearest vectors, exactly: an engine proposes, the same arithmetic decides for every engine.

Engines compute in single precision, each in its own order. The products of two single-precision
numbers are exact in double precision, and `fsum` rounds their sum once: the result depends on
the vectors alone.
"""

from collections.abc import Callable, Iterable
from math import fsum
from operator import mul

from knowbase.types import Candidate, Vector

SPARE = 8  # more than asked for, so that rounding at the last place loses nothing
ROUNDING = 1e-6  # more than engines are ever wrong by


def nearest(
    query: Vector, limit: int, propose: Callable[[int], Iterable[tuple[int, Vector]]]
) -> list[Candidate]:
    """The `limit` nearest, ties by number; more are asked for until the last place is certain."""
    wanted = memoryview(query).cast("f").tolist()
    asked = limit + SPARE
    while True:
        proposed = [
            Candidate(chunk, fsum(map(mul, wanted, memoryview(vector).cast("f"))))
            for chunk, vector in propose(asked)
        ]
        ordered = sorted(proposed, key=lambda candidate: (-candidate.score, candidate.chunk))
        if len(proposed) < asked or ordered[limit - 1].score - ordered[-1].score > ROUNDING:
            return ordered[:limit]
        asked *= 4
