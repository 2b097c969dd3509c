"""The time that is left, by the text that is left: small files, books and pictures of a run."""

from typing import NamedTuple

import pytest

from knowbase.ingest.workload import Pace, Workload

SPEED = 500.0  # tokens a second
LOADING = 20.0  # seconds before the first
BATCH = 20_000  # tokens that are stored at once


class At(NamedTuple):
    work: float
    stored: float
    left: float


RUNS = {
    "the same all along": [("a.md", 4_000, 0.3)] * 300,
    "long ones last": [("a.md", 2_000, 0.25)] * 300 + [("z.md", 200_000, 0.25)] * 10,
    "pictures among them": [("a.md", 4_000, 0.3), ("b.pdf", 900_000, 0.01)] * 80,
    "code behind prose": [("a.md", 5_000, 0.22)] * 150 + [("b.py", 6_000, 0.3)] * 150,
    "much that is no text": [("a.md", 4_000, 0.3), ("b.png", 300_000, 0.0)] * 300
    + [("c.woff", 3_000_000, 0.0)] * 20,
    "a few books": [("a.epub", 3_000_000, 0.05)] * 8,
}


@pytest.mark.parametrize("files", RUNS.values(), ids=list(RUNS))
def test_over_the_second_half_it_is_right_within_a_quarter(
    files: list[tuple[str, int, float]],
) -> None:
    load, pace = Workload((path, size) for path, size, _ in files), Pace()
    now, waiting, shown = 0.0, 0.0, []
    for path, size, density in files:
        load.read(path, size)
        load.drafted(path, int(size * density))
        waiting += int(size * density)
        while waiting >= BATCH:
            now += (LOADING if now == 0 else 0.0) + BATCH / SPEED
            waiting -= BATCH
            shown += _stored(load, pace, now, waiting)
    end = now + waiting / SPEED
    judged = [(said, end - at) for at, said in shown if end / 2 <= at <= end * 0.95]
    assert len(judged) >= 3
    assert all(abs(said - left) <= 0.25 * left for said, left in judged), judged


def _stored(load: Workload, pace: Pace, now: float, rest: float) -> list[tuple[float, float]]:
    """What is shown once a batch is stored; `rest` waits for the next one."""
    load.stored()
    load.done -= rest
    load.drafted("", int(rest))
    left = pace.left(now, At(load.work, load.done, load.left))
    return [(now, left)] if left is not None else []
