"""Putting files and folders in."""

import os
from pathlib import Path
from typing import Any

import pytest
from children import assert_in_step, obey_permissions, permissions, start, stored_paths

from conftest import FIXTURES, Kb


def paths(answer: Any) -> list[str]:
    return [hit["path"] for hit in answer["hits"]]


BROKEN_PDF = b"%PDF-1.7\n1 0 obj << /Type /Catalog"


def test_a_folder_is_added_and_each_file_is_counted(own_handbook: Kb) -> None:
    """S1-01"""
    status = own_handbook.json("status")
    assert status["documents"] == 40
    assert status["types"] == {"markdown": 33, "code": 3, "html": 2, "text": 2}
    assert status["embedded"] == status["chunks"]
    assert_in_step(own_handbook.base)


def test_the_report_says_what_was_added_changed_moved_removed_skipped_and_failed(kb: Kb) -> None:
    for name in ("same", "changing", "moving", "leaving"):
        kb.write(f"docs/{name}.md", f"# {name}\n\nThe page called {name}.\n")
    kb.write("docs/photo.bin", b"\x00\x01\x02\xff" * 100)
    first = kb.json("add", "docs")
    assert first["added"] == [f"docs/{n}.md" for n in ("changing", "leaving", "moving", "same")]
    assert [problem["path"] for problem in first["skipped"]] == ["docs/photo.bin"]
    assert first["chunks_embedded"] == 4

    kb.write("docs/changing.md", "# changing\n\nAnother text.\n")
    kb.write("docs/broken.pdf", BROKEN_PDF)
    (kb.folder / "docs/moving.md").rename(kb.folder / "docs/moved.md")
    (kb.folder / "docs/leaving.md").unlink()
    second = kb("add", "docs", code=6)
    assert second.out.splitlines()[0] == (
        "0 added, 1 changed, 1 moved, 1 unchanged, 1 removed, 1 failed · 1 chunk embedded, 1 reused"
    )
    assert "  failed docs/broken.pdf: The PDF is damaged and cannot be read." in second.out
    assert "  1 skipped as before: kb status says why" in second.out
    third = kb("sync", code=6).out
    assert "docs/broken.pdf" not in third
    assert "  1 skipped, 1 failed as before: kb status says why" in third


def test_a_broken_file_never_stops_the_rest(kb: Kb) -> None:
    kb.write("docs/a.md", "# First\n\nalpha\n")
    kb.write("docs/b.pdf", BROKEN_PDF)
    kb.write("docs/c.md", "---\nconfidence: very\n---\n# Third\n\ngamma\n")  # costs that key
    kb.write("docs/d.md", "# Fourth\n\ndelta\n")
    report = kb.json("add", "docs", code=6)
    assert report["added"] == ["docs/a.md", "docs/c.md", "docs/d.md"]
    failed = {problem["path"]: problem["reason"] for problem in report["failed"]}
    assert failed["docs/b.pdf"] == "The PDF is damaged and cannot be read."
    assert "confidence" in report["warnings"][0]


def test_hostile_files_cost_themselves_alone(kb: Kb) -> None:
    kb.write("docs/a.md", "# First\n\nalpha\n")
    kb.write("docs/code.md", '---\ncode: "³"\n---\n# Odd\n\nbeta\n')
    kb.write("docs/numbers.md", "---\nx: 1" + ":1" * 100_000 + "\n---\n# Numbers\n\ngamma\n")
    kb.write("docs/slow.md", "[" * 500_000)
    kb.write("docs/z.md", "# Last\n\ndelta\n")
    report = kb.json("add", "docs", code=6, env={"KB_READ_TIMEOUT": "2"})
    assert {"docs/a.md", "docs/numbers.md", "docs/z.md"} <= set(report["added"])
    failed = {problem["path"]: problem["reason"] for problem in report["failed"]}
    assert failed["docs/slow.md"] == (
        "reading it took more than 3 s; raise read.timeout, then kb sync --verify"
    )
    assert_in_step(kb.base)


def test_a_file_of_too_many_chunks_is_cut_and_said(kb: Kb) -> None:
    kb.write("docs/parts.md", "".join(f"## Part {n}\n\ntext {n}\n\n" for n in range(9)))
    kb.write("docs/long.md", "# Long\n\n" + "Otters hold hands while they sleep. " * 2_000)
    report = kb.json("add", "docs", env={"KB_READ_MAX_CHUNKS": "4"})
    assert len(report["added"]) == 2
    assert report["warnings"] == [
        f"docs/{name}.md: only its first 4 chunks are stored, the rest is left out; read.max_chunks"
        for name in ("long", "parts")
    ]
    assert kb.json("status")["chunks"] == 8


def test_a_failed_file_is_named_again_until_it_is_mended(kb: Kb) -> None:
    kb.write("docs/good.md", "# Good\n\nfine\n")
    kb.write("docs/bad.pdf", BROKEN_PDF)
    kb("add", "docs", code=6)
    assert [p["path"] for p in kb.json("sync", code=6)["failed"]] == ["docs/bad.pdf"]
    assert [p["path"] for p in kb.json("status")["problems"]] == ["docs/bad.pdf"]
    assert "failed     docs/bad.pdf: The PDF is damaged" in kb("status").out
    (kb.folder / "docs/bad.pdf").unlink()
    assert kb.json("sync")["failed"] == []
    assert kb.json("status")["problems"] == []


def test_a_file_that_breaks_keeps_what_was_read_before(kb: Kb) -> None:
    whole = (FIXTURES / "formats" / "pandoc.docx").read_bytes()
    kb.write("docs/page.docx", whole)
    kb("add", "docs")
    kb.write("docs/page.docx", whole[:5000])
    assert len(kb.json("sync", code=6)["failed"]) == 1
    assert kb.json("list")["total"] == 1


def test_an_unreadable_file_fails_and_the_rest_goes_in(kb: Kb) -> None:
    kb.write("docs/open.md", "# Open\n\nalpha\n")
    closed = kb.write("docs/closed.md", "# Closed\n\nbeta\n")
    with permissions(closed, 0o000):
        report = kb.json("add", "docs", code=6, before=obey_permissions)
        assert report["added"] == ["docs/open.md"]
        told = [{"path": "docs/closed.md", "reason": "Permission denied"}]
        assert (report["failed"], report["failed_before"]) == (told, 0)
        again = kb.json("sync", code=6, before=obey_permissions)
        assert (again["failed"], again["failed_before"]) == (told, 1)  # which is not said again
    assert kb.json("sync")["added"] == ["docs/closed.md"]


def test_nothing_is_read_where_the_rules_of_what_to_leave_out_cannot_be(kb: Kb) -> None:
    kb.write("docs/open.md", "# Open\n\nalpha\n")
    kb.write("docs/in/diary.md", "# Diary\n\nbeta\n")
    closed = kb.write("docs/in/.gitignore", "diary.md\n")
    with permissions(closed, 0o000):
        report = kb.json("add", "docs", before=obey_permissions)
    assert report["added"] == ["docs/open.md"]
    told = "its .gitignore cannot be read: permission denied"
    assert report["skipped"] == [{"path": "docs/in", "reason": told}]


def test_a_folder_that_cannot_be_listed_fails_as_a_folder(kb: Kb) -> None:
    kb.write("docs/open.md", "# Open\n\nalpha\n")
    closed = kb.write("docs/closed/in.md", "# Closed\n\nbeta\n").parent
    told = {"path": "docs/closed", "reason": "the folder cannot be listed: permission denied"}
    with permissions(closed, 0o000):
        report = kb.json("add", "docs", code=6, before=obey_permissions)
        assert (report["failed"], report["skipped"]) == ([told], [])
        again = kb.json("sync", code=6, before=obey_permissions)
        assert (again["failed"], again["failed_before"]) == ([told], 1)
        assert [one["path"] for one in kb.json("status")["problems"]] == ["docs/closed"]
    report = kb.json("sync")
    assert (report["added"], report["failed"], report["warnings"]) == (
        ["docs/closed/in.md"],
        [],
        [],
    )
    assert kb.json("status")["problems"] == []


def test_what_was_skipped_whole_is_not_a_source(kb: Kb) -> None:
    report = kb.json("add", "/dev/null")
    assert report["skipped"] == [{"path": "/dev/null", "reason": "not a regular file"}]
    status = kb.json("status")
    assert (status["sources"], status["unread"]) == ([], [])


def test_single_files_are_added_and_kept_in_step(kb: Kb) -> None:
    kb.write("one.md", "# One\n\nalpha\n")
    kb.write("two.md", "# Two\n\nbeta\n")
    assert kb.json("add", "one.md")["added"] == ["one.md"]
    kb.write("one.md", "# One\n\nanother\n")
    report = kb.json("sync")
    assert report["changed"] == ["one.md"]
    assert report["added"] == []


def test_tags_given_to_a_folder_are_on_all_its_documents(kb: Kb) -> None:
    """S1-14"""
    kb.write("docs/a.md", "---\ntags: [own]\n---\n# A\n\nalpha\n")
    kb("add", "docs", "--tags", "#Ops,team")
    assert kb.json("list")["documents"][0]["tags"] == ["ops", "own", "team"]
    kb.write("docs/b.md", "# B\n\nbeta\n")
    kb("sync")
    assert kb.json("list", "--tags", "team")["total"] == 2


def test_tags_given_later_are_added_and_nothing_is_embedded_again(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb("add", "docs", "--tags", "one")
    report = kb.json("add", "docs", "--tags", "two")
    assert report["chunks_embedded"] == 0
    assert kb.json("list")["documents"][0]["tags"] == ["one", "two"]


def test_tags_that_were_given_are_taken_back(kb: Kb) -> None:
    kb.write("docs/a.md", "---\ntags: [one]\n---\n# A\n\nalpha\n")
    kb.write("docs/b.md", "# B\n\nbeta\n")
    kb("add", "docs", "--tags", "one,two")
    refused = kb.error("tag", "docs/b.md", "--remove", "two", code=2)
    assert "has the tag 'two' from kb add docs" in refused
    assert "kb add docs --untag two" in refused
    assert "come from its file" in kb.error("tag", "docs/b.md", "--remove", "three", code=2)
    report = kb.json("add", "docs", "--tags", "four", "--untag", "one,#Two")
    assert (report["added"], report["chunks_embedded"]) == ([], 0)
    tags = {one["path"]: one["tags"] for one in kb.json("list")["documents"]}
    assert tags == {"docs/a.md": ["four", "one"], "docs/b.md": ["four"]}
    assert "change them in docs/a.md" in kb.error("tag", "docs/a.md", "--remove", "one", code=2)
    kb.write("docs/c.md", "# C\n\ngamma\n")
    kb("sync")
    assert kb.json("list", "--tags", "two")["total"] == 0
    assert kb.json("add", "docs", "--untag", "four")["changed"]
    assert kb.json("list", "--tags", "four")["total"] == 0
    assert "does not give" in kb.error("add", "docs", "--untag", "five", code=2)
    assert "kb add docs --untag" in kb.error("add", "docs/a.md", "--untag", "one", code=2)


def test_equal_texts_are_embedded_once(kb: Kb) -> None:
    """S3-24"""
    for name in "abc":
        kb.write(f"docs/{name}.md", "# Licence\n\nThe same words.\n")
    report = kb.json("add", "docs")
    assert len(report["added"]) == 3
    assert (report["chunks_embedded"], report["chunks_reused"]) == (1, 2)
    assert_in_step(kb.base)


def test_a_path_that_does_not_exist_is_an_error_and_nothing_is_read(kb: Kb) -> None:
    kb.write("there.md", "# There\n\nalpha\n")
    assert "'missing.md'" in kb.error("add", "there.md", "missing.md", code=3)
    assert kb.json("status")["documents"] == 0


def test_add_without_a_path_is_an_error(kb: Kb) -> None:
    assert "PATH is missing" in kb.error("add", code=2)


def test_a_file_larger_than_the_limit_is_skipped_and_said(kb: Kb) -> None:
    kb.write("docs/large.txt", "word " * 300_000)
    kb.write("docs/small.txt", "small\n")
    report = kb.json("add", "docs", env={"KB_INDEX_MAX_FILE_MB": "1"})
    assert report["added"] == ["docs/small.txt"]
    assert report["skipped"] == [{"path": "docs/large.txt", "reason": "larger than 1 MB"}]


def test_a_type_that_only_front_matter_knows_can_be_asked_for(kb: Kb) -> None:
    """S3-41: `level` is a type as well, and neither has to be registered."""
    kb.write("a.md", "---\ntype: Recipe\n---\n# A\n\nalpha\n")
    kb.write("b.md", "---\nlevel: task\n---\n# B\n\nalpha\n")
    assert kb.json("add", "a.md", "b.md")["warnings"] == []
    assert kb.json("list", "--type", "recipe")["documents"][0]["path"] == "a.md"
    assert paths(kb.json("search", "alpha", "--type", "task")) == ["b.md"]
    assert paths(kb.json("search", "alpha type:Recipe")) == ["a.md"]
    told = kb.error("list", "--type", "poem", code=2)
    assert "unknown type 'poem'" in told
    assert "recipe" in told


def test_a_folder_of_a_folder_that_was_added_alone_stays_with_it(kb: Kb) -> None:
    kb.write("docs/sub/a.md", "# A\n\nalpha\n")
    kb.write("docs/b.md", "# B\n\nbeta\n")
    kb("add", "docs/sub", "--tags", "inner")
    assert kb.json("add", "docs")["added"] == ["docs/b.md"]
    assert kb.json("list", "--tags", "inner")["total"] == 1
    assert kb.json("sync")["unchanged"] == 2


def test_a_file_of_a_known_folder_can_be_given_tags_of_its_own(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb.write("docs/b.md", "# B\n\nbeta\n")
    kb("add", "docs")
    kb("add", "docs/a.md", "--tags", "special")
    assert kb.json("list")["total"] == 2
    assert kb.json("list", "--tags", "special")["documents"][0]["path"] == "docs/a.md"


@pytest.mark.parametrize("paths", [("docs", "docs/a.md"), ("docs", "docs/"), ("docs", ".")])
def test_paths_that_overlap_are_read_once(kb: Kb, paths: tuple[str, str]) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb.write("docs/b.md", "# B\n\nbeta\n")
    report = kb.json("add", *paths)
    assert sorted(report["added"]) == ["docs/a.md", "docs/b.md"]


def test_a_date_far_in_the_future_does_not_stop_the_rest(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    late = kb.write("docs/b.md", "# B\n\nbeta\n")
    os.utime(late, (12_000_000_000, 12_000_000_000))
    if late.stat().st_mtime < 12_000_000_000:
        pytest.skip("this file system has no such date")
    kb("add", "docs")
    assert "docs/a.md" in stored_paths(kb)


def test_a_folder_that_cannot_be_listed_loses_nothing(kb: Kb) -> None:
    for name in ("a", "b", "c"):
        kb.write(f"docs/{name}.md", f"# {name}\n\nwords of {name}\n")
    closed = kb.write("docs/closed/d.md", "# d\n\nwords of d\n").parent
    kb("add", "docs")
    before = kb.codes()
    with permissions(closed, 0o000):
        kb("sync", code=6, before=obey_permissions)
    kb("sync")
    assert kb.codes() == before


def test_two_adds_at_once_both_end_well(kb: Kb) -> None:
    for number in range(40):
        kb.write(f"docs/{number}.md", f"# Page {number}\n\nWords of page {number}.\n")
    both = [start(kb, "add", "docs") for _ in range(2)]
    ends = [(process.communicate(timeout=60)[1], process.returncode) for process in both]
    assert ends == [("", 0), ("", 0)]
    assert len(stored_paths(kb)) == 40


def test_files_on_disk_are_never_written(kb: Kb) -> None:
    page = kb.write("docs/a.md", "# A\n\nalpha\n")
    before = (page.stat().st_mtime_ns, page.read_bytes(), sorted(map(str, _below(kb.folder))))
    kb("add", "docs")
    kb("sync")
    kb("rm", "--yes", "docs", "--yes")
    assert before == (
        page.stat().st_mtime_ns, page.read_bytes(), sorted(map(str, _below(kb.folder))),
    )  # fmt: skip


def _below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if ".kb" not in path.parts]
