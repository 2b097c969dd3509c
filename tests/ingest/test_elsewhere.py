"""A base in a database has no folder of its own: it is synced wherever the command is run."""

from pathlib import Path

import pytest

import knowbase
from knowbase import Base
from postgres import new_base
from wordy import eight_pages


@pytest.fixture(autouse=True)
def _words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")


def test_another_folder_is_neither_taken_in_nor_for_one_that_lost_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, ours, other = new_base(), tmp_path / "ours", tmp_path / "other"
    ours.mkdir()
    other.mkdir()
    eight_pages(ours)
    (other / "private.md").write_text("# Private\n\nNobody's business.\n")
    monkeypatch.chdir(ours)
    with knowbase.create(url) as base:
        base.add(["."])
    monkeypatch.chdir(other)
    with Base(url) as base:
        for prune in (False, True):
            report = base.sync(prune=prune)
            assert (report.added, report.removed, report.skipped) == ((), (), ())
            [told] = report.warnings
            assert (
                "none of the 8 known files of . is here, but other files (such as private.md)"
                in told
            )
            assert "kb add ." in told
        assert base.status().documents == 8
        assert base.add(["."]).added == ("private.md",)
    monkeypatch.chdir(ours)
    with Base(url) as base:
        assert base.sync().removed == ("private.md",)


def test_a_folder_with_new_names_is_the_same_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file stayed; in a base with a folder of its own, none needs to."""
    for url, keeps in ((new_base(), True), (str(tmp_path / "file" / "base.db"), False)):
        folder = tmp_path / ("database" if keeps else "file")
        folder.mkdir()
        eight_pages(folder)
        (folder / "readme.md").write_text("# Readme\n\nStays.\n")
        monkeypatch.chdir(folder)
        with knowbase.create(url) as base:
            base.add(["."])
            (folder / "notes").rename(folder / "pages")
            if not keeps:
                (folder / "readme.md").rename(folder / "index.md")
            assert len(base.sync().moved) == (8 if keeps else 9)
