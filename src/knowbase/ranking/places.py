"""Another order of the first hits: each takes the score of the place that it comes to.

So scores still fall from hit to hit, and what moved a hit is one more contribution to its score.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from knowbase.ranking.fusion import Contribution
from knowbase.ranking.rank import Ranked, total


class Moved(NamedTuple):
    """A hit on its way to another place: what is said of it, and how much that counts."""

    hit: Ranked
    raw: float
    rank: int | None
    value: float  # what it is ordered by


def mixed(scores: Sequence[float], weight: float) -> list[float]:
    """What each hit is ordered by: its place so far and a second look's score, both standardised,
    so that neither scale decides."""
    places = _standard([-float(place) for place in range(len(scores))])
    looks = _standard(scores)
    return [(1 - weight) * p + weight * s for p, s in zip(places, looks, strict=True)]


def ranks(scores: Sequence[float]) -> list[int]:
    """The place that each score would have, from 1."""
    ordered = sorted(range(len(scores)), key=lambda place: -scores[place])
    found = [0] * len(scores)
    for rank, place in enumerate(ordered, start=1):
        found[place] = rank
    return found


def farthest_first(
    scores: Sequence[float], alike: Sequence[Sequence[float]], weight: float
) -> list[int]:
    """Places in the order of maximal marginal relevance (Carbonell and Goldstein 1998): each next
    one is good, and unlike all before it."""
    values = _shares(scores)
    left, chosen = list(range(len(scores))), list[int]()
    while left:
        best = max(
            left,
            key=lambda one: (
                (1 - weight) * values[one]
                - weight * max((alike[one][other] for other in chosen), default=0.0),
                -one,
            ),
        )
        left.remove(best)
        chosen.append(best)
    return chosen


def placed(moved: Sequence[Moved], order: Sequence[int], leg: str, clamp: bool) -> list[Ranked]:
    """The hits in this order, each with the score of its new place."""
    scores = [one.hit.score for one in moved]
    return [_with(moved[old], scores[new], leg, clamp) for new, old in enumerate(order)]


def _with(one: Moved, score: float, leg: str, clamp: bool) -> Ranked:
    hit = one.hit
    factor = math.prod(part.value for part in hit.factors) or 1.0
    gain = score / factor - sum(part.gain for part in hit.contributions)
    parts = (*hit.contributions, Contribution(leg, one.rank, one.raw, gain, 1.0, gain))
    return hit._replace(score=total(parts, hit.factors, clamp), contributions=parts)


def _standard(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / spread if spread else 0.0 for value in values]


def _shares(values: Sequence[float]) -> list[float]:
    """Of the best."""
    best = max(values)
    return [value / best if best > 0 else 1.0 for value in values]
