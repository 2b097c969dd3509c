"""Two that add the same files at the same time."""

from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest

import knowbase
from knowbase import Base
from knowbase.base.services import Opened
from knowbase.ingest.report import Progress, Report
from knowbase.store.postgres import create as create_postgres
from postgres import new_base


@pytest.fixture(params=["sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Base]:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")  # words are enough here
    path = str(tmp_path / "base.db")
    if request.param == "sqlite":
        made = knowbase.create(path)
    else:
        made = Base(path, opened=Opened(create_postgres(new_base())))
    with made:
        yield made


def test_of_two_that_add_the_same_one_says_so(base: Base, tmp_path: Path) -> None:
    """They read the same files at the same time; the one that is slower meets the documents."""

    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.md").write_text(f"# Page {number}\n\nTides of port {number}.\n")

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
