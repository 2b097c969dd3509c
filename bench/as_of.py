"""What it costs to ask a base as it was: a base of which 5 % of the documents have ten versions,
beside the same base without a history, and as of its first change and of one in the middle.

    python bench/as_of.py                            100,000 chunks, more than a quarter of an hour
    python bench/as_of.py --chunks 5000 --home DIR   a smaller one, kept for another run

CPU time, round by round, since the machine is never quiet. "At hand" is a moment that was asked of
before by this process; "a new moment", one that was not.
"""

import argparse
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import corpus
from corpus import Clustered, Shape
from knowbase.base import Base
from knowbase.embed.granite import Granite
from knowbase.memory.keep import rules_of
from measure import Row, interleaved, ratios, report
from warm import Remembering, asked_of

SHAPE = Shape(sections=5, words=90)
VERSIONS = 10
SHARE = 20  # every 20th document changes
ROUNDS = 40
CASES: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "by words": {"mode": "keyword"},
    "by meaning": {"mode": "semantic"},
    "hybrid, 10 % pass": {"tags": ["tenth"]},
}


def fill(home: Path, chunks: int) -> None:
    """A base with versions, and a copy of it without."""
    articles = chunks // SHAPE.sections
    tree = corpus.write_tree(home / "articles", articles, SHAPE)
    with corpus.new_base(home, Clustered(Granite())) as base:
        base.add([str(tree)])
        for version in range(1, VERSIONS + 1):
            for number in range(0, articles, SHARE):
                _change(tree, number, version)
            base.sync()
        base.store.renew_index()
        base.graph.links("1")  # links everything
        base.store.compact()
    folder = home / "bare"
    shutil.copytree(home / ".kb", folder / ".kb")
    with Base(str(folder / ".kb" / "base.db")) as bare:
        bare.history.prune(rules_of(("off",)))
        bare.store.compact()
        bare.store.renew_index()


def _change(tree: Path, number: int, version: int) -> None:
    """One section is written anew, another one each time."""
    file = tree / f"part-{number // 50:02}" / f"article-{number:04}.md"
    sections = file.read_text(encoding="utf-8").split("\n## ")
    other = corpus.article(number + version * 1_000_003, SHAPE).split("\n## ")
    place = 1 + version % (SHAPE.sections - 1)
    sections[place] = other[place]
    file.write_text("\n## ".join(sections), encoding="utf-8")


def cpu(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def compare(home: Path) -> list[Row]:
    granite = Granite()
    asked = asked_of(granite, ROUNDS)
    embedder = Remembering(granite, asked)
    rows = []
    with ExitStack() as stack:
        base, bare = (
            stack.enter_context(Base(str(at / ".kb" / "base.db"), embedder=embedder))
            for at in (home, home / "bare")
        )
        last = base.store.history().last()
        first = min(one.until or last for one in base.store.history().versions()) - 1
        numbers = {"the start": first, "half": (first + last) // 2}
        for case, given in CASES.items():
            turn = {"at": 0}

            def search(one: Base, as_of: str | None = None) -> float:
                text = asked[turn["at"] % len(asked)].text  # noqa: B023 - asked at once
                return cpu(lambda: one.search(text, as_of=as_of, **given))  # noqa: B023

            def ask() -> float:
                turn["at"] += 1  # noqa: B023
                return search(base)

            tasks = {"now": ask, "bare": lambda: search(bare)} | {
                name: (lambda number=number: search(base, f"#{number}"))
                for name, number in numbers.items()
            }
            interleaved(2, tasks)
            taken = interleaved(ROUNDS, tasks)
            rows.append(Row(f"{case}: now", [median(taken["now"]) * 1000], "ms CPU"))
            rows.append(
                Row("  against no history", ratios(taken["now"], taken["bare"]), "", "at most 1.05")
            )
            rows += [
                Row(f"  as of {name}, at hand", ratios(taken[name], taken["now"]), "", "at most 2")
                for name in numbers
            ]
        rows.append(_new_moments(base, range(first, last), asked[0].text))
        size = {
            name: Path(one.path).stat().st_size / 1e6 for name, one in (("a", base), ("b", bare))
        }
        rows.append(Row("the file, with history", [size["a"]], "MB"))
        rows.append(Row("the file, without", [size["b"]], "MB"))
        print(f"{last} changes, {len(base.store.history().versions())} versions")
    return rows


def _new_moments(base: Base, numbers: range, text: str) -> Row:
    """The first search of a moment, against one of today beside it."""
    found = []
    for number in numbers[:: max(1, len(numbers) // 12)]:
        then = cpu(lambda: base.search(text, as_of=f"#{number}"))  # noqa: B023
        found.append(then / cpu(lambda: base.search(text)))
    return Row("hybrid, as of a new moment", found, "", "at most 2")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--home", type=Path, help="where the base lies, or is to lie")
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        home = given.home or Path(folder)
        if not (home / "bare").exists():
            fill(home, given.chunks)
        report("as_of", compare(home), as_json=False)


if __name__ == "__main__":
    main()
