"""A picture of a part of the graph, as SVG."""

import os
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knowbase.errors import InvalidInput
from knowbase.graph.export import Exported, replaced, write_text, xml
from knowbase.graph.network import Network
from knowbase.ranking.proximity import proximities
from knowbase.values.documents import Document
from knowbase.values.edges import Edge

MOST_DRAWN = 120  # documents; the nearest
WIDTH, HEIGHT, MARGIN = 1200, 900, 90
COLOURS = {
    "PARENT_OF": "#3b6fb6",
    "REFERENCES": "#4a4a4a",
    "SUPERSEDES": "#c0392b",
    "RELATED_TO": "#2e8b57",
    "SIMILAR_TO": "#b9a13a",
}
OTHER_COLOUR = "#7d5ba6"  # of relations that only texts know
STEPS = 500  # of the forces that place the documents
NEAREST = 0.01  # how near two of them can be for these
Spots: TypeAlias = NDArray[np.float64]
"""A row a document: x, y."""

_STYLE = "font-family:sans-serif;font-size:12px"


class Spot(NamedTuple):
    """Where something stands in the picture."""

    x: float
    y: float


def draw(network: Network, start: Document, path: str) -> Exported:
    """Draw the documents that are nearest to the start, and the links between them."""
    if not path.lower().endswith(".svg"):
        hint = "a file that ends in .svg"
        raise InvalidInput(f"output cannot be {path!r}", field="output", hint=hint)
    kept = _nearest(network, start)
    spots = _spots(kept)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" style="{_STYLE}">',
        f"<title>{xml(start.code)}: {xml(start.title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *(_line(edge, spots) for edge in kept.edges),
        *(_node(document, spots[document.id], document == start) for document in kept.documents),
        *_legend({edge.relation for edge in kept.edges}),
        "</svg>",
    ]
    replaced(path, lambda new: write_text(new, "\n".join(lines) + "\n"))
    return Exported(os.path.normpath(path), "svg", len(kept.documents), len(kept.edges))


def _nearest(network: Network, start: Document) -> Network:
    near = proximities({start.id}, network.edges, len(network.documents))
    order = sorted(near, key=lambda one: (-near[one], one))[: MOST_DRAWN - 1]
    kept = {start.id, *order}
    return Network(
        tuple(document for document in network.documents if document.id in kept),
        tuple(edge for edge in network.edges if kept.issuperset(edge[:2])),
    )


def _spots(network: Network) -> dict[str, Spot]:
    """Where each document stands: linked ones attract each other, all repel each other
    (Fruchterman and Reingold 1991)."""
    count = len(network.documents)
    pairs = np.array(network.pairs(), dtype=np.int64).reshape(-1, 2)
    at = np.random.default_rng(1).uniform(-1, 1, (count, 2)) * count**0.5
    for step in range(STEPS):
        heat = count**0.5 * (1 - step / STEPS)  # how far one may move now
        at += _limited(_pushed(at) + _pulled(at, pairs), heat)
    columns, rows = at[:, 0].tolist(), at[:, 1].tolist()
    return {
        document.id: Spot(_scaled(column, columns, WIDTH), _scaled(row, rows, HEIGHT))
        for document, column, row in zip(network.documents, columns, rows, strict=True)
    }


def _pushed(at: Spots) -> Spots:
    apart = at[:, None] - at[None, :]
    square = np.maximum((apart**2).sum(axis=2), NEAREST**2)
    found: Spots = (apart / square[:, :, None]).sum(axis=1)
    return found


def _pulled(at: Spots, pairs: NDArray[np.int64]) -> Spots:
    apart = at[pairs[:, 1]] - at[pairs[:, 0]]
    force = apart * np.sqrt((apart**2).sum(axis=1, keepdims=True))
    found = np.zeros_like(at)
    np.add.at(found, pairs[:, 0], force)
    np.add.at(found, pairs[:, 1], -force)
    return found


def _limited(force: Spots, most: float) -> Spots:
    size = np.maximum(np.sqrt((force**2).sum(axis=1, keepdims=True)), NEAREST)
    found: Spots = force * np.minimum(1, most / size)
    return found


def _scaled(value: float, values: list[float], size: int) -> float:
    low, high = min(values), max(values)
    share = (value - low) / (high - low) if high > low else 0.5
    return MARGIN + share * (size - 2 * MARGIN)


def _line(edge: Edge, spots: dict[str, Spot]) -> str:
    one, other = spots[edge.source], spots[edge.target]
    colour = COLOURS.get(edge.relation, OTHER_COLOUR)
    told = xml(f"{edge.relation} ({edge.origin}, {edge.weight:g})")
    return (
        f'<line x1="{one.x:.1f}" y1="{one.y:.1f}" x2="{other.x:.1f}" y2="{other.y:.1f}"'
        f' stroke="{colour}" stroke-width="{0.5 + edge.weight:.2f}"'
        f' stroke-opacity="0.6"><title>{told}</title></line>'
    )


def _node(document: Document, spot: Spot, is_start: bool) -> str:
    fill, radius = ("#c0392b", 9) if is_start else ("#3b6fb6", 6)
    title = document.title if len(document.title) <= 40 else document.title[:39] + "…"
    return (
        f'<g><circle cx="{spot.x:.1f}" cy="{spot.y:.1f}" r="{radius}" fill="{fill}"/>'
        f'<text x="{spot.x + radius + 3:.1f}" y="{spot.y + 4:.1f}">{xml(document.code)}</text>'
        f"<title>{xml(document.code)}: {xml(title)}</title></g>"
    )


def _legend(relations: set[str]) -> list[str]:
    found = []
    others = sorted(relations - COLOURS.keys())
    for row, relation in enumerate([*(name for name in COLOURS if name in relations), *others]):
        colour = COLOURS.get(relation, OTHER_COLOUR)
        y = HEIGHT - 16 - 18 * row
        found.append(
            f'<line x1="16" y1="{y}" x2="44" y2="{y}" stroke="{colour}"'
            f' stroke-width="2"/><text x="52" y="{y + 4}">{xml(relation)}</text>'
        )
    return found
