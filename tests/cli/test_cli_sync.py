"""Keeping in step with the disk: only what changed costs anything."""

import hashlib
import os
import shutil
import signal
import sqlite3
from contextlib import closing
from typing import Any

import apsw
from children import assert_in_step, start

from conftest import Kb
from knowbase.store.sqlite.schema import APPLICATION_ID, STEPS


def test_what_is_unchanged_costs_nothing(own_handbook: Kb) -> None:
    """S3-24"""
    for command in (("add", "handbook"), ("sync",)):
        report = own_handbook.json(*command)
        assert report["unchanged"] == 40
        assert (report["added"], report["changed"], report["removed"]) == ([], [], [])
        assert (report["chunks_embedded"], report["chunks_reused"]) == (0, 0)


def test_only_the_changed_section_is_embedded(own_handbook: Kb) -> None:
    """S3-30 S3-24"""
    page = own_handbook.folder / "handbook/engineering/git-setup.md"
    page.write_text(page.read_text().replace("sudo apt install git", "sudo dnf install git"))
    report = own_handbook.json("sync")
    assert report["changed"] == ["handbook/engineering/git-setup.md"]
    assert report["chunks_embedded"] == 1
    assert report["chunks_reused"] > 1
    hits = own_handbook.json("search", "dnf", "--fts-only")["hits"]
    assert [hit["section"] for hit in hits] == ["HB-T-0002:install-git"]
    assert_in_step(own_handbook.base)


def test_a_section_that_is_gone_leaves_the_index(own_handbook: Kb) -> None:
    """S3-30"""
    page = own_handbook.folder / "handbook/engineering/git-setup.md"
    text = page.read_text()
    page.write_text(text[: text.index("## Add your key")])
    report = own_handbook.json("sync")
    assert report["chunks_embedded"] == 0
    own_handbook.error("get", "HB-T-0002:add-your-key", code=3)
    assert_in_step(own_handbook.base)


def test_a_section_that_moved_is_not_embedded_again(own_handbook: Kb) -> None:
    """S3-30"""
    page = own_handbook.folder / "handbook/engineering/git-setup.md"
    more = "## One more\n\nBefore the others.\n\n## Install git"
    page.write_text(page.read_text().replace("## Install git", more))
    assert own_handbook.json("sync")["chunks_embedded"] == 1


def test_a_touched_file_is_unchanged(own_handbook: Kb) -> None:
    os.utime(own_handbook.folder / "handbook/welcome.md")
    report = own_handbook.json("sync")
    assert report["unchanged"] == 40
    assert report["changed"] == []
    assert report["chunks_embedded"] == 0


def test_another_text_of_the_same_size_and_time_is_noticed(own_handbook: Kb) -> None:
    page = own_handbook.folder / "handbook/welcome.md"
    before = page.stat()
    text = page.read_text()
    page.write_text(text.swapcase())
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert page.stat().st_size == before.st_size
    own_handbook("sync")  # the copy of the folder has other inodes than its records
    page.write_text(text)
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert own_handbook.json("sync")["changed"] == ["handbook/welcome.md"]


def test_records_that_are_older_than_inodes_are_believed_but_for_verify(own_handbook: Kb) -> None:
    own_handbook("sync")
    with closing(sqlite3.connect(own_handbook.base)) as connection, connection:
        connection.execute("UPDATE files SET inode = NULL, ctime_ns = NULL")
    page = own_handbook.folder / "handbook/welcome.md"
    before = page.stat()
    page.write_text(page.read_text().swapcase())
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert own_handbook.json("sync")["unchanged"] == 40
    report = own_handbook.json("sync", "--verify")
    assert (report["unchanged"], report["changed"]) == (39, ["handbook/welcome.md"])
    report = own_handbook.json("add", "handbook", "--verify")
    assert (report["unchanged"], report["chunks_embedded"]) == (40, 0)


def test_verify_reads_again_what_failed(kb: Kb) -> None:
    kb.write("docs/slow.md", "[" * 50_000 + "\n")
    kb("add", "docs", code=6, env={"KB_READ_TIMEOUT": "0.1"})
    assert len(kb.json("sync", code=6)["failed"]) == 1
    assert kb.json("sync", "--verify", env={"KB_READ_TIMEOUT": "60"})["added"] == ["docs/slow.md"]


def test_a_renamed_file_keeps_its_code_and_embeds_nothing(kb: Kb) -> None:
    """C26"""
    kb.write("docs/a.md", "# Alpha\n\nThe first.\n")
    kb.write("docs/b.md", "# Beta\n\nThe second.\n")
    kb("add", "docs")
    before = kb.json("get", "docs/b.md")["document"]
    (kb.folder / "docs/deep").mkdir()
    (kb.folder / "docs/b.md").rename(kb.folder / "docs/deep/c.md")
    report = kb.json("sync")
    assert report["moved"] == ["docs/deep/c.md"]
    assert (report["added"], report["removed"]) == ([], [])
    assert report["chunks_embedded"] == 0
    after = kb.json("get", "docs/deep/c.md")["document"]
    assert (after["id"], after["code"], after["seq"]) == (
        before["id"], before["code"], before["seq"],
    )  # fmt: skip


def test_a_renamed_folder_keeps_its_codes(kb: Kb) -> None:
    for name in ("a", "b", "c"):
        kb.write(f"docs/old/{name}.md", f"# {name}\n\nThe page {name}.\n")
    kb("add", "docs")
    before = kb.codes()
    (kb.folder / "docs/old").rename(kb.folder / "docs/new")
    report = kb.json("sync")
    assert len(report["moved"]) == 3
    assert report["chunks_embedded"] == 0
    assert kb.codes() == before


def test_renamed_files_with_equal_content_keep_their_codes(kb: Kb) -> None:
    for name in ("a", "b"):
        kb.write(f"docs/old/{name}.md", "# Licence\n\nThe same words.\n")
    kb("add", "docs")
    before = kb.codes()
    (kb.folder / "docs/old").rename(kb.folder / "docs/new")
    kb("sync")
    assert kb.codes() == before


def test_a_deleted_file_leaves_the_base(own_handbook: Kb) -> None:
    """S3-30"""
    (own_handbook.folder / "handbook/engineering/git-setup.md").unlink()
    report = own_handbook.json("sync")
    assert report["removed"] == ["handbook/engineering/git-setup.md"]
    own_handbook.error("get", "HB-T-0002", code=3)
    assert_in_step(own_handbook.base)


def test_when_more_than_half_is_gone_nothing_is_removed_without_prune(own_handbook: Kb) -> None:
    shutil.rmtree(own_handbook.folder / "handbook/engineering")
    shutil.rmtree(own_handbook.folder / "handbook/operations")
    shutil.rmtree(own_handbook.folder / "handbook/people")
    report = own_handbook.json("sync")
    assert report["removed"] == []
    assert "kb sync --prune" in report["warnings"][0]
    assert own_handbook.json("status")["documents"] == 40
    assert "warning: " in own_handbook("sync").out
    assert len(own_handbook.json("sync", "--prune")["removed"]) == 24
    assert own_handbook.json("status")["documents"] == 16
    assert own_handbook.json("sync")["warnings"] == []
    assert_in_step(own_handbook.base)


def test_a_source_that_is_away_loses_nothing(own_handbook: Kb) -> None:
    away = (own_handbook.folder / "handbook").rename(own_handbook.folder / "away")
    assert own_handbook.json("sync")["removed"] == []
    away.rename(own_handbook.folder / "handbook")
    report = own_handbook.json("sync")
    assert (report["unchanged"], report["chunks_embedded"]) == (40, 0)


def test_a_changed_front_matter_changes_tags_and_embeds_nothing(own_handbook: Kb) -> None:
    page = own_handbook.folder / "handbook/engineering/git-setup.md"
    page.write_text(page.read_text().replace("tags: [onboarding", "tags: [fresh, onboarding"))
    report = own_handbook.json("sync")
    assert report["chunks_embedded"] == 0
    assert own_handbook.json("list", "--tags", "fresh")["total"] == 1


def test_a_file_that_becomes_empty_leaves_the_base(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb.write("docs/b.md", "# B\n\nbeta\n")
    kb("add", "docs")
    kb.write("docs/a.md", "")
    assert kb.json("sync")["removed"] == ["docs/a.md"]
    kb.write("docs/a.md", "# A\n\nalpha\n")
    assert kb.json("sync")["added"] == ["docs/a.md"]


def test_what_a_new_ignore_file_names_leaves_the_base(kb: Kb) -> None:
    for name in ("a", "b", "c"):
        kb.write(f"docs/{name}.md", f"# {name}\n\nThe page {name}.\n")
    kb("add", "docs")
    kb.write("docs/.kbignore", "b.md\n")
    assert kb.json("sync")["removed"] == ["docs/b.md"]


def test_sync_with_nothing_added_is_no_error(kb: Kb) -> None:
    assert kb.json("sync")["added"] == []


def test_watch_says_that_it_started(kb: Kb) -> None:
    kb.write("docs/a.md", "alpha\n")
    kb("add", "docs", "--defer")
    watching = start(kb, "watch")
    try:
        assert watching.stderr is not None
        assert "watching docs; Ctrl-C ends it" in str(watching.stderr.readline())
    finally:
        watching.send_signal(signal.SIGINT)
        watching.wait(timeout=30)


def test_a_file_that_made_no_document_has_its_hash_and_its_readers_apart(kb: Kb) -> None:
    """Also in a base that had both in one."""
    kb.write("broken.pdf", "not a pdf")
    kb("add", ".", code=6)
    [problem] = kb.json("status")["problems"]
    assert problem["sha256"] == hashlib.sha256(b"not a pdf").hexdigest()
    with closing(apsw.Connection(str(kb.base))) as connection:
        names = [str(row[1]) for row in connection.execute("PRAGMA table_info(files)")]
        rows: Any = connection.execute("SELECT * FROM files").fetchall()
    kb.base.unlink()
    with closing(apsw.Connection(str(kb.base))) as old:
        old.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 13")
        for step in STEPS[:13]:
            old.execute(step)
        for row in rows:
            values = dict(zip(names, row, strict=True))
            values["sha256"] = f"{values.pop('readers')} {values['sha256']}"
            old.execute(
                f"INSERT INTO files ({', '.join(values)}) VALUES ({', '.join('?' * len(values))})",
                list(values.values()),
            )
    assert kb.json("status")["problems"] == [problem]
