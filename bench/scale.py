"""How it grows: bases of 1,000, 10,000 and 100,000 chunks, each beside hand-written SQL.

    python bench/scale.py                    all three sizes, about twenty minutes on two cores
    python bench/scale.py --chunks 10000     one of them

Made-up Markdown articles of five sections, with made-up vectors in clusters around real
embeddings. Indexing leaves embedding out, and the bare embedder is measured beside it: the
share is what would be left of the embedder's rate if both ran one after the other. Searches
are those of warm.py, with a tag that every 10th, 100th or 1000th article has; the SQL makes no
snippets. Memory is the most that a process had: one that indexed, one that only searched.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import corpus
from corpus import Clustered, Shape
from knowbase.base import Base
from knowbase.embed.granite import Granite
from measure import Row, interleaved, milliseconds, report, seconds
from warm import (
    CASES,
    Remembering,
    Sides,
    agreement,
    asked_of,
    compared,
    parts_of_a_search,
    plain_connection,
)

SIZES = (1_000, 10_000, 100_000)
SHAPE = Shape(sections=5, words=90)
SAMPLE = 200  # chunks that the bare embedder is timed with
QUERIES = {1_000: 200, 10_000: 100, 100_000: 30}
COLD_ROUNDS = 9


def index(home: Path, chunks: int) -> list[Row]:
    """Fill a base, and say what that took."""
    granite = Granite()
    embedder = Clustered(granite)
    tree = corpus.write_tree(home / "articles", chunks // SHAPE.sections, SHAPE)
    with corpus.new_base(home, embedder) as base:
        took = seconds(lambda: base.add([str(tree)]))
        status = base.status()
        step = max(1, len(embedder.embedded) // SAMPLE)
        texts = embedder.embedded[::step][:SAMPLE]
        bare = len(texts) / seconds(lambda: list(granite.embed_documents(texts)))
    rate = status.chunks / took
    size = status.size_bytes or 0
    return [
        Row("documents", [status.documents]),
        Row("chunks", [status.chunks]),
        Row("index, embedding left out", [rate], "chunks/s"),
        Row("the bare embedder", [bare], "chunks/s"),
        Row("indexing as a share of it", [rate / (rate + bare)], "", "at least 0.85"),
        Row("disk", [size / 1e6], "MB"),
        Row("disk a chunk", [size / status.chunks / 1000], "kB"),
        Row("memory, indexing", [_memory()], "MB"),
    ]


def search(home: Path, chunks: int) -> list[Row]:
    """Warm searches of every kind, and where one spends its time."""
    granite = Granite()
    asked = asked_of(granite, QUERIES.get(chunks, 30))
    path = str(home / ".kb" / "base.db")
    with ExitStack() as stack:
        sides = Sides(
            stack.enter_context(Base(path, embedder=granite)),
            stack.enter_context(Base(path, embedder=Remembering(granite, asked))),
            stack.enter_context(plain_connection(path)),
        )
        rows = [agreement(sides, asked)]
        for case in CASES:
            rows += compared(sides, asked, case, 1)
        rows += parts_of_a_search(sides.base, asked)
    return [*rows, Row("memory, searching", [_memory()], "MB")]


def cold(home: Path) -> list[Row]:
    """New processes: a keyword search against importing the driver, and a hybrid search."""

    def timed(*arguments: str) -> float:
        command = [sys.executable, *arguments]
        return seconds(
            lambda: subprocess.run(command, cwd=home, stdout=subprocess.DEVNULL, check=True)
        )

    kb = ("-m", "knowbase.cli", "search", "deploy")
    taken = interleaved(
        COLD_ROUNDS,
        {
            "apsw": lambda: timed("-c", "import apsw"),
            "keyword": lambda: timed(*kb, "--fts-only"),
            "hybrid": lambda: timed(*kb),
        },
    )
    ratio = [one / other for one, other in zip(taken["keyword"], taken["apsw"], strict=True)]
    return [
        Row("cold: import apsw", milliseconds(taken["apsw"]), "ms"),
        Row("cold: kb search --fts-only", milliseconds(taken["keyword"]), "ms"),
        Row("cold: against import apsw", ratio),
        Row("cold: kb search", milliseconds(taken["hybrid"]), "ms"),
    ]


def _memory() -> float:
    """The most that this process had, in MB; Linux counts in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measured(chunks: int) -> list[Row]:
    """One size: each part in a process of its own, so that none inherits another's memory."""
    rows: list[Row] = []
    with TemporaryDirectory() as name:
        for part in ("index", "search"):
            command = [sys.executable, __file__, "--part", part, "--home", name]
            done = subprocess.run(
                [*command, "--chunks", str(chunks)], stdout=subprocess.PIPE, text=True, check=True
            )
            rows += [Row(*row) for row in json.loads(done.stdout)]
        rows += cold(Path(name))
    return rows


def table(found: dict[int, list[Row]]) -> None:
    """A line a row, a column a size."""
    names = [row.name for row in next(iter(found.values()))]
    values = {size: {row.name: row for row in rows} for size, rows in found.items()}
    wide = max(map(len, names))
    print(" " * wide + "".join(f"{size:>12,}" for size in found) + "   chunks")
    for name in names:
        cells = "".join(f"{median(rows[name].values):12.4g}" for rows in values.values())
        row = values[next(iter(found))][name]
        print(f"{name:<{wide}}{cells}   {row.unit:<10}{row.goal}".rstrip())


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, help="one size instead of all")
    parser.add_argument("--json", action="store_true", help="print one JSON object a size")
    parser.add_argument("--part", choices=("index", "search"), help=argparse.SUPPRESS)
    parser.add_argument("--home", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        run = {"index": index, "search": search}[given.part]
        print(json.dumps(run(Path(given.home), given.chunks)))
        return
    found = {}
    for size in (given.chunks,) if given.chunks else SIZES:
        found[size] = measured(size)
        if given.json:
            report(f"scale {size}", found[size], as_json=True)
    if not given.json:
        print(f"{os.cpu_count()} cores")
        table(found)


if __name__ == "__main__":
    main()
