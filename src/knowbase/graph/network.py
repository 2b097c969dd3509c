"""A graph at hand: documents and the links between them."""

from typing import NamedTuple, Protocol

from knowbase.store.contract import DocumentStore, GraphStore
from knowbase.values.documents import Document
from knowbase.values.edges import SYMMETRIC, Edge


class LinkedDocuments(DocumentStore, GraphStore, Protocol):
    """Where a graph is read from: documents and the links between them."""


class Network(NamedTuple):
    """Documents in the order of their numbers, and links between them."""

    documents: tuple[Document, ...]
    edges: tuple[Edge, ...]

    def places(self) -> dict[str, int]:
        """Where each document stands, by its id."""
        return {document.id: place for place, document in enumerate(self.documents)}

    def pairs(self) -> list[tuple[int, int]]:
        """Each link as the places of its ends."""
        place = self.places()
        return [(place[edge.source], place[edge.target]) for edge in self.edges]

    def directed(self) -> list[Edge]:
        """Every link in its direction; what holds both ways is there both ways."""
        return [
            edge
            for one in self.edges
            for edge in (
                (one, one._replace(source=one.target, target=one.source))
                if one.relation in SYMMETRIC
                else (one,)
            )
        ]
