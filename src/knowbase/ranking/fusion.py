"""Fusion: several ranked lists become one. Each function returns what it added and why."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from knowbase.values.documents import Candidate

RRF_K = 60
"""Cormack, Clarke and Büttcher, SIGIR 2009: 60 does well on every collection they tried."""


class Contribution(NamedTuple):
    """One addend of a score: `gain` is `weight` times `value`."""

    leg: str
    rank: int | None  # the place that the leg gave; none for a signal of the document itself
    raw: float  # the leg's own score: BM25, cosine similarity, …
    value: float  # what the fusion makes of it
    weight: float
    gain: float


Fused = dict[int, tuple[Contribution, ...]]
Legs = Mapping[str, Sequence[Candidate]]


def rrf(legs: Legs, k: float = RRF_K, weights: Mapping[str, float] | None = None) -> Fused:
    """Reciprocal rank fusion: each leg adds weight / (k + rank), ranks from 1."""
    values = {leg: [1 / (k + rank) for rank in _ranks(found)] for leg, found in legs.items()}
    return _fused(legs, values, weights if weights is not None else dict.fromkeys(legs, 1.0))


def linear(legs: Legs, weights: Mapping[str, float], keyword_full_at: float) -> Fused:
    """S2-13: the scores themselves; BM25 counts fully from `keyword_full_at` on (S2-11)."""
    values = {
        leg: [
            min(1.0, abs(one.score) / keyword_full_at) if leg == "keyword" else one.score
            for one in found
        ]
        for leg, found in legs.items()
    }
    return _fused(legs, values, weights)


def minmax(legs: Legs, weights: Mapping[str, float]) -> Fused:
    """S3-36: each leg's scores stretched to 0..1; equal ones count fully (C28)."""
    values = {leg: _stretched([one.score for one in found]) for leg, found in legs.items()}
    return _fused(legs, values, weights)


def lift(legs: Legs, weights: Mapping[str, float], depth: int) -> Fused:
    """How far each score stands above its leg's background: the score of the last candidate.

    Words: as a share of the best score. They weigh the less the more alike the scores are, as
    then they tell little apart. Meaning: as a share of the way to a perfect similarity. With
    fewer than `depth` candidates, the missing ones count as a background of nothing.
    """
    values, weighed = {}, dict(weights)
    for leg, found in legs.items():
        scores = [one.score for one in found]
        last = min(scores, default=0.0)
        floor = min(last, last * len(scores) / depth) if len(scores) < depth else last
        reach = max(scores, default=0.0) if leg == "keyword" else 1.0 - floor
        values[leg] = [(score - floor) / reach if reach > 0 else 0.0 for score in scores]
        if leg == "keyword":
            weighed[leg] = weights.get(leg, 0.0) * max(values[leg], default=0.0) ** 2
    return _fused(legs, values, weighed)


def _stretched(scores: Sequence[float]) -> list[float]:
    if not scores:
        return []
    low, high = min(scores), max(scores)
    if high == low:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def _ranks(found: Sequence[Candidate]) -> list[int]:
    """Places from 1; equal scores share one, so that no accident of storage decides (C29)."""
    ranks: list[int] = []
    for place, one in enumerate(found, start=1):
        tied = place > 1 and one.score == found[place - 2].score
        ranks.append(ranks[-1] if tied else place)
    return ranks


def _fused(legs: Legs, values: Mapping[str, list[float]], weights: Mapping[str, float]) -> Fused:
    fused: Fused = {}
    for leg, candidates in legs.items():
        weight = weights.get(leg, 0.0)
        for rank, one, value in zip(_ranks(candidates), candidates, values[leg], strict=True):
            part = Contribution(leg, rank, one.score, value, weight, weight * value)
            fused[one.chunk] = (*fused.get(one.chunk, ()), part)
    return fused
