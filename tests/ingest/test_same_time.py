"""Two that add the same files at the same time."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

from knowbase import Base
from knowbase.ingest.report import Progress, Report
from wordy import ENGINES, eight_pages, words_alone


@pytest.fixture(params=ENGINES)
def base(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Base]:
    with words_alone(request.param, tmp_path, monkeypatch) as made:
        yield made


def test_of_two_that_add_the_same_one_says_so(base: Base, tmp_path: Path) -> None:
    """They read the same files at the same time; the one that is slower meets the documents."""

    folder = eight_pages(tmp_path)

    def meanwhile(_: Progress) -> None:
        if not others:
            others.append(Thread(target=lambda: reports.append(base.add(folder))))
            others[0].start()
            others[0].join()

    others: list[Thread] = []
    reports: list[Report] = []
    later = base.add(folder, progress=meanwhile)
    assert len(reports[0].added) == 8
    assert (later.added, later.changed, later.unchanged) == ((), (), 8)
    assert base.status().documents == 8
