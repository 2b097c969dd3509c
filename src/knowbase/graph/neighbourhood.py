"""What lies around a document: so much of it as can be looked at, the nearest first."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from knowbase.graph.network import LinkedDocuments
from knowbase.graph.walks import documents_of
from knowbase.query.conditions import Condition, OneOf, Tagged, both
from knowbase.ranking.proximity import DECAY
from knowbase.values.documents import Document
from knowbase.values.edges import Edge
from knowbase.values.kinds import clean_tags

MOST_DEAD = 200  # links to nowhere that are named


class Wanted(NamedTuple):
    """How much of it, and which documents and links."""

    depth: int = 1
    limit: int = 60
    relations: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    strength: float = 0.0
    include: tuple[str, ...] = ()

    def passes(self, edge: Edge) -> bool:
        named = {name.upper() for name in self.relations}
        return edge.weight >= self.strength and (not named or edge.relation in named)


class NearDocument(NamedTuple):
    """A document, how many links away it is, and how many others it is linked with."""

    id: str
    code: str
    title: str
    type: str
    path: str | None
    depth: int
    degree: int
    more: int  # of those that it is linked with and that are not here


class NearLink(NamedTuple):
    """A link between two of the documents, by their ids."""

    source: str
    target: str
    relation: str
    strength: float


class DeadLink(NamedTuple):
    """What a text names, and nothing is called."""

    source: str
    text: str
    count: int  # type: ignore[assignment]  # what the page calls it


class Neighbourhood(NamedTuple):
    """The documents nearest to one, and the links between them."""

    centre: str
    nodes: tuple[NearDocument, ...]
    links: tuple[NearLink, ...]
    dead: tuple[DeadLink, ...]
    dead_total: int
    left_out: int  # documents that are as near, and not here


def neighbourhood(
    store: LinkedDocuments, start: Document, shown: Condition, wanted: Wanted
) -> Neighbourhood:
    """One query a hop and one for what is around them all: a hub costs what its links do."""
    passing = both(shown, *_filters(wanted))
    depths, nearness = {start.id: 0}, {start.id: 1.0}
    seen: set[str] = set()
    for hop in range(1, wanted.depth + 1):
        last = [one for one, depth in depths.items() if depth == hop - 1]
        edges = filter(wanted.passes, store.edges_around(last, 1, passing) if last else ())
        found = _reached(edges, nearness, depths)
        seen |= found.keys()
        room = wanted.limit - len(depths)
        nearest = sorted(found, key=lambda one: (-found[one], one))[: max(0, room)]
        depths |= dict.fromkeys(nearest, hop)
        nearness |= {one: found[one] for one in nearest}
    documents = documents_of(store, depths)
    kept = {one: depth for one, depth in depths.items() if one in documents}
    around = list(filter(wanted.passes, store.edges_around(list(kept), 1, passing)))
    dead = _dead(store, list(kept))
    return Neighbourhood(
        start.id,
        tuple(_nodes(kept, documents, nearness, around)),
        tuple(NearLink(*edge[:4]) for edge in around if kept.keys() >= {edge.source, edge.target}),
        tuple(dead[:MOST_DEAD]),
        sum(one.count for one in dead),
        len(seen - kept.keys()),
    )


def _filters(wanted: Wanted) -> list[Condition]:
    types: list[Condition] = [OneOf("type", wanted.types)] if wanted.types else []
    tags: list[Condition] = [Tagged(clean_tags(wanted.tags), "all")] if wanted.tags else []
    return types + tags


def _reached(
    edges: Iterable[Edge], nearness: dict[str, float], known: Collection[str]
) -> dict[str, float]:
    """What one link more leads to, and how near that is: the best way counts."""
    found: dict[str, float] = {}
    for edge in edges:
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if here in nearness and there not in known:
                value = nearness[here] * edge.weight * DECAY
                found[there] = max(value, found.get(there, 0.0))
    return found


def _nodes(
    kept: dict[str, int],
    documents: dict[str, Document],
    nearness: dict[str, float],
    around: Iterable[Edge],
) -> Iterable[NearDocument]:
    others: dict[str, set[str]] = {one: set() for one in kept}
    for edge in around:
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if here in others and here != there:
                others[here].add(there)
    for one in sorted(kept, key=lambda one: (kept[one], -nearness[one], documents[one].seq)):
        document = documents[one]
        yield NearDocument(
            one,
            document.code,
            document.title,
            document.type,
            document.path,
            kept[one],
            len(others[one]),
            len(others[one] - kept.keys()),
        )


def _dead(store: LinkedDocuments, documents: Collection[str]) -> list[DeadLink]:
    links = store.unresolved_in(documents)
    found = Counter((one, link.target) for one in documents for link in links.get(one, ()))
    return [DeadLink(source, text, count) for (source, text), count in found.items()]
