"""The links of the plain store: found anew from what is stored, each time."""

from collections.abc import Collection
from math import fsum

from knowbase.store.neighbours import DIGITS
from knowbase.store.plain.state import State
from knowbase.text.names import Mention, Named, mentions_of, names_of_document
from knowbase.values.documents import Document
from knowbase.values.edges import WEIGHTS, Edge
from knowbase.values.reading import Link
from knowbase.values.vectors import Model, unpack


def resolved(state: State) -> list[Edge]:
    """What documents say of each other, and what was said of them; one of each relation."""
    found: dict[tuple[str, str, str], Edge] = {}
    for edge in (*_mentioned(state), *_said(state)):
        known = found.get(edge[:3])
        found[edge[:3]] = edge if known is None else min(known, edge)
    return [edge for edge in found.values() if edge.source != edge.target]


def _mentioned(state: State) -> list[Edge]:
    found = []
    for document in state.documents.values():
        led = set[Mention]()
        for mention in sorted(_mentions(state, document), key=lambda one: one.reach):
            target, written = _target(state, mention), mention._replace(name="", reach=0)
            if target is not None and written not in led:
                led.add(written)
                ends = (target, document.id) if mention.inverse else (document.id, target)
                found.append(Edge(*ends, mention.relation, mention.weight, mention.origin))
    return found


def _said(state: State) -> list[Edge]:
    return [
        Edge(r.source, r.target, r.relation, WEIGHTS[r.relation], r.origin) for r in state.relations
    ]


def unresolved(state: State, document: str) -> list[Link]:
    """The links of a document that lead nowhere."""
    known = state.documents.get(document)
    if known is None or known.deleted_at is not None:
        return []
    leading: dict[Link, bool] = {}
    for mention in _mentions(state, known):
        if mention.origin in ("markdown", "wiki"):
            link = Link(mention.target, mention.origin)
            leading[link] = leading.get(link, False) or _target(state, mention) is not None
    return sorted(link for link, leads in leading.items() if not leads)


def _mentions(state: State, document: Document) -> list[Mention]:
    return mentions_of(_named(document), state.links[document.id])


def _target(state: State, mention: Mention) -> str | None:
    """Who goes by that name: the most certain kind of name, then the lowest number."""
    called = [
        (kind, document.seq, document.id)
        for document in state.documents.values()
        if document.deleted_at is None
        for name, kind in names_of_document(_named(document)).items()
        if name == mention.name and kind <= mention.reach
    ]
    return min(called)[2] if called else None


def _named(document: Document) -> Named:
    return Named(*(getattr(document, name) for name in Named._fields))


def similar(state: State, model: Model | None, threshold: float, most: int) -> list[Edge]:
    """Each pair of documents with chunks more alike than the threshold, by the best pair, if one
    of the two is among the nearest of the other."""
    best: dict[tuple[int, int], float] = {}
    stored = [
        (state.documents[s.document], s.vectors[model])
        for s in state.chunks.values()
        if model is not None and model in s.vectors
    ]
    shown = [(document, vector) for document, vector in stored if document.deleted_at is None]
    for first, one in shown:
        for second, other in shown:
            if first.seq < second.seq:
                products = zip(unpack(one), unpack(other), strict=True)
                cosine = round(fsum(a * b for a, b in products), DIGITS)
                pair = (first.seq, second.seq)
                best[pair] = max(best.get(pair, -2.0), cosine)
    alike = {pair: cosine for pair, cosine in best.items() if cosine > threshold}
    ids = {document.seq: document.id for document in state.documents.values()}
    weight = WEIGHTS["SIMILAR_TO"]
    return [
        Edge(ids[pair[0]], ids[pair[1]], "SIMILAR_TO", alike[pair] * weight, "vectors")
        for pair in sorted({pair for seq in ids for pair in _nearest(alike, seq)[:most]})
    ]


def _nearest(alike: dict[tuple[int, int], float], seq: int) -> list[tuple[int, int]]:
    """The pairs of a document, the nearest first; of equal ones, the lowest number."""
    own = [pair for pair in alike if seq in pair]
    return sorted(own, key=lambda pair: (-alike[pair], sum(pair)))


def around(
    edges: list[Edge], starts: Collection[str], passing: Collection[str], depth: int
) -> list[Edge]:
    """The edges that a walk of so many hops can take."""
    hops = dict.fromkeys(starts, 0)
    for hop in range(1, depth + 1):
        here = {one for one, at in hops.items() if at == hop - 1}
        ends = {
            end
            for edge in edges
            for start, end in ((edge.source, edge.target), (edge.target, edge.source))
            if start in here and end in passing
        }
        hops = {**dict.fromkeys(ends, hop), **hops}
    return [
        edge
        for edge in edges
        if edge.source in hops
        and edge.target in hops
        and min(hops[edge.source], hops[edge.target]) < depth
    ]
