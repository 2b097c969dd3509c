"""A journal that was deleted after a kill is noticed, and files are read again; nothing else is
taken for it."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from conftest import Kb, environment
from knowbase.errors import BaseError
from knowbase.store.sqlite import SqliteStore, create
from knowbase.upkeep.backup import Wanted, backup
from knowbase.upkeep.check import check
from knowbase.values.changes import Changes
from knowbase.values.findings import PROBLEM
from stores import MODEL, NOW, draft, section

WRITER = """
import os, signal, sys
sys.path[:0] = sys.argv[2:]
from knowbase.store.sqlite import SqliteStore
from knowbase.values.changes import Changes
from stores import NOW, draft, section

store = SqliteStore(sys.argv[1])
store.apply(Changes(drafts=(draft("late", section("late")),)), NOW)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base as it was closed, and as a killed writer left it."""
    folder = tmp_path_factory.mktemp("journal")
    closed = folder / "closed"
    closed.mkdir()
    store = create(str(closed / "base.db"))
    store.use_model(MODEL)
    put(store, "early")
    store.close()
    shutil.copytree(closed, folder / "killed")
    write_and_be_killed(str(folder / "killed" / "base.db"))
    return folder


@pytest.fixture
def path(folders: Path, tmp_path: Path) -> str:
    """A base with two documents, the second one in the journal of a killed writer."""
    return copied(folders / "killed", tmp_path / "base")


def copied(source: Path, target: Path) -> str:
    shutil.copytree(source, target)
    return str(target / "base.db")


def put(store: SqliteStore, name: str) -> None:
    store.apply(Changes(drafts=(draft(name, section(name)),)), NOW)


def write_and_be_killed(path: str) -> None:
    tests = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", WRITER, path, tests], env=environment(), check=False, timeout=60
    )
    assert done.returncode == -signal.SIGKILL


def remove_journal(path: str) -> None:
    for end in ("-wal", "-shm"):
        os.remove(path + end)


def has_lost_writes(path: str) -> bool:
    store = SqliteStore(path)
    try:
        return store.has_lost_writes()
    finally:
        store.close()


def test_a_deleted_journal_is_noticed_until_the_files_were_looked_at(path: str) -> None:
    remove_journal(path)
    assert has_lost_writes(path)
    assert has_lost_writes(path)  # also whoever comes later
    store = SqliteStore(path)
    put(store, "later")
    assert store.has_lost_writes()
    store.clear_lost_writes()
    assert not store.has_lost_writes()
    store.close()
    assert not has_lost_writes(path)


def test_a_check_tells_of_a_deleted_journal_and_no_backup_is_given_up_for_it(
    path: str, tmp_path: Path
) -> None:
    store = SqliteStore(path)
    folder = f"{tmp_path / 'backups'}/"
    older = backup(store, path, Wanted(folder, 1), NOW).file
    store.close()
    write_and_be_killed(path)
    remove_journal(path)
    store = SqliteStore(path)
    found = check(store, path, str(tmp_path))
    assert [one.hint for one in found.findings if one.severity == PROBLEM] == ["kb sync"]
    assert backup(store, path, Wanted(folder, 1), NOW).removed == ()
    store.clear_lost_writes()
    assert check(store, path, str(tmp_path)).is_sound
    assert older in backup(store, path, Wanted(folder, 1), NOW).removed
    store.close()


def test_a_journal_that_lost_its_end_is_noticed(path: str) -> None:
    os.truncate(path + "-wal", 100)
    os.remove(path + "-shm")
    assert has_lost_writes(path)


def test_a_kill_alone_is_no_loss(path: str) -> None:
    assert not has_lost_writes(path)
    store = SqliteStore(path)
    assert store.find("late") is not None
    store.close()


def test_nothing_is_left_beside_a_base_that_was_closed(folders: Path) -> None:
    assert os.listdir(folders / "closed") == ["base.db"]


@pytest.mark.parametrize("way", [shutil.copy, shutil.copy2])
def test_an_older_copy_in_its_place_is_no_loss(
    path: str, folders: Path, way: Callable[[str, str], str]
) -> None:
    assert not has_lost_writes(path)  # and its journal is empty from now on
    store = SqliteStore(path)
    put(store, "latest")
    shutil.copytree(os.path.dirname(path), path + ".killed")
    store.close()
    path = os.path.join(path + ".killed", "base.db")
    remove_journal(path)
    way(str(folders / "closed" / "base.db"), path)
    assert not has_lost_writes(path)


def test_moved_and_copied_bases_are_no_loss(path: str, tmp_path: Path) -> None:
    folder = Path(path).parent
    shutil.copytree(folder, tmp_path / "copy")
    assert not has_lost_writes(str(tmp_path / "copy" / "base.db"))
    folder.rename(tmp_path / "moved")
    assert not has_lost_writes(str(tmp_path / "moved" / "base.db"))
    alone = tmp_path / "alone.db"
    shutil.copy2(tmp_path / "moved" / "base.db", alone)
    assert not has_lost_writes(str(alone))


def test_a_copy_without_its_journal_is_noticed(path: str, tmp_path: Path) -> None:
    shutil.copytree(Path(path).parent, tmp_path / "copy", ignore=shutil.ignore_patterns("*-wal"))
    assert has_lost_writes(str(tmp_path / "copy" / "base.db"))


def test_a_garbled_note_beside_the_base_says_nothing(path: str) -> None:
    for garbage in (b"", b"\0" * 63, b"1 2", b"999 x 3\n", b"9" * 5000):
        Path(path + "-seen").write_bytes(garbage)
        assert not has_lost_writes(path)


def test_several_writers_are_no_loss(folders: Path, tmp_path: Path) -> None:
    path = copied(folders / "closed", tmp_path / "base")
    first, second = SqliteStore(path), SqliteStore(path)
    for number in range(5):
        put(first, f"first-{number}")
        put(second, f"second-{number}")
        assert not has_lost_writes(path)
    first.close()
    assert not has_lost_writes(path)
    second.close()
    assert not os.path.exists(path + "-seen")


def test_a_stranger_may_empty_the_journal(path: str) -> None:
    """Such as the shell of SQLite, which knows nothing of our note."""
    connection = apsw.Connection(path)
    connection.execute("SELECT count(*) FROM documents").fetchall()
    connection.close()
    assert not os.path.exists(path + "-wal")
    assert not has_lost_writes(path)


ADD = """
import os, signal, sys
import knowbase
from knowbase.base import Base
from knowbase.ingest import sync

keep = sync.Run.flush
def flush(run):
    keep(run)
    if run._done >= 30:
        os.kill(os.getpid(), signal.SIGKILL)
sync.Run.flush = flush
with knowbase.open() as base:
    base.add(["docs"], defer=True)
"""


def test_sync_puts_a_base_right_whose_journal_was_deleted(kb: Kb) -> None:
    """The files, though not even their source was in the base's own file for long."""
    for number in range(40):
        kb.write(f"docs/{number}.md", f"# File {number}\n\nText of {number}.")
    killed = subprocess.run(
        [sys.executable, "-c", ADD], cwd=kb.folder, env=environment(), check=False, timeout=60
    )
    assert killed.returncode == -signal.SIGKILL
    remove_journal(str(kb.base))
    listed = kb("list")
    assert "journal" in listed.err
    assert "0 of 0" in listed.out
    assert "incomplete" in kb("status").out
    kb("sync", "--defer")
    after = kb.json("status")
    assert (after["documents"], after["lost_writes"]) == (40, False)


def test_a_damaged_base_is_an_error_not_a_loss(path: str) -> None:
    remove_journal(path)
    Path(path).write_bytes(b"not a base at all")
    with pytest.raises(BaseError):
        has_lost_writes(path)
