"""Whole searches in large bases: what `Base.search` takes, in CPU time, and what it holds.

    python bench/large.py --home FOLDER --chunks 10000 100000 1000000
    python bench/large.py --home FOLDER --chunks 100000 --profile hybrid

The bases of vectors.py, made where they are missing and kept: made-up texts with the words of real
prose, and made-up vectors in clusters. Queries of two to seven words, whose vectors are made up as
well, so embedding is left out; each is asked once in every mode and under every filter, one kind
after the other for each query, so that a slow moment of the machine is on all of them. Also with a
mistyped word, and with a type that all documents have. Memory is what the process has of its own,
without pages of files that it maps.
"""

import argparse
import os
import random
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in every command

import corpus
from knowbase.base import Base
from knowbase.search.request import MODES, SearchRequest
from knowbase.values.vectors import Vector
from measure import Row, cpu, interleaved, milliseconds, report
from vectors import MODEL, clustered, fill

QUERIES = 40
WARM = 3  # queries that are asked before
GOALS = {
    100_000: {"hybrid": 25, "keyword": 4, "semantic": 10},
    1_000_000: {"hybrid": 120, "keyword": 25, "semantic": 60},
}


class MadeUp:
    """An embedder without a model: a text's vector is drawn by its letters."""

    model = MODEL
    max_tokens = 512

    def embed_query(self, text: str) -> Vector:
        made: bytes = clustered(zlib.crc32(text.encode()), 1)[0].tobytes()
        return made

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return map(self.embed_query, texts)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, 0)] * len(text.split())


class Remembering(MadeUp):
    """The same, having made the vectors of the queries before."""

    def __init__(self, texts: Sequence[str]) -> None:
        known = {text: MadeUp().embed_query(text) for text in texts}
        self._known = known

    def embed_query(self, text: str) -> Vector:
        return self._known[text]


class Kind(NamedTuple):
    """One kind of search."""

    mode: str
    filter: str = "all"

    def ask(self, base: Base, text: str) -> float:
        """The CPU seconds that a query takes."""
        tags = () if self.filter in ("all", "a type that all have") else (self.filter,)
        types = ("markdown",) if self.filter == "a type that all have" else ()
        request = SearchRequest(text, mode=self.mode, tags=tags, type=types, top=10)
        return cpu(lambda: base.search(request))


KINDS = [
    *(Kind(mode, name) for mode in MODES for name in ("all", *corpus.TAGS)),
    Kind("hybrid", "a type that all have"),
]


def mistyped(text: str) -> str:
    """With two letters of the longest word changed about."""
    word = max(text.split(), key=len)
    at = random.Random(text).randrange(1, len(word) - 2)
    return text.replace(word, word[:at] + word[at + 1] + word[at] + word[at + 2 :])


def own_memory() -> float:
    """MB of this process that are no pages of files."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1000


def measured(path: str, chunks: int) -> list[Row]:
    texts = corpus.queries(QUERIES + WARM)
    texts += [mistyped(text) for text in texts]
    rows = []
    with Base(path, embedder=Remembering(texts)) as base:
        started = time.process_time()
        if base.store.renew_index():
            taken = time.process_time() - started
            rows.append(Row("writing both indexes", [chunks / taken], "chunks/CPU s", "50,000"))
        right, wrong = texts[: QUERIES + WARM], texts[QUERIES + WARM :]
        tasks = {str(kind): _each(right, base, kind) for kind in KINDS}
        tasks["mistyped"] = _each(wrong, base, Kind("keyword"))
        taken_by = interleaved(len(right), tasks)
        for kind in KINDS:
            goal = GOALS.get(chunks, {}).get(kind.mode, "") if kind.filter == "all" else ""
            times = milliseconds(taken_by[str(kind)][WARM:])
            rows.append(Row(f"{kind.mode}, {kind.filter}", times, "ms CPU", str(goal)))
        times = milliseconds(taken_by["mistyped"][WARM:])
        rows.append(Row("keyword, a mistyped word", times, "ms CPU"))
        rows.append(Row("memory of its own", [own_memory()], "MB", "300"))
    return rows


def _each(texts: Sequence[str], base: Base, kind: Kind) -> Callable[[], float]:
    """The CPU seconds that the next query takes, at each call."""
    left = iter(texts)
    return lambda: kind.ask(base, next(left))


def profiled(path: str, mode: str) -> None:
    """Where a search spends its time."""
    import cProfile
    import pstats

    texts = corpus.queries(QUERIES)
    with Base(path, embedder=Remembering(texts)) as base:
        for text in texts[:WARM]:
            base.search(SearchRequest(text, mode=mode))
        profile = cProfile.Profile(time.process_time)
        profile.enable()
        for text in texts[WARM:]:
            base.search(SearchRequest(text, mode=mode))
        profile.disable()
    pstats.Stats(profile).sort_stats("tottime").print_stats(30)
    pstats.Stats(profile).sort_stats("cumtime").print_stats(60)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--home", required=True, help="where the bases are, or are made and kept")
    parser.add_argument("--json", action="store_true", help="print one JSON object a size")
    parser.add_argument("--profile", choices=MODES, help="where such a search spends its time")
    given = parser.parse_args()
    hybrid = []
    for chunks in given.chunks:
        folder = Path(given.home, f"b{chunks}")
        folder.mkdir(parents=True, exist_ok=True)
        path = str(folder / "base.db")
        if not Path(path).exists():
            fill(path, chunks)
        if given.profile:
            profiled(path, given.profile)
            continue
        rows = measured(path, chunks)
        hybrid.append(median(next(row for row in rows if row.name == "hybrid, all").values))
        report(f"large {chunks}", rows, as_json=given.json)
    if len(hybrid) > 1:
        print(f"growth of a hybrid search: {hybrid[-1] / hybrid[0]:.1f}")


if __name__ == "__main__":
    main()
