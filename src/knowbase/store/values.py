"""Small values that a store is asked with."""

from typing import NamedTuple


class FieldWeights(NamedTuple):
    """How much a word counts in each indexed field."""

    title: float = 1.0
    heading: float = 1.0
    text: float = 1.0
    terms: float = 1.0


class Page(NamedTuple):
    """Which stretch of a listing, always in the same order."""

    limit: int = 50
    offset: int = 0
    order: str = "newest"  # or: created, created last, expires


ALL = Page(limit=2**62)
