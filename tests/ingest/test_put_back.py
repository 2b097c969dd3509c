"""Documents that are put back as they were, and what becomes of them beside their files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Kb
from knowbase import Base
from wordy import ENGINES, eight_pages, words_alone


@pytest.fixture(params=ENGINES)
def base(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Base]:
    with words_alone(request.param, tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return eight_pages(tmp_path)


def told(base: Base) -> dict[str, tuple[str, tuple[str, ...]]]:
    return {one.message: (one.hint, one.documents) for one in base.check().findings}


@pytest.mark.parametrize("gone", [2, 7])
def test_what_is_put_back_without_its_file_is_named_and_can_be_taken_out(
    base: Base, folder: Path, gone: int
) -> None:
    base.add(folder)
    paths = [f"notes/{number}.md" for number in range(gone)]
    for path in paths:
        (folder.parent / path).unlink()
    base.sync(prune=True)
    base.history.undo()
    for verify in (False, True):
        report = base.sync(verify=verify)
        assert report.removed == ()
        (warning,) = report.warnings
        assert warning.startswith(f"{gone} files are not there, of documents that were put back")
        assert "notes/0.md, notes/1.md" in warning
    whatever = f"{gone} files are missing, of documents that were put back"
    assert told(base) == {whatever: ("kb sync --prune", tuple(paths))}
    assert whatever in [one.what for one in base.doctor().findings]
    assert sorted(base.sync(prune=True).removed) == paths
    assert base.status().documents == 8 - gone
    assert told(base) == {}


def test_a_file_that_is_there_again_is_its_document(base: Base, folder: Path) -> None:
    base.add(folder)
    page, text = folder / "3.md", (folder / "3.md").read_text()
    known = base.get("notes/3.md").document
    page.unlink()
    base.sync()
    base.history.undo()
    page.write_text(text + "\nAnd of port 9.\n")
    assert base.sync().changed == ("notes/3.md",)
    content = base.get("notes/3.md")
    assert (content.document.id, "port 9" in content.text) == (known.id, True)
    assert base.sync().unchanged == 8


def test_a_change_that_was_undone_is_taken_in_by_who_asks_for_the_content(
    base: Base, folder: Path
) -> None:
    base.add(folder)
    (folder / "3.md").write_text("# Page 3\n\nAnother text.\n")
    base.sync()
    base.history.undo()
    assert base.sync().changed == ()  # until the file changes
    assert "Tide tables" in base.get("notes/3.md").text
    whatever = "1 documents are as they were put back, whatever their files say"
    assert told(base) == {whatever: ("kb sync --verify", ("notes/3.md",))}
    assert base.sync(verify=True).changed == ("notes/3.md",)
    assert "Another text." in base.get("notes/3.md").text
    assert told(base) == {}


def test_a_name_that_was_undone_is_the_files_own_at_the_next_sync(base: Base, folder: Path) -> None:
    base.add(folder)
    known = base.get("notes/3.md").document
    (folder / "3.md").rename(folder / "other.md")
    assert base.sync().moved == ("notes/other.md",)
    base.history.undo()
    assert base.get("notes/3.md").document.id == known.id
    assert base.sync().moved == ("notes/other.md",)
    assert base.get("notes/other.md").document.id == known.id
    assert (base.status().documents, told(base)) == (8, {})


def test_a_part_that_is_put_back_has_no_file_of_its_own(base: Base, folder: Path) -> None:
    message = (
        "From a Mon Jan  5 08:00:00 2026\nSubject: {0}\nFrom: a@example.org\n\nText of {0}.\n\n"
    )
    box = folder / "box.mbox"
    box.write_text(message.format("one") + message.format("two"))
    base.add(folder)
    before = base.status().documents
    box.write_text(message.format("one"))
    base.sync()
    assert base.status().documents == before - 1
    base.history.undo()
    assert base.status().documents == before
    assert base.sync().warnings == ()
    base.sync(verify=True)
    assert base.status().documents == before - 1


def test_what_no_source_holds_any_more_is_said_by_undo_and_by_the_doctor(kb: Kb) -> None:
    kb.write("kb.toml", "[embed]\nvectors = false\n")
    for name in ("welcome.md", "docs/a.md", "docs/b.md"):  # and kb.toml
        kb.write(name, f"# {name}\n\nThe text of {name}.\n")
    kb("add", ".")
    kb("rm", ".", "--yes")
    assert "kb add ." in kb("undo", "--dry-run").out
    undone = kb("undo").out
    assert "no source holds their files any more" in undone
    assert "kb add ." in undone
    kb.write("welcome.md", "# welcome.md\n\nThe xylophone.\n")
    faults = {one["what"]: one["command"] for one in kb.json("doctor")["findings"]}
    assert faults["4 documents have files that no sync looks at"] == "kb add ."
    (kb.folder / "docs/b.md").unlink()
    before = kb.json("log")["changes"][0]["number"]
    report = kb.json("add", ".")
    assert (report["added"], report["changed"], report["unchanged"]) == ([], ["welcome.md"], 2)
    log = kb.json("log")["changes"]
    assert [len(one["touched"]) for one in log if one["number"] > before] == [1]
    assert kb.json("search", "xylophone")["hits"]
    faults = {one["what"]: one["command"] for one in kb.json("doctor")["findings"]}
    whatever = "1 documents have files that are gone, and that no sync looks for"
    assert faults[whatever] == "kb rm docs/b.md"
    kb("rm", "docs/b.md", "--yes")
    assert kb.json("check")["findings"] == []


def test_an_undone_removal_of_sources_names_the_folders(base: Base, folder: Path) -> None:
    other = folder.parent / "other" / "below"
    other.mkdir(parents=True)
    (other / "a.md").write_text("# A\n\nText.\n")
    base.add([folder, other.parent])
    base.remove([str(folder), str(other.parent)])
    assert base.history.undo().unsynced == ("notes", "other")
    base.add([folder])
    assert base.check().findings[0].hint == "kb add other/below/a.md"
    report = base.add("other")
    assert (report.added, report.unchanged) == ((), 1)
    assert told(base) == {}
