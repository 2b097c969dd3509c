"""Care with what is stored: nothing is lost, half done, mixed up or removed unasked."""

import json
import os
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import COMMAND, Kb, environment

PATIENCE = 30.0


def test_nothing_is_removed_when_there_is_nobody_to_ask(kb: Kb) -> None:
    kb("note", "Keep me", "--code", "K-1")
    assert "--yes" in kb.error("rm", "K-1", code=2)
    assert kb.json("list")["total"] == 1
    kb("rm", "K-1", "--yes")
    assert kb.json("list")["total"] == 0


def test_a_renamed_and_changed_file_keeps_its_code(kb: Kb) -> None:
    """C26"""
    for name in ("a", "b", "c"):
        kb.write(f"docs/{name}.md", f"---\ncode: {name}-1\n---\n# {name}\n\nfirst {name}\n")
    kb("add", "docs")
    before = kb.json("get", "A-1")["document"]
    (kb.folder / "docs" / "a.md").unlink()
    kb.write("docs/new.md", "---\ncode: a-1\n---\n# a\n\nsecond\n")
    report = kb.json("sync")
    assert report["moved"] == ["docs/new.md"]
    after = kb.json("get", "A-1")["document"]
    assert (after["id"], after["path"]) == (before["id"], "docs/new.md")


def test_a_code_that_two_files_claim_is_said(kb: Kb) -> None:
    kb.write("docs/a.md", "---\ncode: X-1\n---\nalpha\n")
    kb.write("docs/b.md", "---\ncode: x-1\n---\nbeta\n")
    [warning] = kb.json("add", "docs")["warnings"]
    assert "x-1 is taken" in warning


def test_new_tags_reach_every_file_even_after_an_interruption(kb: Kb) -> None:
    for number in range(60):
        kb.write(f"docs/{number}.md", f"# Page {number}\n\nWords of page {number}.\n")
    kb("add", "docs")
    process = subprocess.Popen(
        [*COMMAND, "add", "docs", "--tags", "ops"],
        cwd=kb.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(0.4)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    kb("add", "docs", "--tags", "ops")
    assert kb.json("list", "--tags", "ops")["total"] == 60
    assert kb.json("sync")["unchanged"] == 60


@pytest.mark.parametrize("source", ["docs", "page.md"])
def test_a_source_that_is_gone_is_removed_with_prune(kb: Kb, source: str) -> None:
    kb.write("docs/a.md", "# A\n\nzebra\n")
    kb.write("page.md", "# P\n\nzebra\n")
    kb("add", source)
    for path in ("docs/a.md", "page.md"):
        (kb.folder / path).unlink()
    (kb.folder / "docs").rmdir()
    assert "gone" in kb.json("sync")["warnings"][0]
    assert kb.json("list")["total"] == 1
    kb("sync", "--prune")
    assert kb.json("list")["total"] == 0


def test_without_any_overlap_no_text_is_lost(kb: Kb) -> None:
    """S3-27"""
    text = "# Long\n\n" + " ".join(f"word{number}" for number in range(1_500)) + "\n"
    kb.write("long.md", text)
    none = {"KB_CHUNK_OVERLAP": "0", "KB_CHUNK_MIN_OVERLAP": "0", "KB_CHUNK_MAX_TOKENS": "128"}
    kb("add", "long.md", env=none)
    assert kb("get", "long.md").out == text


def test_one_odd_file_never_stops_the_rest(kb: Kb) -> None:
    kb.write("docs/odd.md", "---\na: !!set {0x" + "f" * 5000 + "}\n---\ntext\n")
    kb.write("docs/slow.md", "a." * 30_000)
    kb.write("docs/good.md", "# Good\n\nzebra\n")
    kb("add", "docs", code=None)
    assert kb.json("search", "zebra", "--fts-only")["returned"] == 1


def test_broken_front_matter_is_said(kb: Kb) -> None:
    kb.write("docs/a.md", "---\ntags: [x\n---\n# A\n\nzebra\n")
    kb.write("docs/b.md", "---\n\nA rule, and no front matter.\n")
    report = kb.json("add", "docs")
    assert len(report["added"]) == 2
    assert [warning.split(":")[0] for warning in report["warnings"]] == ["docs/a.md"]


def test_ignore_files_beside_the_base_count_for_its_folders(kb: Kb) -> None:
    kb.write(".kbignore", "drafts/\n")
    kb.write("docs/drafts/a.md", "# A\n")
    kb.write("docs/b.md", "# B\n")
    assert kb.json("add", "docs")["added"] == ["docs/b.md"]


def test_a_note_says_its_type_and_title_in_front_matter(kb: Kb) -> None:
    note = kb.json("note", text="---\ntype: decision\ntags: [x]\n---\nWe use SQLite.\n\nMore.\n")
    assert (note["type"], note["title"], note["tags"]) == ("decision", "We use SQLite.", ["x"])
    again = kb.json("note", "We use PostgreSQL.", "--replace", note["code"])
    assert (again["type"], again["tags"], again["title"]) == (
        "decision",
        ["x"],
        "We use PostgreSQL.",
    )


def test_flags_that_contradict_each_other_are_refused(handbook: Kb) -> None:
    assert "contradicts" in handbook.error("search", "x", "--fts-only", "--vec-only", code=2)


@pytest.mark.parametrize("flag", ["--top", "--limit"])
def test_how_many_are_shown_is_said_by_either_word(handbook: Kb, flag: str) -> None:
    assert len(handbook.json("search", "deploy", flag, "2")["hits"]) == 2
    assert len(handbook.json("list", flag, "2")["documents"]) == 2
    assert len(handbook.json("rank", flag, "2")["documents"]) == 2


def test_a_short_list_is_the_start_of_a_longer_one(handbook: Kb) -> None:
    for query in ("how do I deploy", "backup", "who pays for my train"):
        codes = [h["section"] for h in handbook.json("search", query, "--top", "10")["hits"]]
        for top in (1, 3, 5):
            hits = handbook.json("search", query, "--top", str(top))["hits"]
            assert [hit["section"] for hit in hits] == codes[:top]


def test_a_section_is_found_by_its_heading(handbook: Kb) -> None:
    by_slug = handbook("get", "HB-T-0002:install-git").out
    assert handbook("get", "HB-T-0002:Install git").out == by_slug


def test_a_watch_sees_files_beside_a_base_outside_its_folder(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init", "--base", "notes.db")
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb("add", "docs", "--base", "notes.db")
    process = subprocess.Popen(
        [*COMMAND, "watch", "--json", "--base", "notes.db"],
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        for number in range(int(PATIENCE)):  # until the watch is up, nobody sees a change
            kb.write(f"docs/b{number}.md", f"# B\n\nbeta {number}\n")
            if select.select([process.stdout], [], [], 1.0)[0]:
                break
        added = json.loads(process.stdout.readline())["added"]
        assert added
        assert all(path.startswith("docs/b") for path in added)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=PATIENCE)
    assert process.returncode == 130


def test_hidden_folders_are_said(kb: Kb) -> None:
    kb.write("docs/.obsidian/x.md", "# X\n")
    kb.write("docs/a.md", "# A\n")
    [problem] = kb.json("add", "docs")["skipped"]
    assert problem["path"] == os.path.join("docs", ".obsidian")
    assert "hidden" in problem["reason"]
