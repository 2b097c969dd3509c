"""Bringing in step what is derived, for whoever reads it or has time: links, and an index."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Protocol, TypeAlias

from knowbase import deadline
from knowbase.errors import (
    BaseLocked,
    BaseReadOnly,
    DiskFull,
    NotAllowed,
    TookTooLong,
    VectorsUnavailable,
)
from knowbase.logs import log
from knowbase.store.contract import GraphStore, VectorStore

Tell: TypeAlias = Callable[[int, int], None]
"""Told how many of how many are done."""

_LATER = (BaseLocked, BaseReadOnly, DiskFull, NotAllowed, TookTooLong, VectorsUnavailable)


class Likeness(Protocol):
    """What the settings say of similar documents."""

    @property
    def embed_vectors(self) -> bool: ...

    @property
    def graph_similarity(self) -> float: ...

    @property
    def graph_most_similar(self) -> int: ...


def link_or_later(store: GraphStore, settings: Likeness) -> None:
    """Compare what was written since, so that nobody who writes waits for it. When another
    writes, when space or time runs out, and for whoever may only read, the next one does it.
    It takes half of the time that there is: the rest is for what it is done for."""
    if not settings.embed_vectors:
        return
    left = deadline.seconds_left()
    try:
        with nullcontext() if left is None else deadline.within(left / 2):
            store.link_similar(settings.graph_similarity, settings.graph_most_similar)
    except _LATER as error:
        log("info", "similar documents are linked later", reason=error.message)


def index_or_later(store: VectorStore, tell: Tell | None = None) -> None:
    """Bring the index of vectors in step, once nobody waits; else the next one does it."""
    try:
        store.renew_index(tell=tell)
    except _LATER as error:
        log("info", "the index of vectors is brought in step later", reason=error.message)
