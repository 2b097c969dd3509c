"""What is measured of one question: pure functions of what was found and what should be."""

import math
from collections.abc import Mapping, Sequence

METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5")
LABELS = {
    "ndcg@10": "nDCG@10",
    "recall@10": "recall@10",
    "recall@100": "recall@100",
    "mrr@10": "MRR@10",
    "success@5": "success@5",
}


def measured(
    first: Sequence[str], deep: Sequence[str], relevant: Mapping[str, float]
) -> dict[str, float]:
    """Every metric of one question: `first` is what ten hits showed, `deep` what a hundred did."""
    return {
        "ndcg@10": ndcg(first, relevant, 10),
        "recall@10": recall(first, relevant, 10),
        "recall@100": recall(deep, relevant, 100),
        "mrr@10": reciprocal_rank(first, relevant, 10),
        "success@5": success(first, relevant, 5),
    }


def ndcg(found: Sequence[str], relevant: Mapping[str, float], depth: int) -> float:
    """Normalised discounted cumulative gain; the gain is the judgment itself, as in trec_eval."""
    best = _gain(sorted(relevant.values(), reverse=True)[:depth])
    return _gain([relevant.get(one, 0.0) for one in found[:depth]]) / best if best else 0.0


def _gain(scores: Sequence[float]) -> float:
    return math.fsum(score / math.log2(place + 2) for place, score in enumerate(scores))


def recall(found: Sequence[str], relevant: Mapping[str, float], depth: int) -> float:
    """The share of all that is relevant which is among the first."""
    return len(relevant.keys() & set(found[:depth])) / len(relevant) if relevant else 0.0


def reciprocal_rank(found: Sequence[str], relevant: Mapping[str, float], depth: int) -> float:
    """1 for a right answer in the first place, 1/2 in the second …"""
    places = (place for place, one in enumerate(found[:depth], start=1) if one in relevant)
    return 1 / next(places, math.inf)


def success(found: Sequence[str], relevant: Mapping[str, float], depth: int) -> float:
    """Whether there is a right answer among the first."""
    return float(not relevant.keys().isdisjoint(found[:depth]))


def separation(answered: Sequence[float], unanswerable: Sequence[float]) -> float:
    """How often the best score of a question that has an answer is above that of one that has
    none: 0.5 is chance, 1 means that a threshold could tell them apart."""
    if not answered or not unanswerable:
        return 0.5
    wins = sum((high > low) + 0.5 * (high == low) for high in answered for low in unanswerable)
    return wins / (len(answered) * len(unanswerable))


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0
