"""Communities and importance, by igraph; the same graph and seed give the same answer."""

import math
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import compress
from typing import Any, NamedTuple, TypeAlias

from knowbase.errors import ToolMissing
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.communities import Communities, Community
from knowbase.values.documents import Document
from knowbase.values.edges import SYMMETRIC, Node, Wiring

DAMPING = 0.85
CENTRAL = 3  # documents that stand for a community
TELLING = 4  # words and tags of a label
Documents: TypeAlias = Callable[[Collection[str]], Mapping[str, Document]]
"""Documents by their ids: of most, a graph needs no more than their names."""

_WORD = re.compile(r"[^\W\d_][\w'’-]{2,}")


class Important(NamedTuple):
    """A document and its PageRank; all of a base add up to 1."""

    document: Document
    score: float
    links_to_it: int


class Ranking(NamedTuple):
    """The most important documents first."""

    documents: tuple[Important, ...]
    total: int


def igraph_module() -> Any:
    """igraph, or how to get it."""
    try:
        import igraph
    except ImportError as error:
        raise ToolMissing(
            "this needs the igraph package", hint="pip install 'knowbase[graph]'"
        ) from error
    return igraph


def ranking(wiring: Wiring, top: int, documents: Documents) -> Ranking:
    """PageRank over the links in their direction, each counting alike."""
    scores, entering = _scores(wiring)
    first = _by_score(range(len(wiring.nodes)), scores)[:top]
    found = documents([wiring.nodes[place].id for place in first])
    return Ranking(
        tuple(
            Important(found[identity], scores[place], entering[place])
            for place, identity in ((place, wiring.nodes[place].id) for place in first)
            if identity in found  # another process may have removed it
        ),
        len(wiring.nodes),
    )


def _scores(wiring: Wiring) -> tuple[list[float], list[int]]:
    igraph = igraph_module()
    if not wiring.nodes:
        return [], []
    pairs = _directed(wiring)
    graph = igraph.Graph(n=len(wiring.nodes), edges=pairs, directed=True)
    return graph.pagerank(damping=DAMPING), graph.indegree()


def _directed(wiring: Wiring) -> list[tuple[int, int]]:
    """Every link in its direction; what holds both ways is there both ways. igraph takes a list
    of pairs four times as fast as an array."""
    is_both_ways = [relation in SYMMETRIC for relation in wiring.relations]
    back = zip(wiring.targets, wiring.sources, strict=True)
    return [*zip(wiring.sources, wiring.targets, strict=True), *compress(back, is_both_ways)]


def _by_score(places: Any, scores: list[float]) -> list[int]:
    """Rounded, so that the last bit of a sum decides nothing."""
    return sorted(places, key=lambda one: (-round(scores[one], 12), one))


def communities(wiring: Wiring, asked: tuple[str, int, float], documents: Documents) -> Communities:
    """Louvain (Blondel et al. 2008) or Leiden (Traag et al. 2019), both by modularity."""
    igraph = igraph_module()
    pairs = list(zip(wiring.sources, wiring.targets, strict=True))
    graph = igraph.Graph(n=len(wiring.nodes), edges=pairs, directed=False)
    graph.es["weight"] = wiring.weights
    graph.simplify(combine_edges={"weight": "sum"})
    linked = [vertex for vertex, degree in enumerate(graph.degree()) if degree]
    graph = graph.induced_subgraph(linked)
    members, modularity = _partition(igraph, graph, asked)
    clusters: dict[int, list[int]] = {}
    for vertex, member in enumerate(members):
        clusters.setdefault(member, []).append(linked[vertex])
    ordered = sorted(clusters.values(), key=lambda places: (-len(places), places[0]))
    labels = _Labels(wiring.nodes)
    scores, _ = _scores(wiring)
    central = [_by_score(places, scores)[:CENTRAL] for places in ordered]
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
        modularity,
        asked[0],
        len(wiring.nodes) - len(linked),
    )


def _partition(igraph: Any, graph: Any, asked: tuple[str, int, float]) -> tuple[list[int], float]:
    algorithm, seed, resolution = asked
    if not graph.ecount():
        return [], 0.0
    with seeded(igraph, seed):
        if algorithm == "leiden":
            found = graph.community_leiden(
                objective_function="modularity",
                weights="weight",
                resolution=resolution,
                n_iterations=-1,
            )
        else:
            found = graph.community_multilevel(weights="weight", resolution=resolution)
    return found.membership, graph.modularity(found.membership, weights="weight")


@contextmanager
def seeded(igraph: Any, seed: int) -> Iterator[None]:
    """igraph has one source of chance for all; afterwards it is Python's again."""
    igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 - no secret
    try:
        yield
    finally:
        igraph.set_random_number_generator(random)


class _Labels:
    """Names for groups of documents: what they have often and others rarely."""

    def __init__(self, nodes: list[Node]) -> None:
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
