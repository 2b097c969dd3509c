"""What a write costs in a large base: CPU time, for the machine is never quiet.

    python bench/write.py                      a base of 20,000 chunks, made for it
    python bench/write.py --chunks 100000      a larger one: some minutes more
    python bench/write.py --home FOLDER        one that is there (scale.py --part index makes one)

The articles and vectors of scale.py. Linking all similar documents stands beside the whole add;
linking what was written last is what the first one who asks for links pays.
"""

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # igraph's threads wait by spinning

import corpus
from corpus import Clustered
from knowbase.base import Base
from knowbase.embed.granite import Granite
from measure import Row, cpu, interleaved, milliseconds, report
from scale import SHAPE

ROUNDS = 7


def made(home: Path, embedder: Clustered, chunks: int) -> list[Row]:
    """Fill a base; how much of that its similar documents take."""
    tree = corpus.write_tree(home / "articles", chunks // SHAPE.sections, SHAPE)
    with corpus.new_base(home, embedder) as base:
        whole = cpu(lambda: base.add([str(tree)]))
        base.store.relink()
        links = cpu(lambda: base.store.link_similar(0.8))
    return [
        Row("adding, embedding left out", [whole], "s CPU"),
        Row("of it SIMILAR_TO", [links], "s CPU"),
    ]


def looked_at(folder: str) -> None:
    """The least that it takes to know of every file whether it is another one."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                looked_at(entry.path)
            else:
                entry.stat(follow_symlinks=False)


def measured(base: Base, home: Path) -> list[Row]:
    """Small changes, each of them several times."""
    mark = str(time.time())
    file = min((home / "articles").rglob("*.md"))

    def change(number: int) -> None:
        with file.open("a", encoding="utf-8") as more:
            more.write(f"\n\nA line {mark} {number} about queues.\n")

    def synced(number: int, sync: Callable[[], object]) -> float:
        change(number)
        return cpu(sync)

    base.remember(f"the first one of {mark}")  # what is loaded once
    remembered = [
        cpu(lambda n=n: base.remember(f"Tokens are rotated weekly {mark} {n}"))  # type: ignore[misc]
        for n in range(ROUNDS)
    ]
    notes = [base.note(f"to be removed {mark} {n}") for n in range(ROUNDS)]
    removed = [cpu(lambda one=one: base.remove([one.code])) for one in notes]  # type: ignore[misc]
    whole, bare = [], []
    for n in range(ROUNDS):
        whole.append(synced(n, base.sync))
        bare.append(cpu(lambda: looked_at(str(home / "articles"))))
    some = [synced(n, lambda: base._sync_some([str(file)])) for n in range(ROUNDS, 2 * ROUNDS)]
    linked = [cpu(lambda: base.graph.links("1"))]
    return [
        Row("remember", milliseconds(remembered), "ms CPU", "at most 60"),
        Row("remove a note", milliseconds(removed), "ms CPU"),
        Row("sync with one changed file", milliseconds(whole), "ms CPU", "at most 100"),
        Row("  os.scandir and stat of all files alone", milliseconds(bare), "ms CPU"),
        Row("a round of watch with one changed file", milliseconds(some), "ms CPU", "at most 100"),
        Row("links, when all that is to be linked", milliseconds(linked), "ms CPU"),
        *against_igraph(base),
    ]


def against_igraph(base: Base) -> list[Row]:
    """Rank and communities beside igraph, which is given the same links: for rank all of them,
    for communities what it names the central documents by, too."""
    import igraph

    wiring = base.store.wiring(base.graph.shown())
    pairs = list(zip(wiring.sources.tolist(), wiring.targets.tolist(), strict=True))
    both_ways = pairs + [(target, source) for source, target in pairs]  # nearly all are similar
    size, weights = len(wiring.nodes), wiring.weights.tolist()

    def bare_rank() -> None:
        igraph.Graph(n=size, edges=both_ways, directed=True).pagerank()

    def bare_communities() -> None:
        igraph.Graph(n=size, edges=pairs).community_multilevel(weights=weights)
        bare_rank()

    def rank() -> None:
        base.graph.rank(relations=wiring.names)

    tasks = {
        f"rank, {len(pairs):,} links": rank,
        "  igraph alone": bare_rank,
        "communities": base.graph.communities,
        "  igraph alone ": bare_communities,
    }
    taken = interleaved(3, {name: lambda task=task: cpu(task) for name, task in tasks.items()})  # type: ignore[misc]
    return [Row(name, values, "s CPU") for name, values in taken.items()]


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--home", help="the folder of a base that scale.py made")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    embedder = Clustered(Granite())
    with TemporaryDirectory() as name:
        home = Path(given.home or name)
        rows = [] if given.home else made(home, embedder, given.chunks)
        with Base(str(home / ".kb" / "base.db"), embedder=embedder) as base:
            rows += measured(base, home)
    report("write", rows, as_json=given.json)


if __name__ == "__main__":
    main()
