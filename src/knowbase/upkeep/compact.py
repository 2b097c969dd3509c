"""As little disk as a base can take, and what takes it."""

from collections.abc import Mapping
from typing import NamedTuple

from knowbase.errors import BaseLocked
from knowbase.store.contract import Store


class Compacted(NamedTuple):
    """What a base took and takes, in bytes."""

    base: str
    before: int
    after: int
    chunks: int
    parts: Mapping[str, int]  # of what it takes now, by what is in it
    dry_run: bool


def compact(store: Store, shown: str, *, dry_run: bool) -> Compacted:
    """Write a base anew, or only say what takes how much."""
    before = sum(store.space().values())
    if not dry_run and not store.compact():
        raise BaseLocked(
            "the base is in use, or the disk has no room for a second copy of it",
            hint="nothing was lost; try again when nobody reads or writes",
        )
    parts = store.space()
    return Compacted(shown, before, sum(parts.values()), store.counts().chunks, parts, dry_run)
