"""The scale of a profile's scores: what a threshold can mean on it."""

from collections.abc import Sequence

from knowbase.ranking.fusion import RRF_K
from knowbase.ranking.profile import Profile

PLACES_AT_BEST = 2 / (RRF_K + 1)  # S1-13: first place in both legs, fused by places


def best_possible(legs: Sequence[str], profile: Profile) -> float:
    """The score of a chunk that is first in each of these legs, and whose title says what was
    asked. With other boosts, or with signals of the document, there is no such bound."""
    if profile.clamp:
        return 1.0
    if profile.type_weights or profile.access_boost or profile.sector_weights:
        return float("inf")
    weights = profile.weights
    if profile.fusion == "rrf":
        each = {leg: weights.get(leg, 0.0) / (profile.rrf_k + 1) for leg in legs}
    else:
        each = {leg: weights.get(leg, 0.0) for leg in (*legs, "salience", "recency")}
    best = sum(each.values())
    if profile.word_first and "keyword" in legs:
        best += best - each["keyword"]  # at most what has not the word
    return best * (1 + profile.title_boost) * max((1.0, *profile.kind_weights.values()))


def least_possible(legs: Sequence[str], profile: Profile, depth: int) -> float:
    """The score of the last candidate of one leg alone; by scores, or with boosts, it can be
    nothing at all."""
    boosted = (
        profile.type_weights
        or profile.access_boost
        or profile.sector_weights
        or profile.kind_weights
    )
    if profile.fusion != "rrf" or profile.clamp or boosted:
        return 0.0
    return min((profile.weights.get(leg, 0.0) for leg in legs), default=0.0) / (
        profile.rrf_k + depth
    )


def about_threshold(
    threshold: float, legs: Sequence[str], profile: Profile, depth: int, scores: Sequence[float]
) -> str | None:
    """S1-17, C7: what should be known of a threshold that does not mean what it seems to.

    `scores` are those of everything that was ranked.
    """
    if not threshold:
        return None
    best = best_possible(legs, profile)
    if threshold > best:
        return (
            f"no score can reach the threshold {threshold:g} here:"
            f" first place in {' and '.join(legs)} scores {best:.4f}"
        )
    if scores and threshold > max(scores):
        return (
            f"the threshold {threshold:g} leaves out everything:"
            f" the best of {len(scores)} scores {max(scores):.4f}"
        )
    least = least_possible(legs, profile, depth)
    if threshold <= least:
        return (
            f"the threshold {threshold:g} leaves nothing out:"
            f" no score of the profile {profile.name} is below {least:.4f} here"
        )
    if profile.fusion != "rrf" and threshold <= PLACES_AT_BEST:
        reach = f"go up to {best:g}" if best < float("inf") else "have no upper bound"
        return (
            f"the threshold {threshold:g} leaves hardly anything out: scores of the profile"
            f" {profile.name} {reach}; with --profile kb they go up to {PLACES_AT_BEST:.4f}"
        )
    return None
