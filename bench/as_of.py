"""What it costs to ask a base as it was: a base of which 5 % of the documents have ten versions,
beside the same base without a history, and as of its start and its middle.

    python bench/as_of.py                            100,000 chunks in a file
    python bench/as_of.py --engine postgresql        the same in PostgreSQL
    python bench/as_of.py --chunks 5000 --home DIR   a smaller one, kept for another run
    python bench/as_of.py --home DIR --profile       where the first search of a moment goes

Made-up texts and vectors, written by the store itself. CPU time, the server's included, round by
round, each round asking all sides the same: the machine is never quiet. What is asked of a moment
is compared with the same search of the base without a history. "At hand" is a moment that was asked
of before by this process; "a new moment", one that was not; "between moments", a search of today
that shares a connection with them.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from itertools import count, cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import corpus
from corpus import Shape
from engines import server
from knowbase.base import Base, create
from knowbase.memory.keep import FOREVER, OFF
from knowbase.text.splitting import Limits, chunks_of
from knowbase.values.changes import Changes, Draft
from knowbase.values.reading import Reading, Section
from large import MadeUp, Remembering
from measure import Row, interleaved, ratios, report
from postgres_size import cpu_of

SHAPE = Shape(sections=5, words=90)
VERSIONS = 10
SHARE = 20  # every 20th document changes
BATCH = 200  # documents a transaction
ROUNDS = 60
MOMENTS = 24
CASES: dict[str, dict[str, Any]] = {
    "hybrid": {},
    "by words": {"mode": "keyword"},
    "by meaning": {"mode": "semantic"},
    "hybrid, 10 % pass": {"tags": ["tenth"]},
}


class Sides(NamedTuple):
    """The base, the same without a history, and the CPU that was spent on both so far."""

    base: Base
    bare: Base
    spent: Callable[[], float]

    def cpu(self, work: Callable[[], object]) -> float:
        before = self.spent()
        work()
        return self.spent() - before


@cache
def sections_of(number: int) -> list[str]:
    return corpus.article(number, SHAPE).split("\n## ")


def draft(number: int, version: int) -> Draft:
    """An article as it is after some versions: each writes one section anew, another one each
    time."""
    sections = [*sections_of(number)]
    for one in range(1, version + 1):
        place = 1 + one % (SHAPE.sections - 1)
        sections[place] = sections_of(number + one * 1_000_003)[place]
    title, text = sections[0].rpartition("# ")[2].split("\n", 1)
    parts = [Section("_preamble", None, "", text, 1)]
    for place, section in enumerate(sections[1:], 1):
        heading, text = section.split("\n", 1)
        parts.append(Section(f"s{place}", heading, f"## {heading}\n", text, 10 * place))
    tags = [name for name, every in corpus.TAGS.items() if number % every == 0]
    reading = Reading("markdown", title, tuple(parts), {"tags": tags})
    embedder = MadeUp()
    chunks = chunks_of(reading, embedder.token_spans, Limits())
    vectors = tuple(embedder.embed_documents([one.text for one in chunks]))
    return Draft(f"article-{number}", reading, f"articles/{number}.md", "", chunks, vectors)


def moments() -> Iterator[str]:
    return (f"2026-01-{n // 1440 + 1:02}T{n // 60 % 24:02}:{n % 60:02}:00.000000Z" for n in count())


def fill(places: Mapping[str, str], chunks: int) -> None:
    """Bases with the same writes, of which each keeps what it is told to."""
    numbers = range(chunks // SHAPE.sections)
    written = moments()
    with ExitStack() as stack:
        stores = []
        for place, keep in places.items():
            create(place).close()
            store = stack.enter_context(Base(place, embedder=MadeUp())).store
            store.keeps = lambda _, keep=keep: keep != OFF
            store.use_model(MadeUp.model)
            stores.append(store)
        for version in range(VERSIONS + 1):
            some = numbers[:: SHARE if version else 1]
            for start in range(0, len(some), BATCH):
                now = next(written)
                drafts = (draft(one, version) for one in some[start : start + BATCH])
                changes = Changes(drafts=tuple(one._replace(updated_at=now) for one in drafts))
                for store in stores:
                    store.apply(changes, now)
        for store in stores:
            store.renew_index()
            store.compact()


def compare(sides: Sides, texts: list[str], rounds: int) -> Iterator[Row]:
    history = sides.base.store.history()
    last = history.last()
    first = min(one.until or last for one in history.versions()) - 1
    yield Row("changes", [last])
    yield Row("versions", [len(history.versions())])
    numbers = {"the start": first, "the middle": (first + last) // 2}
    for case, given in CASES.items():
        turns: dict[str, Iterator[str]] = {}

        def search(name: str, base: Base, as_of: str | None = None) -> float:
            text = next(turns.setdefault(name, cycle(texts)))  # noqa: B023 - asked at once
            return sides.cpu(lambda: base.search(text, as_of=as_of, **given))  # noqa: B023

        tasks = {
            "now": lambda: search("now", sides.base),
            "bare": lambda: search("bare", sides.bare),
        } | {
            name: (lambda name=name, number=number: search(name, sides.base, f"#{number}"))
            for name, number in numbers.items()
        }
        present = {name: tasks[name] for name in ("now", "bare")}
        interleaved(2, present)
        taken = interleaved(rounds, present)
        yield Row(f"{case}: now", [median(taken["now"]) * 1000], "ms CPU")
        yield Row("  against no history", ratios(taken["now"], taken["bare"]), "", "at most 1.05")
        interleaved(2, tasks)
        taken = interleaved(rounds, tasks)
        yield Row("  the same between moments", ratios(taken["now"], taken["bare"]))
        for name in numbers:
            yield Row(f"  as of {name}, at hand", ratios(taken[name], taken["bare"]), "", "2")
        yield Row("  as of a new moment", _new(sides, range(first, last), texts, given), "", "2")


def _new(sides: Sides, numbers: range, texts: list[str], given: dict[str, Any]) -> list[float]:
    """The first search of each of some moments, against one without a history beside it."""
    found = []
    for number, text in zip(numbers[:: max(1, len(numbers) // MOMENTS)], cycle(texts)):
        bare = sides.cpu(lambda: sides.bare.search(text, **given))  # noqa: B023
        then = sides.cpu(lambda: sides.base.search(text, as_of=f"#{number}", **given))  # noqa: B023
        found.append(then / bare)
    return found


def profile(sides: Sides, texts: list[str]) -> None:
    import cProfile
    import pstats

    last = sides.base.store.history().last()
    profiled = cProfile.Profile(time.process_time)
    for number, text in zip(range(last - 1, max(0, last - MOMENTS), -1), texts, strict=False):
        sides.base.search(text)
        profiled.runcall(sides.base.search, text, as_of=f"#{number}")
    pstats.Stats(profiled).sort_stats("tottime").print_stats(25)
    pstats.Stats(profiled).sort_stats("cumtime").print_stats(60)


@contextmanager
def places(home: Path, engine: str) -> Iterator[tuple[str, str, Callable[[], float]]]:
    """Where both bases lie, and the CPU of who answers."""
    if engine == "sqlite":
        yield str(home / "base.db"), str(home / "bare.db"), time.process_time
        return
    with server(home / "server") as url:
        postmaster = int((home / "server" / "postmaster.pid").read_text().split()[0])
        yield f"{url}#base", f"{url}#bare", cpu_of(postmaster, background=False)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--home", type=Path, help="where the bases lie, or are to lie")
    parser.add_argument("--profile", action="store_true", help="where a new moment's search goes")
    given = parser.parse_args()
    texts = corpus.queries(ROUNDS)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        home = (given.home or Path(folder)) / f"{given.engine}-{given.chunks}"
        home.mkdir(parents=True, exist_ok=True)
        base, bare, spent = stack.enter_context(places(home, given.engine))
        if not (home / "filled").exists():
            fill({base: FOREVER, bare: OFF}, given.chunks)
            (home / "filled").touch()
        one, other = (
            stack.enter_context(Base(at, embedder=Remembering(texts))) for at in (base, bare)
        )
        for side in (one, other):
            side.store.renew_index()  # a base that was upgraded has none
        sides = Sides(one, other, spent)
        if given.profile:
            profile(sides, texts)
        else:
            rows = list(compare(sides, texts, given.rounds))
            for name, side in (("with history", one), ("without", other)):
                rows.append(Row(f"the base, {name}", [(side.status().size_bytes or 0) / 1e6], "MB"))
            report(f"as_of {given.engine}", rows, as_json=False)


if __name__ == "__main__":
    main()
