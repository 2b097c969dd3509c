"""Communities and importance; the same graph and seed give the same answer."""

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knowbase.graph.partition import Groups, Mesh, leiden, louvain, mesh, modularity
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.communities import Communities, Community
from knowbase.values.documents import Document
from knowbase.values.edges import SYMMETRIC, Node, Wiring

DAMPING = 0.85
SETTLED = 1e-12  # what all scores together may still move by
MOST_STEPS = 300  # they are settled after 170
DIGITS, ALIKE = 12, 2e-12  # of scores; less than that apart, two may be the same
CENTRAL = 3  # documents that stand for a community
TELLING = 4  # words and tags of a label
Documents: TypeAlias = Callable[[Collection[str]], Mapping[str, Document]]
"""Documents by their ids: of most, a graph needs no more than their names."""
Scores: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.integer]

_WORD = re.compile(r"[^\W\d_][\w'’-]+[^\W_]")  # init, of __init__.py


class Important(NamedTuple):
    """A document and its PageRank; all of a base add up to 1."""

    document: Document
    score: float
    links_to_it: int


class Ranking(NamedTuple):
    """The most important documents first."""

    documents: tuple[Important, ...]
    total: int


def ranking(wiring: Wiring, top: int, documents: Documents) -> Ranking:
    """PageRank over the links in their direction, each counting alike."""
    scores, entering = _scores(wiring)
    first = _first(np.arange(len(scores)), scores, top)
    found = documents([wiring.nodes[place].id for place in first])
    return Ranking(
        tuple(
            Important(found[identity], float(scores[place]), int(entering[place]))
            for place, identity in ((place, wiring.nodes[place].id) for place in first)
            if identity in found  # another process may have removed it
        ),
        len(wiring.nodes),
    )


def _scores(wiring: Wiring) -> tuple[Scores, Places]:
    """Each document's share of where readers are who follow links at random (Brin and Page 1998),
    and how many links lead to it."""
    size = len(wiring.nodes)
    if not size:
        return np.empty(0), np.empty(0, np.int64)
    sources, targets = _directed(wiring)
    leaving = np.bincount(sources, minlength=size)
    is_end = leaving == 0
    part = 1 / np.maximum(leaving, 1)
    scores, handed = np.full(size, 1 / size), np.empty(len(sources))
    for _ in range(MOST_STEPS):
        np.take(scores * part, sources, out=handed, mode="clip")  # no place is beyond the last
        followed = np.bincount(targets, handed, size)
        after = DAMPING * (followed + scores[is_end].sum() / size) + (1 - DAMPING) / size
        moved = np.abs(after - scores).sum()
        scores = after
        if moved < SETTLED:
            break
    return scores / scores.sum(), np.bincount(targets, minlength=size)


def _directed(wiring: Wiring) -> tuple[Places, Places]:
    """Every link in its direction, by its source; what holds both ways is there both ways."""
    sources, targets, size = wiring.sources, wiring.targets, len(wiring.nodes)
    is_both_ways = np.array([name in SYMMETRIC for name in wiring.names], bool)[wiring.relations]
    back = targets[is_both_ways] * size + sources[is_both_ways]
    links = np.concatenate((sources * size + targets, back))
    links.sort()
    return np.divmod(links, size)


def _first(places: Places, scores: Scores, most: int) -> list[int]:
    """Those with the highest scores, rounded so that the last bit of a sum decides nothing."""
    own = scores[places]
    if len(own) > most > 0:
        last = np.partition(own, -most)[-most]
        places = places[own > last - ALIKE]
    return sorted(places.tolist(), key=lambda one: (-round(float(scores[one]), DIGITS), one))[:most]


def communities(wiring: Wiring, asked: tuple[str, int, float], documents: Documents) -> Communities:
    """Louvain (Blondel et al. 2008) or Leiden (Traag et al. 2019), both by modularity."""
    algorithm, seed, resolution = asked
    whole = mesh(len(wiring.nodes), wiring.sources, wiring.targets, wiring.weights)
    groups = (leiden if algorithm == "leiden" else louvain)(whole, resolution, seed)
    ordered = _clusters(whole, groups)
    labels = _Labels(wiring.nodes)
    scores, _ = _scores(wiring)
    central = [_first(np.array(places), scores, CENTRAL) for places in ordered]
    found = documents([wiring.nodes[place].id for places in central for place in places])
    return Communities(
        tuple(
            Community(
                label=labels.of(places),
                size=len(places),
                central=tuple(
                    found[wiring.nodes[place].id]
                    for place in first
                    if wiring.nodes[place].id in found  # another process may have removed it
                ),
                codes=tuple(wiring.nodes[place].code for place in places),
            )
            for places, first in zip(ordered, central, strict=True)
        ),
        modularity(whole, groups),
        algorithm,
        len(wiring.nodes) - sum(len(places) for places in ordered),
    )


def _clusters(whole: Mesh, groups: Groups) -> list[list[int]]:
    """The places of each group that have a link, the largest groups first."""
    clusters: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        if whole.begins[place] < whole.begins[place + 1]:
            clusters.setdefault(group, []).append(place)
    return sorted(clusters.values(), key=lambda places: (-len(places), places[0]))


class _Labels:
    """Names for groups of documents: what they have often and others rarely."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._terms = [_terms(node) for node in nodes]
        self._having = Counter(term for terms in self._terms for term in terms)

    def of(self, places: list[int]) -> str:
        counts = Counter(term for place in places for term in self._terms[place])
        telling = {
            term: number * math.log(1 + len(self._nodes) / self._having[term])
            for term, number in counts.items()
            if number > 1 or len(places) < 2 * CENTRAL
        }
        best = sorted(telling, key=lambda term: (-telling[term], term))[:TELLING]
        return " ".join(best) or self._nodes[places[0]].title


def _terms(node: Node) -> set[str]:
    """A document's tags, and the words of its title."""
    words = {word.lower() for word in _WORD.findall(node.title)}
    return {f"#{tag}" for tag in node.tags} | {w for w in words if w not in STOP_WORDS}
