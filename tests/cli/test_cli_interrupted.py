"""Stopping in the middle, and watching."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from children import PATIENCE, assert_in_step, start, stored_paths, wait_until

from conftest import Kb, environment, one_json
from knowbase.cli.interrupts import comes_of_one
from knowbase.errors import KnowbaseError

PAGES = 260  # several batches: enough to be caught in the middle


@pytest.fixture
def many(kb: Kb) -> Kb:
    for number in range(PAGES):
        kb.write(f"docs/{number:03}.md", f"# Page {number}\n\nThe words of page {number}.\n")
    return kb


def stopped_in_the_middle(
    kb: Kb, with_signal: signal.Signals, *arguments: str
) -> subprocess.Popen[str]:
    """Start a command, wait for its first documents, and send the signal."""
    process = start(kb, *arguments)
    try:
        wait_until(lambda: bool(stored_paths(kb)))
    finally:
        process.send_signal(with_signal)
    return process


def test_a_killed_add_leaves_a_sound_base_and_the_next_one_goes_on(many: Kb) -> None:
    """S0-22 S1-01"""
    process = stopped_in_the_middle(many, signal.SIGKILL, "add", "docs")
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    done = len(stored_paths(many))
    assert 0 < done < PAGES
    assert_in_step(many.base)
    assert many.json("search", "page", "--fts-only")["returned"] == 10
    report = many.json("add", "docs")
    assert (len(report["added"]), report["unchanged"]) == (PAGES - done, done)
    assert many.json("status")["documents"] == PAGES
    assert_in_step(many.base)


def test_an_interrupted_add_keeps_what_is_done_and_says_so(many: Kb) -> None:
    process = stopped_in_the_middle(many, signal.SIGINT, "add", "docs")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "interrupted: " in out
    assert err == ""
    done = len(stored_paths(many))
    assert 0 < done < PAGES
    assert_in_step(many.base)
    report = many.json("sync")
    assert (len(report["added"]), report["unchanged"]) == (PAGES - done, done)
    assert_in_step(many.base)


def test_a_stop_in_one_large_file_keeps_its_words_and_what_was_embedded(kb: Kb) -> None:
    sections = (f"# Part {number}\n\nThe words of part {number}.\n" for number in range(1_100))
    kb.write("docs/large.md", "\n".join(sections))
    process = stopped_in_the_middle(kb, signal.SIGINT, "add", "docs")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, "")
    assert "1 added" in out
    assert "run it again, and kb embed for the vectors that wait" in out
    found = kb.json("search", '"words of part 1099"', "--fts-only", "--top", "1")
    assert found["hits"][0]["heading"] == "Part 1099"
    status = kb.json("status")
    waiting = status["chunks"] - status["embedded"]
    assert 0 < waiting <= 1_100
    assert len(kb.json("sync")["added"]) == 0
    assert kb.json("embed")["embedded"] == waiting
    assert_in_step(kb.base)


def test_ctrl_c_ends_a_file_that_is_being_read(kb: Kb) -> None:
    """At a terminal, every process of the group gets it."""
    kb.write("docs/slow.md", "[" * 2_000_000)
    process = start(kb, "add", "docs", before=os.setsid)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(lambda: bool(children.read_text()))
    reader = int(children.read_text())
    wait_until(lambda: cpu_ticks(reader) > 60)  # it is at work
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, "")
    assert "interrupted: " in out
    assert not os.path.exists(f"/proc/{reader}")


@pytest.mark.parametrize("made_of_it", [ImportError, RuntimeError])
def test_what_an_extension_makes_of_an_interrupt_is_one(made_of_it: type[Exception]) -> None:
    try:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise made_of_it from None  # from None hides it from people alone
    except made_of_it as error:
        wrapped = KnowbaseError("the model does not load")
        wrapped.__cause__ = error
        assert comes_of_one(wrapped)
    assert not comes_of_one(KnowbaseError("the model does not load"))
    assert not comes_of_one(None)


_READY = """
import sys
from knowbase import cli
from knowbase.cli.interrupts import end_at_once
end_at_once()
print("ready", file=sys.stderr, flush=True)
cli.entry()
"""


@pytest.mark.parametrize("command", [("list",), ("search", "a", "--fts-only"), ("note", "beta")])
def test_ctrl_c_at_any_moment_of_a_start_shows_nothing_of_the_inside(
    kb: Kb, command: tuple[str, ...]
) -> None:
    kb("note", "alpha")
    for moment in range(0, 400, 25):
        process = subprocess.Popen(
            [sys.executable, "-c", _READY, *command], cwd=kb.folder, env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stderr is not None
        assert process.stderr.readline() == "ready\n"
        time.sleep(moment / 1000)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=PATIENCE)[1]
        assert (process.returncode, err) in [(130, "interrupted\n"), (0, "")], (moment, err)
    assert_in_step(kb.base)


def cpu_ticks(process: int) -> int:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11])


def test_an_interrupted_add_lists_only_what_is_stored(many: Kb) -> None:
    process = stopped_in_the_middle(many, signal.SIGINT, "add", "docs", "--json")
    report = one_json(process.communicate(timeout=PATIENCE)[0])
    assert report["interrupted"] is True
    assert set(report["added"]) == stored_paths(many)


def test_an_add_in_the_background_of_a_script_does_not_end_by_ctrl_c(many: Kb) -> None:
    """A shell starts it with SIGINT ignored, and so it stays."""
    ignoring = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    process = start(many, "add", "docs", before=ignoring)
    wait_until(lambda: bool(stored_paths(many)))
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert len(stored_paths(many)) == PAGES


def watching(kb: Kb) -> subprocess.Popen[str]:
    """A watch that has begun: it picks up what is written from now on."""
    process = start(kb, "watch")
    probe = kb.folder / "docs" / "probe.md"

    def noticed() -> bool:
        # Written again and again: the first ones may come before the watch begins.
        probe.write_text(f"# Probe\n\nWritten at {time.monotonic_ns()}.\n")
        time.sleep(0.2)
        assert process.poll() is None, process.communicate()
        return "docs/probe.md" in stored_paths(kb)

    wait_until(noticed)
    return process


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Interrupt it as Ctrl-C does, and take what it printed."""
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=PATIENCE)
    finally:
        process.kill()


def test_a_watch_picks_up_new_changed_and_deleted_files(kb: Kb) -> None:
    for name in ("a", "b", "c"):
        kb.write(f"docs/{name}.md", f"# {name}\n\nThe page {name}.\n")
    kb("add", "docs")
    process = watching(kb)
    try:
        kb.write("docs/new.md", "# New\n\nThe zebra.\n")
        wait_until(lambda: "docs/new.md" in stored_paths(kb))
        (kb.folder / "docs/a.md").unlink()
        wait_until(lambda: "docs/a.md" not in stored_paths(kb))
    finally:
        out, err = ended(process)
    assert process.returncode in (0, 130)
    assert "Traceback" not in err
    assert "1 removed" in out
    assert kb.json("search", "zebra", "--fts-only")["returned"] == 1
    assert_in_step(kb.base)


def test_there_must_be_something_to_watch(kb: Kb) -> None:
    assert "nothing to watch" in kb.error("watch", code=3)


def test_an_interrupted_watch_prints_nothing_of_its_inside(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb("add", "docs")
    assert "KeyboardInterrupt" not in ended(watching(kb))[1]


def test_a_watch_can_be_interrupted_while_it_catches_up(kb: Kb) -> None:
    (kb.folder / "docs").mkdir()
    kb("add", "docs")
    for number in range(PAGES):
        kb.write(f"docs/{number:03}.md", f"# Page {number}\n\nThe words of page {number}.\n")
    process = stopped_in_the_middle(kb, signal.SIGINT, "watch")
    try:
        process.communicate(timeout=5)
    finally:
        process.kill()


def settled(base: Path) -> bool:
    """Whether the base is not written to for a second."""
    before = written(base)
    time.sleep(1)
    return written(base) == before


def written(base: Path) -> int:
    with suppress(FileNotFoundError):
        return os.stat(f"{base}-wal").st_mtime_ns
    return base.stat().st_mtime_ns


def test_a_watch_over_the_folder_of_the_base_comes_to_rest(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n\nalpha\n")
    kb("add", ".")
    process = watching(kb)
    try:
        wait_until(lambda: settled(kb.base))
    finally:
        ended(process)
