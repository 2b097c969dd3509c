"""Walks over links: those of one document, and the way from one to another."""

from collections.abc import Collection
from typing import NamedTuple

from knowbase.graph.network import LinkedDocuments
from knowbase.query.conditions import FORGOTTEN, Condition, Not, OneOf
from knowbase.ranking.proximity import DECAY
from knowbase.store.contract import DocumentStore
from knowbase.values.documents import Document, Page
from knowbase.values.edges import Edge
from knowbase.values.reading import Link

BATCH = 1000  # documents that are asked for by name at once
MOST_LINKS = 12  # of a path


class LinkLine(NamedTuple):
    """A link as seen from one of its ends."""

    relation: str
    direction: str  # "to" or "from" the other document
    document: Document
    weight: float
    origin: str


class DocumentLinks(NamedTuple):
    """The links of one document; hidden documents are shown as such."""

    document: Document
    links: tuple[LinkLine, ...]
    unresolved: tuple[Link, ...]  # named in its text, and nothing is called so (yet)


class Path(NamedTuple):
    """The way from one document to another; no steps when there is none."""

    source: Document
    target: Document
    found: bool
    steps: tuple[LinkLine, ...]
    proximity: float = 0.0


def links_of(store: LinkedDocuments, document: Document) -> DocumentLinks:
    """What the graph has of one document."""
    edges = store.edges_around((document.id,), 1, Not(FORGOTTEN))
    others = documents_of(store, {_other(edge, document.id) for edge in edges})
    lines = [_line(edge, document.id, others) for edge in edges]
    lines.sort(key=lambda line: (line.direction != "to", line.relation, line.document.seq))
    return DocumentLinks(document, tuple(lines), tuple(store.unresolved(document.id)))


def documents_of(store: DocumentStore, ids: Collection[str]) -> dict[str, Document]:
    """Documents by their ids, in the order of their numbers."""
    wanted = list(ids)
    found: list[Document] = []
    for start in range(0, len(wanted), BATCH):
        some = tuple(wanted[start : start + BATCH])
        found += store.documents(OneOf("id", some), Page(len(some)))
    return {one.id: one for one in sorted(found, key=lambda one: one.seq)}


def path_between(
    store: LinkedDocuments, source: Document, target: Document, shown: Condition
) -> Path:
    """The fewest links; among as few, the strongest. One query a hop."""
    came: dict[str, Edge | None] = {source.id: None}
    latest = {source.id: 1.0}
    for _ in range(MOST_LINKS):
        if target.id in came or not latest:
            break
        latest = _next(store.edges_around(latest, 1, shown), latest, came)
    if target.id not in came:
        return Path(source, target, False, ())
    edges: list[tuple[str, Edge]] = []  # each with where it starts
    here = target.id
    while (edge := came[here]) is not None:
        here = _other(edge, here)
        edges.insert(0, (here, edge))
    known = documents_of(store, {end for _, edge in edges for end in edge[:2]})
    proximity = 1.0
    for _, edge in edges:
        proximity *= edge.weight * DECAY
    steps = tuple(_line(edge, start, known) for start, edge in edges)
    return Path(source, target, True, steps, proximity if steps else 1.0)


def _next(
    edges: Collection[Edge], latest: dict[str, float], came: dict[str, Edge | None]
) -> dict[str, float]:
    """The documents one hop further, and in `came` by which link each was reached."""
    found: dict[str, float] = {}
    for edge in edges:
        for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
            if here not in latest or (there in came and there not in found):
                continue
            value = latest[here] * edge.weight
            if value > found.get(there, 0.0):
                found[there] = value
                came[there] = edge
    return found


def _other(edge: Edge, document: str) -> str:
    return edge.target if edge.source == document else edge.source


def _line(edge: Edge, document: str, known: dict[str, Document]) -> LinkLine:
    direction = "to" if edge.source == document else "from"
    return LinkLine(
        edge.relation, direction, known[_other(edge, document)], edge.weight, edge.origin
    )
