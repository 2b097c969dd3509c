"""How near documents are to each other by their links: nearer by few hops and strong links."""

from collections.abc import Collection, Mapping, Sequence

from knowbase.values.edges import Edge

DECAY = 0.5  # what is left after each hop, beside the link's own weight
TAGS_WEIGHT = 0.5  # of a document that has all of the tags
LEAST_SHARED_TAGS = 2  # S4-15: a single tag in common says little


def proximities(starts: Collection[str], edges: Sequence[Edge], depth: int) -> dict[str, float]:
    """For each document within `depth` hops of the starts, in any direction, its best path:
    the product of weight × DECAY over the links."""
    beside: dict[str, list[tuple[str, float]]] = {}
    for edge in edges:
        beside.setdefault(edge.source, []).append((edge.target, edge.weight * DECAY))
        beside.setdefault(edge.target, []).append((edge.source, edge.weight * DECAY))
    best = dict.fromkeys(starts, 1.0)
    latest = dict(best)
    for _ in range(depth):
        nearer: dict[str, float] = {}
        for here, value in latest.items():
            for there, factor in beside.get(here, ()):
                if value * factor > max(best.get(there, 0.0), nearer.get(there, 0.0)):
                    nearer[there] = value * factor
        best.update(nearer)
        latest = nearer
    return {document: value for document, value in best.items() if document not in starts}


def with_tags(
    near: Mapping[str, float], shared: Sequence[tuple[str, int]], tags: int
) -> dict[str, float]:
    """C25: tags in common bring documents near too, counted when it is asked."""
    found = dict(near)
    for document, number in shared:
        found[document] = max(found.get(document, 0.0), DECAY * TAGS_WEIGHT * number / tags)
    return found
