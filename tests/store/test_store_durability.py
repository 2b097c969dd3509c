"""What was acknowledged survives: a power cut, a failing disk, a full one."""

import os
import random
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from faulty import Disk, disk
from knowbase import Note
from knowbase.base import Base, create
from knowbase.errors import DiskFull
from knowbase.store.sqlite import SqliteStore
from knowbase.values.changes import Changes, Reinforcement, SavedSearch
from linked import FarApart
from stores import MODEL, NOW, draft, section


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with an empty base."""
    place = tmp_path / "disk"
    place.mkdir()
    create(str(place / "base.db")).close()
    return place


@contextmanager
def recorded(place: Path) -> Iterator[tuple[Disk, Base]]:
    """The base on a disk that writes down what reaches it."""
    with disk(place) as made, Base(str(place / "base.db"), embedder=FarApart()) as base:
        yield made, base


def write_much(made: Disk, base: Base) -> None:
    """One of each kind that only the base has, each acknowledged, with much besides."""
    first = base.note(Note("The first note", code="N-0"))
    made.mark(("code", first.code))
    for number in range(1, 7):
        note = base.note(Note(f"Note number {number}. " + "words " * 40, code=f"N-{number}"))
        made.mark(("code", note.code))
        base.store.apply(Changes(reinforced=(Reinforcement(note.id, 0.1),)), NOW, wait=False)
    base.sessions.start("morning")
    made.mark(("session", "morning"))
    base.feedback("N-1", "good")
    made.mark(("verdict", "N-1"))
    base.lifecycle.archive(["N-2"])
    made.mark(("archived", "N-2"))
    base.store.save_search(SavedSearch("mine", "note", {}, NOW, NOW))
    made.mark(("saved", "mine"))


def facts(store: SqliteStore) -> set[tuple[str, str]]:
    """All that can be acknowledged, as it is found."""
    connection = store._connections.get()
    sql = """
        SELECT 'code', code FROM documents UNION ALL SELECT 'session', id FROM sessions
        UNION ALL SELECT 'verdict', code FROM verdicts JOIN documents ON seq = document
        UNION ALL SELECT 'archived', code FROM documents WHERE archived
        UNION ALL SELECT 'saved', name FROM saved
    """
    return set(connection.execute(sql).fetchall())  # type: ignore[arg-type]


def reopened(files: dict[str, bytes], folder: Path) -> SqliteStore:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path, data in files.items():
        (folder / os.path.basename(path)).write_bytes(data)
    return SqliteStore(str(folder / "base.db"))


def check_power_cuts(place: Path, after: Path, every: int) -> None:
    """Unsynced writes are lost, torn and in any order; the base is sound all the same."""
    with recorded(place) as (made, base):
        connection = base.store._connections.get()  # type: ignore[attr-defined]
        connection.execute("PRAGMA wal_autocheckpoint = 40")  # so that some are in the middle
        write_much(made, base)
    assert len(made.marks(len(made.operations))) == 11
    for cut in range(0, len(made.operations) + 1, every):
        store = reopened(made.after_power_cut(cut, random.Random(cut)), after)
        missing = set(made.marks(cut)) - facts(store)
        assert not missing, f"cut before operation {cut}: {missing}"
        sound = store._connections.get().execute("PRAGMA integrity_check").get
        assert sound == "ok", f"cut before operation {cut}"
        assert not store.has_lost_writes()
        store.close()


def test_what_was_acknowledged_survives_a_power_cut(place: Path, tmp_path: Path) -> None:
    check_power_cuts(place, tmp_path / "after", every=23)


@pytest.mark.soak
def test_what_was_acknowledged_survives_a_power_cut_at_any_moment(
    place: Path, tmp_path: Path
) -> None:
    check_power_cuts(place, tmp_path / "after", every=1)


def test_use_that_nobody_waits_for_costs_no_sync(place: Path) -> None:
    with recorded(place) as (made, base):
        note = base.note(Note("The first note"))
        before = len(made.operations)
        base.store.apply(Changes(reinforced=(Reinforcement(note.id, 0.1),)), NOW, wait=False)
        kinds = [one.kind for one in made.operations[before:]]
        assert "write" in kinds
        assert "sync" not in kinds
        before = len(made.operations)
        base.sessions.start("morning")
        kinds = [one.kind for one in made.operations[before:]]
        assert kinds.count("sync") == 1


def check_failures(folder: Path, error: type[apsw.Error], every: int) -> None:
    """Nothing is lost or damaged when an operation of the disk fails, whichever it is."""
    path = str(folder / "base.db")
    fail_at = made = 0
    while made >= fail_at:
        fail_at += every
        acknowledged: list[str] = []
        with disk(folder, fail_at=fail_at, error=error) as failing:
            try:
                with closing(SqliteStore(path)) as store:
                    store.use_model(MODEL)
                    for number in range(3):
                        name = f"n{fail_at}-{number}"
                        store.apply(Changes(drafts=(draft(name, section(name)),)), NOW)
                        acknowledged.append(name)
            except DiskFull:
                pass
            made = failing.done
        with closing(SqliteStore(path)) as sound:
            assert all(sound.find(name) for name in acknowledged), f"operation {fail_at}"
            assert sound._connections.get().execute("PRAGMA integrity_check").get == "ok"


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
def test_a_disk_that_fails_costs_nothing_that_was_acknowledged(
    place: Path, error: type[apsw.Error]
) -> None:
    check_failures(place, error, every=11)


@pytest.mark.soak
@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
def test_a_disk_that_fails_at_any_operation_costs_nothing_that_was_acknowledged(
    place: Path, error: type[apsw.Error]
) -> None:
    check_failures(place, error, every=1)
