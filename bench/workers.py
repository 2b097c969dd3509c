"""What it costs that many machines embed one base in PostgreSQL.

The same texts are embedded by one process that asks nobody, and by 1, 2 and 4 that share them
(`kb embed --worker`), each time for a model that the base does not have yet. What is compared is
CPU, of the processes and of the server together, for one machine's cores are shared by all of
them. With `cheap`, vectors of 384 numbers cost almost nothing, so that what is left is reading,
sharing and storing; with `--packaged`, the packaged model makes them.

python bench/workers.py
python bench/workers.py --packaged --texts 400 --rounds 1
"""

import argparse
import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import psycopg

import corpus
from engines import server
from knowbase import Note
from knowbase.base import Base, create
from knowbase.embed.granite import Granite
from knowbase.values.vectors import Model
from measure import Row, interleaved, milliseconds, ratios, report

WORKERS = (1, 2, 4)
LEASE = 120.0  # seconds
ALONE = "one that asks nobody"
SHAPE = corpus.Shape(sections=1, words=80)
TICKS = os.sysconf("SC_CLK_TCK")


class Cheap:
    """An embedder that costs almost nothing."""

    max_tokens = 512

    def __init__(self, revision: str) -> None:
        self.model = Model("cheap", revision, 384)

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
        return map(self.embed_query, texts)

    def embed_query(self, text: str) -> bytes:
        numbers = np.random.default_rng(len(text) + sum(map(ord, text))).normal(size=384)
        return bytes((numbers / np.linalg.norm(numbers)).astype(np.float32).tobytes())


class Packaged(Granite):
    """The packaged model, under another name each time."""

    def __init__(self, revision: str) -> None:
        super().__init__(threads=1)
        self.model = self.model._replace(revision=revision)


class Task(NamedTuple):
    """What one process does."""

    url: str
    embedder: type
    revision: str
    lease: float | None


def embed(task: Task, start: Any, told: Any) -> None:
    """Once all are there: the CPU that it takes, and how many vectors were made."""
    with Base(task.url, embedder=task.embedder(task.revision)) as base:
        base.embedder.embed_query("ready")
        start.wait()
        before = time.process_time()
        made = base.models.embed(None, drop_old=False, progress=lambda _: None, lease=task.lease)
        told.put((time.process_time() - before, made.embedded))


class Comparison:
    """One base, which is embedded again and again."""

    def __init__(self, url: str, texts: int, embedder: type) -> None:
        self.url, self.texts, self.embedder = url, texts, embedder
        self._revisions = 0
        create(url).close()
        with Base(url, embedder=Cheap("0")) as base:
            for first in range(0, texts, 500):
                some = range(first, min(first + 500, texts))
                base.notes([Note(corpus.article(one, SHAPE)) for one in some])
            self._texts = base.status().chunks

    def cpu(self, workers: int, lease: float | None) -> float:
        """Seconds of CPU for one text, of the workers and of the server."""
        self._revisions += 1
        task = Task(self.url, self.embedder, str(self._revisions), lease)
        around = multiprocessing.get_context("spawn")
        start, told = around.Barrier(workers + 1), around.Queue()
        processes = [around.Process(target=embed, args=(task, start, told)) for _ in range(workers)]
        for process in processes:
            process.start()
        start.wait()
        before = server_cpu(self.url)
        done = [told.get() for _ in processes]
        spent = server_cpu(self.url) - before
        for process in processes:
            process.join()
        made = sum(number for _, number in done)
        assert made == self._texts, f"{made} vectors of {self._texts} texts"
        self._forget_others()
        return float(spent + sum(seconds for seconds, _ in done)) / self._texts

    def _forget_others(self) -> None:
        with Base(self.url, embedder=Cheap("0")) as base:
            for one in base.store.models():
                if not one.active:
                    base.store.drop_model(one.model)


def server_cpu(url: str) -> float:
    """Seconds that the server and all it has started have taken until now."""
    with psycopg.connect(url.partition("#")[0]) as connection:
        parent = int(_stat(connection.info.backend_pid)[1])
    ended = sum(map(int, _stat(parent)[11:15]))  # its own, and of whom it has seen end
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return (ended + sum(sum(map(int, _stat(int(one))[11:13])) for one in children)) / TICKS


def _stat(process: int) -> list[str]:
    """The facts behind the name, which may have blanks."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:  # ended just now: its parent has the numbers
        return ["0"] * 20


def given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=int, default=2000, help="how many (2000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often (3)")
    parser.add_argument("--packaged", action="store_true", help="with the packaged model")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def main() -> None:
    asked = given()
    with TemporaryDirectory() as folder, server(Path(folder)) as url:
        bare = url.partition("#")[0]
        compared = Comparison(f"{bare}#workers", asked.texts, Packaged if asked.packaged else Cheap)
        tasks: dict[str, Callable[[], float]] = {ALONE: partial(compared.cpu, 1, None)}
        for number in WORKERS:
            tasks[f"{number} sharing"] = partial(compared.cpu, number, LEASE)
        taken = interleaved(asked.rounds, tasks)
    rows = [Row(f"{name}: CPU a text", milliseconds(one), "ms") for name, one in taken.items()]
    for number in WORKERS:
        more = [(one - 1) * 100 for one in ratios(taken[f"{number} sharing"], taken[ALONE])]
        rows.append(Row(f"{number} sharing: more than {ALONE}", more, "%", "under 5"))
    report("workers", rows, as_json=asked.json)


if __name__ == "__main__":
    main()
