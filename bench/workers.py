"""What it costs that many machines embed one base in PostgreSQL.

The same texts are embedded by 1, 2 and 4 processes that share them (`kb embed --worker`), each
time for a model that the base does not have yet, and by one that asks nobody. What counts is CPU,
of the processes and of the server's sessions for them, since all share one machine's cores; sharing
is taking texts, keeping them, giving them back, and asking whether others are done.

Vectors of 384 numbers that cost almost nothing leave reading, sharing and storing; `--packaged` has
them made by the packaged model.

python bench/workers.py
python bench/workers.py --packaged --texts 400 --rounds 1
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import corpus
from engines import server
from knowbase import Note
from knowbase.base import Base, create
from knowbase.embed.granite import Granite
from knowbase.store.postgres import vectors as stored
from knowbase.values.vectors import Model
from measure import Row, milliseconds, report

WORKERS = (1, 2, 4)
LEASE = 120.0  # seconds
ALONE = "one that asks nobody"
SHAPE = corpus.Shape(sections=1, words=80)


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


class Meter:
    """The CPU of a process and of its session in the server, in all and for sharing."""

    def __init__(self, base: Base) -> None:
        store: Any = base.store
        self.sharing = 0.0
        self._session = store._connections.run(lambda connection: connection.info.backend_pid)
        claims = store.claims()
        for name in ("take", "extend", "give_back"):
            setattr(claims, name, self._counted(getattr(claims, name)))
        store.claims = lambda: claims
        store.unembedded = self._counted(store.unembedded)
        held: Any = stored
        held.end_claims = self._counted(held.end_claims)

    def now(self) -> float:
        nanoseconds = Path(f"/proc/{self._session}/schedstat").read_text().split()[0]
        return time.process_time() + int(nanoseconds) / 1e9

    def _counted(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*values: Any, **named: Any) -> Any:
            before = self.now()
            try:
                return work(*values, **named)
            finally:
                self.sharing += self.now() - before

        return counted


class Spent(NamedTuple):
    """Seconds of CPU for one text."""

    all: float
    sharing: float


class Task(NamedTuple):
    """What one process does."""

    url: str
    embedder: type
    revision: str
    lease: float | None


def embed(task: Task, start: Any, told: Any) -> None:
    """Once all are there: the CPU that it takes, of it for sharing, and the vectors made."""
    with Base(task.url, embedder=task.embedder(task.revision)) as base:
        base.embedder.embed_query("ready")
        meter = Meter(base)
        start.wait()
        before = meter.now()
        made = base.models.embed(None, drop_old=False, progress=lambda _: None, lease=task.lease)
        told.put((meter.now() - before, meter.sharing, made.embedded))


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

    def cpu(self, workers: int, lease: float | None) -> Spent:
        self._revisions += 1
        task = Task(self.url, self.embedder, str(self._revisions), lease)
        around = multiprocessing.get_context("spawn")
        start, told = around.Barrier(workers + 1), around.Queue()
        processes = [around.Process(target=embed, args=(task, start, told)) for _ in range(workers)]
        for process in processes:
            process.start()
        start.wait()
        done = [told.get() for _ in processes]
        for process in processes:
            process.join()
        everything, sharing, made = map(sum, zip(*done, strict=True))
        assert made == self._texts, f"{made} vectors of {self._texts} texts"
        self._forget_others()
        return Spent(everything / self._texts, sharing / self._texts)

    def _forget_others(self) -> None:
        with Base(self.url, embedder=Cheap("0")) as base:
            for one in base.store.models():
                if not one.active:
                    base.store.drop_model(one.model)


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
        alone: list[Spent] = []
        shared: dict[int, list[Spent]] = {number: [] for number in WORKERS}
        for _ in range(asked.rounds):
            alone.append(compared.cpu(1, None))
            for number in WORKERS:
                shared[number].append(compared.cpu(number, LEASE))
    rows = [Row(f"{ALONE}: CPU a text", milliseconds([one.all for one in alone]), "ms")]
    for number, spent in shared.items():
        name = f"{number} sharing"
        rows.append(Row(f"{name}: CPU a text", milliseconds([one.all for one in spent]), "ms"))
        rows.append(Row(f"{name}: for that", milliseconds([one.sharing for one in spent]), "ms"))
        part = [100 * one.sharing / one.all for one in spent]
        rows.append(Row(f"{name}: part of all", part, "%", "under 5"))
    report("workers", rows, as_json=asked.json)


if __name__ == "__main__":
    main()
