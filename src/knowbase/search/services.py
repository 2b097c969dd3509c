"""What a search works with."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from knowbase.embed import Embedder
    from knowbase.embed.rerank import Reranker
    from knowbase.query.conditions import Condition
    from knowbase.query.operators import Context
    from knowbase.store.contract import Store
    from knowbase.values.communities import Communities
    from knowbase.values.documents import Document


class Language:
    """What the query language needs to know of a base."""

    def __init__(
        self,
        types: tuple[str, ...],
        find: "Callable[[str], Document | None]",
        nearest: Callable[[str], str],
        has_session: Callable[[str], bool],
        home: str = "",
    ) -> None:
        self.types = types
        self.find = find
        self.nearest = nearest
        self.has_session = has_session
        self.home = home

    def context(self, now: str) -> "Context":
        """What the meaning of an operator depends on."""
        from knowbase.query.operators import Context

        known = self.types, self.find, self.nearest, self.has_session
        return Context(now, *known, home=self.home)


class Second(NamedTuple):
    """What looks a second time, made when a search first wants it; at how many, for how long."""

    reranker: "Callable[[], Reranker]"
    top: int
    budget: float  # seconds


def _nothing() -> None:
    """What is done where nothing is to be done."""


class Services(NamedTuple):
    """A base's store, its query language, and its embedder, made only when a leg asks for it."""

    store: "Store"
    embedder: "Callable[[], Embedder]"
    language: Language
    communities: "Callable[[Condition], Communities] | None" = None  # of the documents that pass
    has_vectors: bool = True  # whether they are to be used
    link: Callable[[], None] = _nothing  # brings links between similar ones in step
    second: Second | None = None  # what looks a second time, if something is set
