"""From candidates to an ordered list: fuse, collapse, order."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from knowbase.ranking.fusion import Contribution, rrf
from knowbase.ranking.profile import Profile
from knowbase.types import Candidate, Passage


class Ranked(NamedTuple):
    """A chunk with its score, the contributions that add up to it, and what it stands for."""

    chunk: int
    score: float
    contributions: tuple[Contribution, ...]
    more: int = 0  # further matching chunks of the same document, when the unit is documents


def rank(
    legs: Mapping[str, Sequence[Candidate]], passages: Mapping[int, Passage], profile: Profile
) -> list[Ranked]:
    """Best first; ties by newest document, then by seq, then by place in the document."""
    fused = rrf(legs, profile.rrf_k)
    ranked = [
        Ranked(chunk, sum(gain.gain for gain in gains), gains)
        for chunk, gains in fused.items()
        if chunk in passages
    ]
    # Stable sorts, the least telling key first.
    ranked.sort(key=lambda hit: (passages[hit.chunk].document.seq, hit.chunk))
    ranked.sort(key=lambda hit: passages[hit.chunk].document.updated_at, reverse=True)
    ranked.sort(key=lambda hit: hit.score, reverse=True)
    return _best_of_documents(ranked, passages) if profile.unit == "document" else ranked


def _best_of_documents(ranked: list[Ranked], passages: Mapping[int, Passage]) -> list[Ranked]:
    best: dict[int, Ranked] = {}
    for hit in ranked:
        seq = passages[hit.chunk].document.seq
        first = best.get(seq)
        best[seq] = first._replace(more=first.more + 1) if first else hit
    return list(best.values())
