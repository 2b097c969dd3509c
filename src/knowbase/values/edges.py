"""Links between documents as the graph has them: directed, weighted, each with its origin."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

WEIGHTS = {
    "RELATED_TO": 1.0,
    "PARENT_OF": 0.9,
    "SUPERSEDES": 0.9,
    "REFERENCES": 0.8,
    "SIMILAR_TO": 1.0,  # times the cosine similarity
}
"""How near a link brings two documents to each other, by what it says."""

OWN = 0.8
"""The same for a relation that only a document's text knows, such as BLOCKED_BY."""


def weight_of(relation: str) -> float:
    return WEIGHTS.get(relation, OWN)


MOST_SIMILAR = 20
"""So many of the nearest a document is linked with, unless the settings say otherwise."""

SYMMETRIC = ("RELATED_TO", "SIMILAR_TO")
"""What is the same in both directions; it is kept once, from the lower number to the higher."""


class Edge(NamedTuple):
    """One link; there is one of each relation between two documents in a direction."""

    source: str  # document ids
    target: str
    relation: str  # of WEIGHTS, or one that a text names
    weight: float
    origin: str  # hierarchy, lifecycle, wiki, markdown, code, vectors, or who said it


RELATIONS = ("RELATED_TO", "REFERENCES")  # what a person or an agent may say of two documents


class Relation(NamedTuple):
    """What a person or an agent says of two documents."""

    source: str
    target: str
    relation: str  # of RELATIONS
    origin: str
    created_at: str = ""  # when it is written, the moment of the change


class Node(NamedTuple):
    """As much of a document as a whole graph has of each."""

    id: str
    code: str
    title: str
    tags: tuple[str, ...]


class Wiring(NamedTuple):
    """A graph as columns: a base may have millions of links."""

    nodes: list[Node]  # by the numbers of the documents
    sources: list[int]  # for each link, the place of its source among the nodes
    targets: list[int]
    relations: list[str]
    weights: list[float]


def wired(known: Mapping[int, Node], edges: Iterable[tuple[int, int, str, float]]) -> Wiring:
    """The links between known documents, which stand in order, by the documents' numbers."""
    place = {seq: at for at, seq in enumerate(known)}
    kept = [edge for edge in edges if edge[0] in place and edge[1] in place]
    sources, targets, relations, weights = zip(*kept, strict=True) if kept else ((), (), (), ())
    at = place.__getitem__
    return Wiring(
        [*known.values()], [*map(at, sources)], [*map(at, targets)], [*relations], [*weights]
    )
