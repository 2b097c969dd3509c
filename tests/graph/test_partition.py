"""Communities and importance beside igraph, which computes the same otherwise."""

import random

import igraph
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.graph.clusters import ranking
from knowbase.graph.partition import Mesh, leiden, louvain, mesh, modularity
from knowbase.store.wiring import wired
from knowbase.values.edges import Node

Links = list[tuple[int, int, float]]


def meshed(size: int, links: Links) -> Mesh:
    ends = np.array([link[:2] for link in links], dtype=np.int64).reshape(-1, 2)
    return mesh(size, ends[:, 0], ends[:, 1], np.array([link[2] for link in links]))


def reference(size: int, links: Links) -> igraph.Graph:
    graph = igraph.Graph(n=size, edges=[link[:2] for link in links])
    graph.es["weight"] = [link[2] for link in links]
    return graph


def villages(number: int, size: int, inside: float) -> Links:
    """Documents that mostly name others of their own village."""
    chance = random.Random(7)
    found = []
    for one in range(number * size):
        for _ in range(4):
            village = one // size if chance.random() < inside else chance.randrange(number)
            other = village * size + chance.randrange(size)
            if other != one:
                found.append((one, other, round(chance.uniform(0.5, 1), 2)))
    return found


@pytest.mark.parametrize("inside", [0.9, 0.6])
@pytest.mark.parametrize("resolution", [0.5, 1.0, 2.0])
def test_groups_are_as_good_as_those_of_igraph(inside: float, resolution: float) -> None:
    links = villages(20, 30, inside)
    whole, graph = meshed(600, links), reference(600, links)
    igraph.set_random_number_generator(random.Random(1))
    theirs = {
        louvain: graph.community_multilevel(weights="weight", resolution=resolution),
        leiden: graph.community_leiden(
            objective_function="modularity",
            weights="weight",
            resolution=resolution,
            n_iterations=-1,
        ),
    }
    for algorithm, found in theirs.items():
        groups = algorithm(whole, resolution, 1)
        reached = modularity(whole, groups, resolution)
        assert reached >= 0.97 * modularity(whole, found.membership, resolution)
        assert groups == algorithm(whole, resolution, 1)
        assert modularity(whole, groups) == pytest.approx(graph.modularity(groups, "weight"))


SIZE = 12
some_links = st.lists(
    st.tuples(
        st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.sampled_from((0.1, 0.8, 0.9, 1.0))
    ),
    max_size=40,
)


@given(links=some_links, seed=st.integers(0, 5), resolution=st.sampled_from((0.3, 1.0, 3.0)))
def test_whatever_the_links_are_groups_are_no_worse_than_none(
    links: Links, seed: int, resolution: float
) -> None:
    """Also with links of a document to itself, several between two, and none at all."""
    whole = meshed(SIZE, links)
    alone = modularity(whole, list(range(SIZE)), resolution)
    for algorithm in (louvain, leiden):
        groups = algorithm(whole, resolution, seed)
        assert len(groups) == SIZE
        assert modularity(whole, groups, resolution) >= alone - 1e-9
        graph = reference(SIZE, links)
        if links:
            theirs = graph.modularity(groups, weights="weight", resolution=resolution)
            assert modularity(whole, groups, resolution) == pytest.approx(theirs)
    for group in set(groups):  # of Leiden
        places = [place for place, one in enumerate(groups) if one == group]
        assert graph.induced_subgraph(places).is_connected()


@given(links=some_links)
def test_importance_is_what_igraph_says(links: Links) -> None:
    nodes = [Node(f"d{i}", f"KB-{i}", "", ()) for i in range(SIZE)]
    rows = [(source, target, "REFERENCES", weight) for source, target, weight in links]
    wiring = wired(dict(enumerate(nodes)), rows)
    ranked = ranking(wiring, SIZE, lambda ids: {one: one for one in ids})  # type: ignore[misc]
    graph = igraph.Graph(n=SIZE, edges=[link[:2] for link in links], directed=True)
    theirs = {f"d{i}": score for i, score in enumerate(graph.pagerank(damping=0.85))}
    for one in ranked.documents:
        assert one.score == pytest.approx(theirs[str(one.document)], abs=1e-9)
        assert one.links_to_it == graph.indegree(int(str(one.document)[1:]))
