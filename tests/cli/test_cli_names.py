"""Files and folders with unusual names, links and ignore files."""

import os
import shutil
from pathlib import Path

import pytest

from conftest import Kb

NAMES = (
    "東京の予定.md", "Ünïcödé é.md", "with space and 'quotes' \".md", "emoji 🎉.md",
    "100%25#?&.md", "-dash.md", "a,b.md", "co:lon.md", "--flag.md",
)  # fmt: skip


def test_files_of_any_name_are_added_found_shown_and_removed(kb: Kb) -> None:
    paths = [f"my docs/{name}" for name in NAMES]
    for number, path in enumerate(paths):
        kb.write(path, f"# Heading\n\nThe zebra{number}.\n")
    assert sorted(kb.json("add", *paths)["added"]) == sorted(paths)
    for number, path in enumerate(paths):
        assert f": {path}:3\n" in kb("search", f"zebra{number}", "--fts-only").out
        assert kb("get", path).out == f"# Heading\n\nThe zebra{number}.\n"
    removed = kb.json("rm", "--yes", *paths)
    assert {document["path"] for document in removed["documents"]} == set(paths)


def test_names_that_look_like_options_stand_behind_two_dashes(kb: Kb) -> None:
    kb.write("--flag.md", "# Flag\n\nThe zebra.\n")
    kb("add", "--", "--flag.md")
    assert kb("get", "--", "--flag.md").out == "# Flag\n\nThe zebra.\n"


def test_a_base_in_a_folder_of_any_name(kb: Kb) -> None:
    odd = Kb(kb.folder / "odd %41 #1? & 東京")
    odd.folder.mkdir()
    odd("init")
    odd("note", "The zebra")
    assert odd.json("search", "zebra")["returned"] == 1


def test_a_name_that_is_no_text_is_skipped_and_said(kb: Kb) -> None:
    kb.write("docs/good.md", "# Good\n\nfine\n")
    with open(os.fsencode(kb.folder) + b"/docs/bad\xff.md", "wb") as file:
        file.write(b"# Bad\n\nname\n")
    report = kb.json("add", "docs")
    assert report["added"] == ["docs/good.md"]
    assert "not valid UTF-8" in report["skipped"][0]["reason"]
    kb("add", "docs")


def test_a_loop_of_links_ends(kb: Kb) -> None:
    kb.write("docs/sub/a.md", "# A\n\nalpha\n")
    (kb.folder / "docs/sub/up").symlink_to("..")
    (kb.folder / "docs/self").symlink_to("self")
    report = kb.json("add", "docs")
    assert report["added"] == ["docs/sub/a.md"]


def test_a_link_that_leaves_the_folder_is_skipped_and_said(kb: Kb) -> None:
    kb.write("secret.md", "# Secret\n\nnot for the base\n")
    kb.write("docs/a.md", "# A\n\nalpha\n")
    (kb.folder / "docs/link.md").symlink_to(kb.folder / "secret.md")
    report = kb.json("add", "docs")
    assert report["added"] == ["docs/a.md"]
    assert report["skipped"] == [{"path": "docs/link.md", "reason": "link leaves the folder"}]


def test_an_empty_folder_is_no_error_and_is_filled_later(kb: Kb) -> None:
    (kb.folder / "docs").mkdir()
    assert kb("add", "docs").out == "0 added · 0 chunks embedded, 0 reused\n"
    kb.write("docs/a.md", "# A\n\nalpha\n")
    assert kb.json("sync")["added"] == ["docs/a.md"]


def test_what_is_no_regular_file_is_skipped_and_said(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    os.mkfifo(kb.folder / "docs/pipe.md")
    report = kb.json("add", "docs")
    assert report["added"] == ["docs/a.md"]
    assert report["skipped"] == [{"path": "docs/pipe.md", "reason": "not a regular file"}]


def test_ignore_files_are_honoured(kb: Kb) -> None:
    for name in ("a.md", "b.log", "keep.log", "build/c.md", "sub/d.md", "sub/e.md", "f.txt"):
        kb.write(f"docs/{name}", f"The page {name}.\n")
    kb.write("docs/.gitignore", "*.log\n/build/\nf.txt\n")
    kb.write("docs/.kbignore", "!keep.log\n")
    kb.write("docs/sub/.kbignore", "d.md\n")
    assert kb.json("add", "docs")["added"] == ["docs/a.md", "docs/keep.log", "docs/sub/e.md"]


def test_the_handbook_leaves_out_its_drafts(handbook: Kb) -> None:
    assert handbook.json("search", "zeppelin", "--fts-only")["hits"] == []
    handbook.error("get", "handbook/drafts/zeppelin-moorings.md", code=3)


def test_hidden_files_stay_out_unless_asked_for(kb: Kb) -> None:
    kb.write("docs/.hidden.md", "# Hidden\n\nalpha\n")
    kb.write("docs/.git/config.md", "# Never\n\nbeta\n")
    kb.write("docs/node_modules/x.md", "# Never\n\ngamma\n")
    assert kb.json("add", "docs")["added"] == []
    assert kb.json("sync", env={"KB_INDEX_HIDDEN": "true"})["added"] == ["docs/.hidden.md"]


def test_the_base_itself_is_never_read(kb: Kb) -> None:
    kb.write("a.md", "# A\n\nalpha\n")
    report = kb.json("add", ".", env={"KB_INDEX_HIDDEN": "true"})
    assert report["added"] == ["a.md"]
    assert report["skipped"] == []


def test_a_link_to_a_base_leads_to_its_files(kb: Kb, tmp_path: Path) -> None:
    """One of .kb or in it may only keep the base on another disk."""
    kb.write("a.md", "# A\n\nalpha\n")
    kb("add", ".")
    other = tmp_path / "other"
    other.mkdir()
    (other / "private.md").write_text("# P\n\nprivate\n")
    (other / "mine.db").symlink_to(kb.base)
    (other / "linked").mkdir()
    (other / "linked/.kb").symlink_to(kb.base.parent)
    (other / "linked/private.md").write_text("# P\n\nprivate\n")
    for number, base in enumerate(("mine.db", "linked", "linked/.kb")):
        kb.write(f"b{number}.md", f"# B\n\nbeta {number}\n")
        report = kb.json("sync", "--base", str(other / base))
        assert (report["added"], report["removed"]) == ([f"b{number}.md"], [])
    shutil.rmtree(other / "linked")
    kb("init", "--base", str(other))
    (other / ".kb/base.db").rename(tmp_path / "disk.db")
    (other / ".kb/base.db").symlink_to(tmp_path / "disk.db")
    assert kb.json("add", str(other), "--base", str(other))["added"] == ["private.md"]
    (other / ".kb").rename(tmp_path / "disk")
    (other / ".kb").symlink_to(tmp_path / "disk")
    (other / "more.md").write_text("# M\n\nmore\n")
    assert kb.json("sync", "--base", str(other))["added"] == ["more.md"]


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"  # the same to look at


@pytest.mark.parametrize(("written", "asked"), [(DECOMPOSED, COMPOSED), (COMPOSED, DECOMPOSED)])
def test_an_accent_is_the_same_however_it_is_typed(kb: Kb, written: str, asked: str) -> None:
    """macOS writes names of files with accents as characters of their own."""
    head = f"tags: [{written}]\nproject: {written}\nroles: {written}\ncode: K-{written}"
    head += f"\n{written}s: [{written}]"
    kb.write(f"docs/{written}.md", f"---\n{head}\n---\n# T\n\nzebra\n")
    kb("add", "docs")
    kb("note", "gnu", "--tags", f"x{written}", "--project", written, "--code", f"N-{written}")
    for query in (
        f"#{asked} role:{asked}",
        f"path:docs/{asked}.md",
        f"path:*{asked}*",
        f"meta.{asked}s:{asked}",
    ):
        [hit] = kb.json("search", query)["hits"]
        assert hit["path"] == f"docs/{written}.md"
    assert kb.json("list", "--project", asked)["total"] == 2
    assert kb.json("list", "--tags", f"x{asked}")["total"] == 1
    assert kb("get", f"N-{asked}").out == "gnu"
    for reference in (f"docs/{asked}.md", f"{asked}.md", f"K-{asked}"):
        assert kb("get", reference).out.endswith("zebra\n")
    kb("session", "start", f"s {written}")
    assert kb.json("session", "end", f"s {asked}")["id"] == f"s {COMPOSED}"
    kb.write(f"docs/{written}.md", "# T\n\nzebra and gnu\n")
    assert kb.json("sync")["changed"] == [f"docs/{written}.md"]
    assert len(kb.json("rm", f"docs/{asked}.md", "--yes")["documents"]) == 1
