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
    pages: int = 0
    pages_left: float = 0.0


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


@pytest.mark.parametrize("page_takes", [2.0, 20.0, 60.0])
def test_pages_that_are_looked_at_take_their_time(page_takes: float) -> None:
    """Images by their number, scanned pages of PDFs as soon as they are known, however long this
    machine looks at one."""
    images = [(f"{number}.png", 900_000) for number in range(40)]
    scans = [(f"{number}.pdf", 2_000_000) for number in range(6)]
    prose = [(f"{number}.md", 40_000) for number in range(60)]
    mixed = [one for group in zip(prose[:40], images, strict=True) for one in group]
    files = [*mixed[:20], *scans[:2], *mixed[20:], *scans[2:], *prose[40:]]
    load, pace = Workload(files, sees=True), Pace()
    now, shown = 0.0, []

    def show() -> None:
        at = At(load.work, load.done, load.left, load.pages, load.pages_left)
        shown.append((now, pace.left(now, at)))

    for path, size in files:
        pages = {"png": 1, "pdf": 20}.get(path[-3:], 0)
        for page in range(1, pages + 1):
            load.look(path, page, pages)
            show()
            now += page_takes
        load.drafted(path, 0 if pages else 10_000)
        load.read(path, size)
        show()
        if not pages:
            now += 10_000 / SPEED
            load.stored()
            show()
    judged = [(said, now - at) for at, said in shown if now / 2 <= at <= now * 0.95]
    assert len(judged) >= 20
    off = [(said, left) for said, left in judged if said is None or abs(said - left) > left / 4]
    assert not off
