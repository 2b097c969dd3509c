"""Fusion: several ranked lists become one. Each function returns what it added and why."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from knowbase.types import Candidate

RRF_K = 60
"""Cormack, Clarke and Büttcher, SIGIR 2009: 60 does well on every collection they tried."""


class Contribution(NamedTuple):
    """One addend of a score: the leg, the place it gave, its own score, and the gain."""

    leg: str
    rank: int
    raw: float
    weight: float
    gain: float


def rrf(
    legs: Mapping[str, Sequence[Candidate]],
    k: float = RRF_K,
    weights: Mapping[str, float] | None = None,
) -> dict[int, tuple[Contribution, ...]]:
    """Reciprocal rank fusion: each leg adds weight / (k + rank), ranks from 1."""
    fused: dict[int, tuple[Contribution, ...]] = {}
    for leg, candidates in legs.items():
        weight = 1.0 if weights is None else weights[leg]
        for rank, candidate in enumerate(candidates, start=1):
            gain = Contribution(leg, rank, candidate.score, weight, weight / (k + rank))
            fused[candidate.chunk] = (*fused.get(candidate.chunk, ()), gain)
    return fused


def best_possible(legs: int, k: float = RRF_K) -> float:
    """The score of a chunk that is first in every leg: no threshold above it can be met."""
    return legs / (k + 1)
