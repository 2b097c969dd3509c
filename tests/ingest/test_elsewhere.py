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
            assert "8 of 8 files of . are not here, but others (such as private.md)" in told
            assert "kb add ." in told
        assert base.status().documents == 8
        assert base.add(["."]).added == ("private.md",)
    monkeypatch.chdir(ours)
    with Base(url) as base:
        assert base.sync().removed == ("private.md",)


def test_a_folder_within_is_not_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files have other paths there; what is asked for by name is added, and nothing moved."""
    eight_pages(tmp_path)
    (tmp_path / "readme.md").write_text("# Readme\n\nStays.\n")
    monkeypatch.chdir(tmp_path)
    url = new_base()
    with knowbase.create(url) as base:
        base.add(["."])
    monkeypatch.chdir("notes")
    with Base(url) as base:
        assert len(base.sync().warnings) == 1
        assert base.status().documents == 9
        report = base.add(["."])
        assert (len(report.added), report.moved, report.removed) == (8, (), ())
    monkeypatch.chdir(tmp_path)
    with Base(url) as base:
        report = base.sync()
        assert (len(report.removed), report.moved, report.changed) == (8, (), ())


def test_new_names_in_the_same_folder_are_added_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A base with a folder of its own needs not be told."""
    for url in (new_base(), str(tmp_path / "file" / "base.db")):
        in_database = "://" in url
        folder = tmp_path / ("database" if in_database else "file")
        folder.mkdir()
        eight_pages(folder)
        (folder / "readme.md").write_text("# Readme\n\nStays.\n")
        monkeypatch.chdir(folder)
        with knowbase.create(url) as base:
            base.add(["."])
            (folder / "notes").rename(folder / "pages")
            if in_database:
                assert base.sync().moved == ()
                assert len(base.add(["."]).moved) == 8
            else:
                assert len(base.sync().moved) == 8
