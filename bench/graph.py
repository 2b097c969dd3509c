"""The graph: similar documents, walks, communities and importance.

SIMILAR_TO for 10,000 chunks of 2,000 documents with clustered vectors: all at once (`kb graph
rebuild`, or the first `kb add`), and for one document that changed. Against it, the bare matrix
product that compares every vector with every other.

A walk of two hops from a document that 10,000 others link to, in SQLite.

Louvain, Leiden and PageRank on 100,000 documents with 1,000,000 links, reading the links into their
form and naming the groups included; against it, igraph alone, which has the graph already.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # igraph's threads wait by spinning

import igraph
import numpy as np

from knowbase.graph.clusters import communities, ranking
from knowbase.query.conditions import Visible
from knowbase.ranking.proximity import proximities
from knowbase.store.sqlite import SqliteStore, create
from knowbase.text.splitting import Limits, chunks_of
from knowbase.values.changes import Changes, Draft
from knowbase.values.documents import Document
from knowbase.values.edges import Node, Wiring
from knowbase.values.reading import Link, Reading, Section
from knowbase.values.vectors import Model
from measure import Row, arguments, cpu, report, seconds

CHUNKS, A_DOCUMENT, DIMENSIONS, CLUSTERS = 10_000, 5, 384, 500
NOISE = 0.45  # of a vector around the centre of its cluster
HUB = 10_000
DOCUMENTS, LINKS, VILLAGES = 100_000, 1_000_000, 1_000
NOW = "2026-01-01T00:00:00.000000Z"


def main() -> None:
    given = arguments(__doc__, rounds=3)
    with TemporaryDirectory() as folder:
        rows = [*_similar(Path(folder), given.rounds), *_hub(Path(folder), given.rounds)]
    report("graph", [*rows, *_large(given.rounds)], as_json=given.json)


def _spans(text: str) -> list[tuple[int, int]]:
    return [(0, len(text))]


def _draft(name: str, sections: int, links: tuple[Link, ...], vectors: list[bytes]) -> Draft:
    parts = tuple(
        Section(f"s{i}", f"S{i}", f"## S{i}\n", f"{name} {i}", 1) for i in range(sections)
    )
    reading = Reading("markdown", name, parts, links=links)
    chunks = chunks_of(reading, _spans, Limits())
    return Draft(name, reading, None, NOW, chunks, (*vectors, *[None] * (sections - len(vectors))))


def _vectors() -> Any:
    chance = np.random.default_rng(1)
    centres = chance.normal(size=(CLUSTERS, DIMENSIONS))
    near = centres[chance.integers(0, CLUSTERS, CHUNKS)]
    found = near + NOISE * chance.normal(size=near.shape)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype("<f4")


def _similar(folder: Path, rounds: int) -> list[Row]:
    store = create(str(folder / "similar.db"))
    store.use_model(Model("clustered", "1", DIMENSIONS))
    matrix = _vectors()
    packed = [vector.tobytes() for vector in matrix]
    for start in range(0, CHUNKS, 1000):
        drafts = tuple(
            _draft(f"d{i}", A_DOCUMENT, (), packed[i : i + A_DOCUMENT])
            for i in range(start, start + 1000, A_DOCUMENT)
        )
        store.apply(Changes(drafts=drafts), NOW)
    whole, one, bare = [], [], []
    for number in range(rounds):
        store.relink()
        bare.append(
            seconds(lambda: [matrix[i : i + 400] @ matrix.T for i in range(0, CHUNKS, 400)])
        )
        whole.append(seconds(lambda: store.link_similar(0.8)))
        changed = _draft(f"changed {number}", A_DOCUMENT, (), packed[:A_DOCUMENT])
        store.apply(Changes(drafts=(changed._replace(id="d0"),)), NOW)
        one.append(seconds(lambda: store.link_similar(0.8)))
    found = len([e for e in store.edges(Visible(NOW)) if e.relation == "SIMILAR_TO"])
    store.close()
    return [
        Row(f"SIMILAR_TO of {CHUNKS:,} chunks: {found:,} links", whole, "s", "seconds"),
        Row("  the bare matrix product", bare, "s"),
        Row("SIMILAR_TO of one changed document", one, "s"),
    ]


def _hub(folder: Path, rounds: int) -> list[Row]:
    store: SqliteStore = create(str(folder / "hub.db"))
    hub = (Link("hub", "wiki"),)
    drafts = [_draft("hub", 1, (), []), *(_draft(f"n{i}", 1, hub, []) for i in range(HUB))]
    store.apply(Changes(drafts=tuple(drafts)), NOW)

    def walk() -> None:
        edges = store.edges_around(("n0",), 2, Visible(NOW))
        assert len(proximities({"n0"}, edges, 2)) == HUB

    taken = [seconds(walk) for _ in range(rounds)]
    store.close()
    return [Row(f"two hops over a hub of {HUB:,} links", taken, "s")]


def _large(rounds: int) -> list[Row]:
    chance = np.random.default_rng(2)
    ends = chance.integers(0, DOCUMENTS, (LINKS, 2))
    size = DOCUMENTS // VILLAGES
    inside = chance.random(LINKS) < 0.8
    ends[inside, 1] = ends[inside, 0] // size * size + chance.integers(0, size, int(inside.sum()))
    documents = tuple(
        Document(f"d{i}", i, f"KB-{i}", f"Village {i // size}", "note", (), None, NOW, NOW)
        for i in range(DOCUMENTS)
    )
    known = {one.id: one for one in documents}
    wiring = Wiring(
        [Node(one.id, one.code, one.title, one.tags) for one in documents],
        ends[:, 0],
        ends[:, 1],
        np.zeros(LINKS, np.int64),
        np.full(LINKS, 0.8),
        ("REFERENCES",),
    )
    graph = igraph.Graph(n=DOCUMENTS, edges=ends.tolist(), directed=True)
    plain = graph.as_undirected(mode="each")
    names = f"{DOCUMENTS:,} documents, {LINKS:,} links"
    tasks = {
        f"Louvain: {names}": lambda: communities(wiring, ("louvain", 1, 1.0), lambda _: known),
        "  igraph alone": plain.community_multilevel,
        f"Leiden: {names}": lambda: communities(wiring, ("leiden", 1, 1.0), lambda _: known),
        f"PageRank: {names}": lambda: ranking(wiring, 20, lambda _: known),
        "  igraph alone ": graph.pagerank,
    }
    return [Row(name, [cpu(task) for _ in range(rounds)], "s CPU") for name, task in tasks.items()]


if __name__ == "__main__":
    main()
