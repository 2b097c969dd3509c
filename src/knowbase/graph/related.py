"""What is related to a document, in tiers; a document stands in the first that it belongs to."""

from collections.abc import Iterator
from typing import NamedTuple

from knowbase.graph.network import LinkedDocuments
from knowbase.graph.walks import documents_of
from knowbase.query.conditions import Compare, Condition, Not, OneOf, Under, both
from knowbase.ranking.proximity import LEAST_SHARED_TAGS, proximities
from knowbase.values.documents import ALL, Document, Page

RELATION_TIERS = ("parent", "sibling", "tag_overlap", "linked")


class RelatedDocument(NamedTuple):
    """A document and what makes it related."""

    document: Document
    relation: str  # of RELATION_TIERS
    shared_tags: int = 0  # of a tag_overlap
    proximity: float = 0.0  # of a linked one


class RelatedMetadata(NamedTuple):
    """How many there are in all, and which relations the results have."""

    total: int
    relationship_types: tuple[str, ...]


class RelatedAnswer(NamedTuple):
    """S4-15: the results in the order of the tiers."""

    results: tuple[RelatedDocument, ...]
    metadata: RelatedMetadata


class _Relatives(NamedTuple):
    id: str
    relation: str
    shared_tags: int = 0
    proximity: float = 0.0


class Relatives(NamedTuple):
    """Finds what is related to one document, among those that are shown."""

    store: LinkedDocuments
    document: Document
    shown: Condition

    def answer(self, limit: int, depth: int) -> RelatedAnswer:
        """No document twice; links are followed for `depth` hops, none for 0."""
        first: dict[str, _Relatives] = {}
        for found in self._tiers(depth):
            if found.id != self.document.id:
                first.setdefault(found.id, found)
        kept = list(first.values())[:limit]
        documents = documents_of(self.store, {found.id for found in kept})
        results = tuple(
            RelatedDocument(documents[found.id], *found[1:])
            for found in kept
            if found.id in documents  # unless another process has just removed it
        )
        types = {result.relation for result in results}
        present = tuple(tier for tier in RELATION_TIERS if tier in types)
        return RelatedAnswer(results, RelatedMetadata(len(first), present))

    def _tiers(self, depth: int) -> Iterator[_Relatives]:
        yield from self._family()
        shared = self.store.sharing_tags(self.document.id, LEAST_SHARED_TAGS, self.shown)
        for one, number in shared:
            yield _Relatives(one, "tag_overlap", shared_tags=number)
        if depth:
            edges = self.store.edges_around((self.document.id,), depth, self.shown)
            near = proximities({self.document.id}, edges, depth)
            for one in sorted(near, key=lambda one: (-near[one], one)):
                yield _Relatives(one, "linked", proximity=near[one])

    def _family(self) -> Iterator[_Relatives]:
        """The parent, and what else lies directly below it, however it is called there."""
        named = self.document.parent
        if not named:
            return
        parent = self.store.find(named)
        names = (named,)
        if parent is not None:
            names = (named, parent.code, parent.id, *((parent.path,) if parent.path else ()))
            itself = both(self.shown, OneOf("id", (parent.id,)))
            yield from (
                _Relatives(one.id, "parent") for one in self.store.documents(itself, Page(1))
            )
        others = Not(Compare("id", "=", self.document.id))
        below = both(self.shown, others, Under(names, direct=True))
        for one in self.store.documents(below, ALL._replace(order="created")):
            yield _Relatives(one.id, "sibling")
