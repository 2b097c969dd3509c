"""The files of a base: whose they are, and what is left when they cannot be made."""

import os
import resource
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

from conftest import Kb
from faulty import disk
from knowbase import deadline
from knowbase.base import create
from knowbase.errors import BaseLocked, DiskFull, TookTooLong
from knowbase.query.conditions import EVERYTHING
from knowbase.store import sqlite
from knowbase.store.sqlite import SqliteStore
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from stores import MODEL, NOW, draft, section


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("open_umask")
def test_a_base_is_its_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "project"
    home.mkdir()
    with create(str(home)) as base:
        base.store.use_model(MODEL)
        folder = home / ".kb"
        assert mode(folder) == 0o700
        files = {path.name: mode(path) for path in folder.glob("base.*")}
        assert (folder / ".gitignore").read_text() == "*\n"
    names = ("base.db", "base.db-wal", "base.db-shm", "base.db-seen")
    assert files == dict.fromkeys(names, 0o600)


@pytest.mark.usefixtures("open_umask")
def test_a_folder_that_was_there_stays_as_it_is(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    create(str(shared / "base.db")).close()
    assert mode(shared) == 0o755
    assert mode(shared / "base.db") == 0o600
    create(str(shared / "below" / "it" / "base.db")).close()
    assert mode(shared / "below" / "it") == 0o700


@pytest.mark.usefixtures("open_umask")
def test_what_is_kept_of_a_text_for_later_is_its_owners_alone(kb: Kb, tmp_path: Path) -> None:
    kb("note", "something private", env={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    made = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert made
    assert {mode(path) for path in made} == {0o600}


def test_an_open_base_stays_open_to_those_it_is_shared_with(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    create(str(path)).close()
    path.chmod(0o664)
    with create(str(path)) as base:
        base.store.use_model(MODEL)
        assert mode(path) == mode(tmp_path / "base.db-wal") == 0o664
    assert mode(path) == 0o664


# a disk without space


def full_after(size: int) -> None:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [0, 100_000])
def test_a_base_that_finds_no_space_leaves_nothing_behind(tmp_path: Path, size: int) -> None:
    here = Kb(tmp_path)
    said = here.error("init", code=4, before=lambda: full_after(size))
    assert "full" in said or "no space" in said
    assert list(tmp_path.rglob("*.new*")) == []
    with create(str(tmp_path)) as base:
        assert base.is_new


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
def test_a_base_that_cannot_be_made_leaves_nothing_behind(
    tmp_path: Path, error: type[apsw.Error], for_good: bool
) -> None:
    for fail_at in range(1, 60, 7):
        folder = tmp_path / str(fail_at)
        folder.mkdir()
        with disk(folder, fail_at=fail_at, error=error, for_good=for_good), pytest.raises(DiskFull):
            sqlite.create(str(folder / "base.db")).close()
        assert [path for path in folder.iterdir() if ".new" in path.name] == []


# somebody who waits no longer


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = sqlite.create(str(tmp_path / "base.db"))
    made.use_model(MODEL)
    yield made
    made.close()


ENDLESS = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


def test_a_query_ends_when_nobody_waits_for_it(store: SqliteStore) -> None:
    with deadline.within(0.2), pytest.raises(TookTooLong):
        store._read(ENDLESS)
    assert store.count(EVERYTHING) == 0  # and the connection goes on


def test_a_write_that_nobody_waits_for_writes_nothing(store: SqliteStore) -> None:
    """It ends in the middle: all or nothing, and the next one finds no lock."""
    drafts = tuple(draft(f"d{number}", section("word " * 200)) for number in range(2000))
    with deadline.within(0.1), pytest.raises(TookTooLong):
        store.apply(Changes(drafts=drafts), NOW)
    assert store.documents(EVERYTHING, ALL) == []
    store.apply(Changes(drafts=drafts[:1]), NOW)
    assert store.count(EVERYTHING) == 1


def test_within_one_state_nothing_is_seen_that_others_write(store: SqliteStore) -> None:
    """Nor after it, if the time was over when it ended, is the file held."""
    other = SqliteStore(store.path)
    with store.one_state():
        assert store.count(EVERYTHING) == 0
        other.apply(Changes(drafts=(draft("one", section("one")),)), NOW)
        assert store.count(EVERYTHING) == 0
    assert store.count(EVERYTHING) == 1
    with pytest.raises(TookTooLong), store.one_state(), deadline.within(0):
        store.count(EVERYTHING)
    assert not store._connections.get().in_transaction
    other.close()


def test_what_was_read_of_a_write_that_is_taken_back_is_forgotten(store: SqliteStore) -> None:
    store.apply(Changes(drafts=(draft("one", section("one"), title="Before"),)), NOW)
    [chunk] = [passage.chunk_id for passage in store.newest(EVERYTHING, 1)]
    with suppress(ZeroDivisionError), store._connections.writing() as connection:
        connection.execute("UPDATE documents SET title = 'Never'")
        assert store.passages([chunk])[chunk].document.title == "Never"
        raise ZeroDivisionError
    assert store.passages([chunk])[chunk].document.title == "Before"


def test_nothing_is_begun_when_the_time_is_over(store: SqliteStore) -> None:
    with deadline.within(0):
        with pytest.raises(TookTooLong):
            store.count(EVERYTHING)
        with pytest.raises(TookTooLong):
            store.apply(Changes(drafts=(draft("one", section("one")),)), NOW)
    assert store.count(EVERYTHING) == 0


def test_a_lock_is_waited_for_no_longer_than_the_caller_waits(store: SqliteStore) -> None:
    patient = SqliteStore(store.path, busy_timeout=600)
    writer = apsw.Connection(store.path)
    writer.execute("BEGIN IMMEDIATE")
    with deadline.within(0.2), pytest.raises((BaseLocked, TookTooLong)):
        patient.apply(Changes(drafts=(draft("one", section("one")),)), NOW)
    writer.close()
    patient.close()


def test_a_new_base_takes_no_journal_of_a_removed_one(tmp_path: Path) -> None:
    path = tmp_path / "base.db"
    for left in (None, b""):  # and an empty file in its place
        store = sqlite.create(str(path))
        store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
        journal = Path(f"{path}-wal").read_bytes()
        store.close()
        path.unlink()
        if left is not None:
            path.write_bytes(left)
        Path(f"{path}-wal").write_bytes(journal)
        new = sqlite.create(str(path))
        assert new.count(EVERYTHING) == 0
        new.close()
        path.unlink()
