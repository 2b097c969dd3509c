"""Files that are not what they were when they were found: others write while a sync reads."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from knowbase import Base
from knowbase.ingest.report import Report
from wordy import eight_pages, words_alone


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    monkeypatch.setenv("KB_INDEX_MAX_FILE_MB", "1")
    with words_alone("sqlite", tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return eight_pages(tmp_path)


def meanwhile(interfere: Callable[[], None]) -> Callable[[object], None]:
    """Done once, when the first of the files has been read; the second one is, too."""
    waiting = [interfere]
    return lambda _: waiting.pop()() if waiting else None


def taken(report: Report) -> list[str]:
    return [os.path.basename(path) for path in report.added]


def test_what_is_gone_before_it_is_read_is_said_and_is_no_failure(base: Base, folder: Path) -> None:
    """A file that was removed, one that became a folder, a pipe, and one in a lost folder."""
    deep = folder / "deep"
    deep.mkdir()
    (deep / "9.md").write_text("# Page 9\n\nDeep water.\n")

    def interfere() -> None:
        for number in (3, 4, 5):
            (folder / f"{number}.md").unlink()
        (folder / "4.md").mkdir()
        (folder / "4.md" / "inner.md").write_text("# Inner\n\nA folder came.\n")
        os.mkfifo(folder / "5.md")
        (deep / "9.md").unlink()
        deep.rmdir()
        deep.write_text("a file came")

    report = base.add([str(folder)], progress=meanwhile(interfere))
    assert taken(report) == ["0.md", "1.md", "2.md", "6.md", "7.md"]
    assert report.failed == ()
    assert report.warnings == ("4 documents: gone meanwhile (such as notes/3.md)",)
    report = base.sync()
    assert [os.path.basename(path) for path in report.added] == ["inner.md", "deep"]
    assert (report.removed, report.failed, report.warnings) == ((), (), ())


def test_a_file_that_grows_beyond_what_is_read_costs_itself_alone(base: Base, folder: Path) -> None:
    def grow() -> None:
        with (folder / "4.md").open("ab") as file:
            file.truncate(1 << 30)

    report = base.add([str(folder)], progress=meanwhile(grow))
    assert len(report.added) == 7
    assert [one.reason for one in report.failed] == [
        "it grew while it was read; kb sync looks again"
    ]
    report = base.sync()
    assert [one.reason for one in report.skipped] == ["larger than 1 MB"]


def test_a_file_that_is_just_being_written_keeps_its_document(base: Base, folder: Path) -> None:
    """Most programs empty a file before they write it anew."""
    base.add([str(folder)])
    page = folder / "4.md"
    known = base.get(str(page)).document
    page.write_text("")
    writer = threading.Timer(0.25, page.write_text, ["# Page 4\n\nNeap tides.\n"])
    writer.start()
    report = base.sync()
    writer.join()
    assert (report.removed, report.skipped) == ((), ())
    base.sync()
    document = base.get(str(page)).document
    assert (document.id, document.code) == (known.id, known.code)
    assert "Neap" in base.get(document.code).text


def test_a_file_that_was_emptied_loses_its_document(base: Base, folder: Path) -> None:
    base.add([str(folder)])
    page = folder / "4.md"
    page.write_text("")
    os.utime(page, (time.time() - 60, time.time() - 60))
    report = base.sync()
    assert [os.path.basename(path) for path in report.removed] == ["4.md"]
    assert [one.reason for one in report.skipped] == ["empty"]
