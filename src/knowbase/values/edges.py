"""Links between documents as the graph has them: directed, weighted, each with its origin."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

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


Column: TypeAlias = Any
"""An array of numpy, which is loaded by those alone who make or read one."""


class Wiring(NamedTuple):
    """A graph as columns of numpy: a base may have millions of links."""

    nodes: Sequence[Node]  # by the numbers of the documents
    sources: Column  # for each link, the place of its source among the nodes
    targets: Column
    relations: Column  # … and of its relation among the names
    weights: Column
    names: tuple[str, ...]  # of relations that there are
