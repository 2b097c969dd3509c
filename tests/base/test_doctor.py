"""What the doctor finds, the worst first, and what it says mends it."""

import json
import os
import sqlite3
import sys
import time
from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note
from knowbase.base.doctor import Ailment, Diagnosis
from knowbase.values.access import Access
from knowbase.values.times import timestamp

DAY = 86_400


def named(found: Diagnosis) -> dict[str, Ailment]:
    return {one.name: one for one in found.findings}


def test_a_base_without_faults_wants_nothing(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path / "base.db")) as base:
        assert base.doctor().summary == "The base is empty; nothing wants attention"
        base.note("All is well.")
        found = base.doctor()
    assert found.summary == "All 1 passages have vectors; nothing wants attention"
    assert found.findings == ()
    assert {"knowbase", "python", "onnxruntime"} <= set(found.versions)
    assert found.disk is not None
    assert found.disk.base_bytes > 0


def test_every_fault_has_its_command_and_the_worst_is_first(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text(
        "# A\n\n[[Nowhere]] and [gone](gone.md). " + " ".join(f"#tag{n}" for n in range(30))
    )
    (folder / "package-lock.json").write_text('{"a": 1}')
    (folder / "picture.png").write_bytes(b"\x89PNG")
    start = {"command": "/no/such/kb", "args": ["mcp", "--base", "base.db"]}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"knowbase": start}}))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    path = knowbase.create(str(tmp_path / "base.db")).path
    with Base(path, clock=lambda: time.time() - 9 * DAY) as base:
        base.note(Note("It was here for a day.", code="OLD-1", expires_at="2026-01-01"))
    with knowbase.open(path) as base:
        base.note(Note("Soon gone.", code="NEW-1", expires_at=timestamp(time.time() + 3 * DAY)))
        base.note(Note("Soon gone.", code="NEW-2", title="====="))
        base.note(Note("It changes [this](left.md).", code="C-1", type="commit"))
        base.add([str(folder)], defer=True)
        (folder / "a.md").unlink()
        (tmp_path / "base.db.tokens.toml").write_text("")
        os.chmod(tmp_path / "base.db.tokens.toml", 0o644)
        found = base.doctor()
    faults = named(found)
    assert faults["missing_vectors"].command == "kb embed"
    assert faults["dead_links"].count == 2
    assert set(faults["dead_links"].examples) == {"Nowhere (named in 1)", "gone.md (named in 1)"}
    assert faults["dead_links"].command is None  # no command knows what was meant
    assert faults["client"].command == "kb mcp install --client claude-code"
    assert faults["dead_links"].command is None
    assert (faults["unreadable_files"].count, faults["unreadable_files"].command) == (1, None)
    assert faults["unread_files"].count >= 1
    assert faults["tags_used_once"].count == 30
    assert faults["expired"].examples == ("OLD-1",)
    assert faults["expiring"].examples == ("NEW-1",)
    assert faults["odd_titles"].examples == ("NEW-2: =====",)
    assert faults["duplicates"].examples == ("NEW-2 = NEW-1",)
    assert faults["check_files"].command == "kb sync"
    if sys.platform != "win32":
        assert faults["tokens_open"].command is not None
        assert found.findings[0].severity == "error"
    order = [("error", "warning", "info").index(one.severity) for one in found.findings]
    assert order == sorted(order)


@pytest.mark.skipif(sys.platform == "win32", reason="no modes")
def test_a_base_that_everybody_can_read_is_said(tmp_path: Path) -> None:
    """By a copy, or by a program that set the rights of the whole folder."""
    with knowbase.create(str(tmp_path / "shared" / "base.db")) as base:
        base.note("Only mine.")
        folder, file = tmp_path / "shared", tmp_path / "shared" / "base.db"
        modes = ((0o755, 0o644, True), (0o700, 0o644, False), (0o755, 0o640, False))
        for folder_mode, mode, is_open in modes:
            folder.chmod(folder_mode)
            file.chmod(mode)
            found = named(base.doctor())
            assert ("base_open" in found) == is_open
            if is_open:
                assert found["base_open"].command == f"chmod 600 {file}"


def test_a_model_that_cannot_be_used_is_said(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    kb("note", "All is well.")
    found = kb.json("doctor", env={"KB_EMBED_VECTORS": "false"})
    assert [one["name"] for one in found["findings"]] == ["no_vectors"]
    text = kb("doctor").out
    assert text.startswith("All 1 passages have vectors; nothing wants attention\n")
    assert "versions knowbase" in text


def test_documents_that_an_older_version_read_are_told_as_such(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.note(Note("All is well.", code="N-1"))
        assert "out_of_step" not in named(base.doctor())
    with sqlite3.connect(tmp_path / "base.db") as connection:
        connection.execute("UPDATE documents SET split_by = ''")
    connection.close()
    with knowbase.open(str(tmp_path / "base.db")) as base:
        found = named(base.doctor())["out_of_step"]
        assert "1 document was" in found.what
        assert "an older version" in found.what
        assert found.command == "kb sync"


@pytest.mark.parametrize("access", [Access(write=False), Access(project="a")])
def test_who_may_do_less_is_told_less(access: Access, tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.note(Note("See [[Nothing]].", code="B-1", project="b"))
        assert "dead_links" in named(base.doctor())
        held = base.within(access).doctor()
        assert ("dead_links" in named(held)) == (access.project is None)
        assert held.base.documents == (0 if access.project else 1)
        assert (held.disk is None) == (access.project is not None)
