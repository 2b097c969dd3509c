"""Communities and importance, by igraph; the same graph and seed give the same answer."""

import math
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from knowbase.errors import ToolMissing
from knowbase.graph.network import Network
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.communities import Communities, Community
from knowbase.values.documents import Document
from knowbase.values.edges import SYMMETRIC

DAMPING = 0.85
CENTRAL = 3  # documents that stand for a community
TELLING = 4  # words and tags of a label
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


def ranking(network: Network, top: int) -> Ranking:
    """PageRank over the links in their direction, each counting alike."""
    scores, entering = _scores(network, network.pairs())
    ordered = _by_score(range(len(network.documents)), scores)
    return Ranking(
        tuple(Important(network.documents[p], scores[p], entering[p]) for p in ordered[:top]),
        len(network.documents),
    )


def _scores(network: Network, pairs: list[tuple[int, int]]) -> tuple[list[float], list[int]]:
    igraph = igraph_module()
    if not network.documents:
        return [], []
    both_ways = [
        (target, source)
        for (source, target), edge in zip(pairs, network.edges, strict=True)
        if edge.relation in SYMMETRIC
    ]
    graph = igraph.Graph(n=len(network.documents), edges=pairs + both_ways, directed=True)
    return graph.pagerank(damping=DAMPING), graph.indegree()


def _by_score(places: Any, scores: list[float]) -> list[int]:
    """Rounded, so that the last bit of a sum decides nothing."""
    return sorted(places, key=lambda one: (-round(scores[one], 12), one))


def communities(network: Network, algorithm: str, seed: int, resolution: float) -> Communities:
    """Louvain (Blondel et al. 2008) or Leiden (Traag et al. 2019), both by modularity."""
    igraph = igraph_module()
    pairs = network.pairs()
    graph = igraph.Graph(n=len(network.documents), edges=pairs, directed=False)
    graph.es["weight"] = [edge.weight for edge in network.edges]
    graph.simplify(combine_edges={"weight": "sum"})
    linked = [vertex for vertex, degree in enumerate(graph.degree()) if degree]
    graph = graph.induced_subgraph(linked)
    members, modularity = _partition(igraph, graph, (algorithm, seed, resolution))
    clusters: dict[int, list[int]] = {}
    for vertex, member in enumerate(members):
        clusters.setdefault(member, []).append(linked[vertex])
    ordered = sorted(clusters.values(), key=lambda places: (-len(places), places[0]))
    labels = _Labels(network.documents)
    scores, _ = _scores(network, pairs)
    return Communities(
        tuple(_community(network, places, labels, scores) for places in ordered),
        modularity,
        algorithm,
        len(network.documents) - len(linked),
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


def _community(
    network: Network, places: list[int], labels: "_Labels", scores: list[float]
) -> Community:
    central = _by_score(places, scores)[:CENTRAL]
    documents = [network.documents[place] for place in places]
    return Community(
        label=labels.of(documents),
        size=len(places),
        central=tuple(network.documents[place] for place in central),
        codes=tuple(document.code for document in documents),
    )


class _Labels:
    """Names for groups of documents: what they have often and others rarely."""

    def __init__(self, documents: tuple[Document, ...]) -> None:
        self._total = len(documents)
        self._having = Counter(term for document in documents for term in _terms(document))

    def of(self, documents: list[Document]) -> str:
        counts = Counter(term for document in documents for term in _terms(document))
        telling = {
            term: number * math.log(1 + self._total / self._having[term])
            for term, number in counts.items()
            if number > 1 or len(documents) < 2 * CENTRAL
        }
        best = sorted(telling, key=lambda term: (-telling[term], term))[:TELLING]
        return " ".join(best) or documents[0].title


def _terms(document: Document) -> set[str]:
    """A document's tags, and the words of its title."""
    words = {word.lower() for word in _WORD.findall(document.title)}
    return {f"#{tag}" for tag in document.tags} | {w for w in words if w not in STOP_WORDS}
