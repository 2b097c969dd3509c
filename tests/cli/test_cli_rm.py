"""Removing from the base; files on disk stay."""

import pytest
from children import assert_in_step

from conftest import Kb


def test_a_document_is_removed_by_its_code(own_handbook: Kb) -> None:
    out = own_handbook("rm", "--yes", "HB-T-0002").out
    assert "removed HB-T-0002: Git on a new laptop" in out
    assert "files stay on disk" in out
    own_handbook.error("get", "HB-T-0002", code=3)
    hits = own_handbook.json("search", "install git", "--fts-only")["hits"]
    assert "HB-T-0002" not in {hit["code"] for hit in hits}
    assert (own_handbook.folder / "handbook/engineering/git-setup.md").exists()
    assert_in_step(own_handbook.base)


def test_a_dry_run_shows_the_same_and_changes_nothing(own_handbook: Kb) -> None:
    before = own_handbook.json("status")
    shown = own_handbook.json("rm", "--yes", "HB-T-0002", "handbook/people", "--dry-run")
    assert shown["dry_run"] is True
    assert len(shown["documents"]) == 7
    assert own_handbook.json("status") == before
    done = own_handbook.json("rm", "--yes", "HB-T-0002", "handbook/people")
    assert done == {**shown, "dry_run": False}
    assert own_handbook.json("status")["documents"] == before["documents"] - 7


@pytest.mark.parametrize(
    ("reference", "number"),
    [("handbook/welcome.md", 1), ("handbook/people", 6), ("handbook/people/", 6), ("handbook", 40)],
)
def test_a_file_a_folder_and_a_whole_source_can_be_removed(
    own_handbook: Kb, reference: str, number: int
) -> None:
    removal = own_handbook.json("rm", "--yes", reference)
    assert len(removal["documents"]) == number
    assert removal["sources"] == (["handbook"] if number == 40 else [])
    assert own_handbook.json("status")["documents"] == 40 - number
    assert sum(path.is_file() for path in (own_handbook.folder / "handbook").rglob("*")) == 44


def test_a_removed_file_stays_out_until_it_is_added_again(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb.write("docs/b.md", "# B\n\nbeta\n")
    kb("add", "docs")
    kb("rm", "--yes", "docs/a.md")
    report = kb.json("sync")
    assert report["added"] == []
    assert report["skipped"][0]["path"] == "docs/a.md"
    assert "removed by hand" in report["skipped"][0]["reason"]
    kb.write("docs/a.md", "# A\n\nalpha has changed\n")
    assert kb.json("sync")["added"] == []
    assert kb.json("add", "docs/a.md")["added"] == ["docs/a.md"]
    assert kb.json("sync")["unchanged"] == 2


def test_a_removed_source_is_not_synced_and_can_be_added_again(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb("add", "docs")
    kb("rm", "--yes", "docs")
    assert kb.json("status")["sources"] == []
    assert kb.json("sync")["added"] == []
    assert kb.json("add", "docs")["added"] == ["docs/a.md"]


def test_removing_a_folder_keeps_notes(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb("add", "docs")
    kb("note", "A note")
    kb("rm", "--yes", "docs")
    assert kb.codes() == {"KB-2"}


def test_one_unknown_reference_removes_nothing(own_handbook: Kb) -> None:
    line = own_handbook.error("rm", "--yes", "HB-T-0002", "HB-T-0099", code=3)
    assert "'HB-T-0099'" in line
    assert own_handbook.json("status")["documents"] == 40


def test_rm_without_a_reference_is_an_error(kb: Kb) -> None:
    kb.error("rm", "--yes", code=2)


def test_a_section_cannot_be_removed_and_does_not_stand_for_its_document(own_handbook: Kb) -> None:
    own_handbook.error("rm", "--yes", "HB-T-0002:install-git", code=2)
    assert "HB-T-0002" in own_handbook.codes()
