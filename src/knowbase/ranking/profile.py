"""Profiles: ranking recipes as data."""

from typing import NamedTuple

from knowbase.ranking.fusion import RRF_K


class Profile(NamedTuple):
    """What a search does with its candidates. `kb` is the document S1's recipe."""

    name: str = "kb"
    rrf_k: float = RRF_K
    depth: int = 3  # candidates a leg, as a multiple of the limit
    unit: str = "chunk"  # or "document": the best chunk of each


KB = Profile()
