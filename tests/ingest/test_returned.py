"""Files that go and come back, as a checkout of another branch has them do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase import Base
from wordy import eight_pages, words_alone


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    with words_alone("sqlite", tmp_path, monkeypatch) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return eight_pages(tmp_path)


def test_a_file_that_is_back_as_it_was_is_the_document_that_it_was(
    base: Base, folder: Path
) -> None:
    base.add([str(folder)])
    page, text = folder / "4.md", (folder / "4.md").read_text()
    known = base.get(str(page)).document
    other, third = (base.get(str(folder / name)).document for name in ("5.md", "6.md"))
    base.sessions.relate(known.code, other.code, "RELATED_TO")
    base.sessions.relate(known.code, third.code, "RELATED_TO")
    base.lifecycle.archive([known.code])
    before = base.get(known.code).document
    for path in (page, folder / "6.md"):
        path.unlink()
    assert len(base.sync().removed) == 2
    page.write_text(text)
    (folder / "6.md").write_text("# Page 6\n\nTide tables of port 6.\n")
    assert base.sync().added == ("notes/4.md", "notes/6.md")
    document = base.get(str(page)).document
    assert document._replace(updated_at="", seq=0) == before._replace(updated_at="", seq=0)
    related = base.graph.links(document.code).links
    found = [one.document.code for one in related if one.relation == "RELATED_TO"]
    assert sorted(found) == [other.code, third.code]  # one that stayed, and one that came back
    assert base.sync(verify=True).added == ()
    assert base.check(deep=True).findings == ()


def test_a_file_that_says_something_else_is_a_new_document(base: Base, folder: Path) -> None:
    base.add([str(folder)])
    page = folder / "4.md"
    known = base.get(str(page)).document
    base.lifecycle.archive([known.code])
    page.unlink()
    base.sync()
    page.write_text("# Another page\n\nWhich nobody has archived.\n")
    base.sync()
    document = base.get(str(page)).document
    assert document.id != known.id
    assert document.code != known.code
    assert not document.archived


def test_a_code_that_another_one_took_meanwhile_is_not_taken_from_it(
    base: Base, folder: Path
) -> None:
    base.add([str(folder)])
    page, text = folder / "4.md", (folder / "4.md").read_text()
    known = base.get(str(page)).document
    page.unlink()
    base.sync()
    (folder / "9.md").write_text(f"---\ncode: {known.code}\n---\n# Taker\n\nIt is mine now.\n")
    base.sync()
    page.write_text(text)
    report = base.sync()
    assert report.added == ("notes/4.md",)
    document = base.get(str(page)).document
    assert (document.id, document.code == known.code) == (known.id, False)
    assert base.get(known.code).document.title == "Taker"


def test_what_was_erased_does_not_come_back(base: Base, folder: Path) -> None:
    base.add([str(folder)])
    page, text = folder / "4.md", (folder / "4.md").read_text()
    known = base.get(str(page)).document
    page.unlink()
    base.sync()
    base.history.erase([known.id])
    page.write_text(text)
    assert base.sync().added == ("notes/4.md",)
    assert base.get(str(page)).document.id != known.id


def test_what_was_removed_by_hand_does_not_come_back(base: Base, folder: Path) -> None:
    base.add([str(folder)])
    page = folder / "4.md"
    known = base.get(str(page)).document
    base.lifecycle.forget([known.code])
    base.remove([known.code])
    assert base.add([str(page)]).added == ("notes/4.md",)
    document = base.get(str(page)).document
    assert (document.id == known.id, document.deleted_at) == (False, None)
