"""Backups of bases that others write to, and putting them back."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import knowbase
from campaign.part import child
from campaign.writing import SHARED
from conftest import COMMAND, Kb, environment
from knowbase import Base
from knowbase.config import DEFAULTS
from knowbase.errors import BaseDamaged, BaseTaken, InvalidInput, NotABase
from knowbase.ingest.embedding import Step
from knowbase.move import move
from knowbase.query.conditions import EVERYTHING
from knowbase.store.contract import Store
from knowbase.store.opening import open_store
from knowbase.store.postgres import PostgresStore
from knowbase.store.sqlite import create
from knowbase.store.sqlite.backups import is_backup
from knowbase.upkeep import backup as backing
from knowbase.upkeep.backup import Wanted, _stem, backup, dated
from knowbase.upkeep.check import check
from knowbase.upkeep.digests import digests
from knowbase.upkeep.repair import repair
from knowbase.upkeep.restore import Wanted as Backup
from knowbase.upkeep.restore import restore
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from stores import BACKENDS, MODEL, NOW, draft, section, vector

HERE = Path(__file__).parent.parent
WRITERS = 8
LATER = "2026-01-02T00:00:00.000000Z"


def place_of(store: Any) -> str:
    return str(store.url if isinstance(store, PostgresStore) else store.path)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made = BACKENDS[request.param](tmp_path)
    made.use_model(MODEL)
    first = draft(SHARED, section("alpha shared"), vectors=(vector(1, 1, 1, 1),))
    made.apply(Changes(drafts=(first,)), NOW)
    yield made
    made.close()


@contextmanager
def writers(base: str, seconds: float) -> Iterator[list[subprocess.Popen[str]]]:
    """Eight processes that write without a pause; none of them may fail."""
    processes = [
        subprocess.Popen(
            child("writing", "store", base, one, sys.maxsize, seconds),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for one in range(WRITERS)
    ]  # fmt: skip
    yield processes
    for process in processes:
        _, err = process.communicate(timeout=seconds + 120)
        assert process.returncode == 0, err


def wait_for_documents(store: Store, number: int) -> None:
    ends = time.monotonic() + 60
    while store.count(EVERYTHING) < number:
        assert time.monotonic() < ends
        time.sleep(0.01)


def sound(path: str) -> bool:
    copy = open_store(path, DEFAULTS)
    try:
        return check(copy, path, os.path.dirname(path), deep=True).is_sound
    finally:
        copy.close()


def test_a_base_is_backed_up_moved_and_restored_while_eight_processes_write(
    store: Store, tmp_path: Path
) -> None:
    """S0-22: each copy is one moment's whole base."""
    place = place_of(store)
    files = [str(tmp_path / f"backup-{one}.db") for one in range(2)]
    with writers(place, 2):
        wait_for_documents(store, 20)
        taken = [backup(store, place, Wanted(file), NOW) for file in files]
        moved = move(place, str(tmp_path / "moved.db"))
        done = restore(place, Backup(files[0]), LATER)  # they write on, into what is there now
    assert done.kept is not None
    assert sound(done.kept)
    assert check(store, place, str(tmp_path), deep=True).is_sound
    assert moved.verified
    assert all(one.verified for one in taken)
    for file in (*files, str(tmp_path / "moved.db")):
        assert sound(file)
    assert not list(tmp_path.glob("*.part*"))
    assert [os.stat(file).st_mode & 0o777 for file in files] == [0o600] * 2


def test_a_backup_answers_like_the_base_and_can_be_put_back(store: Store, tmp_path: Path) -> None:
    place, file = place_of(store), str(tmp_path / "copy.db")
    made = backup(store, place, Wanted(file), NOW)
    before = digests(store.copying())
    assert made.parts == before
    store.apply(Changes(drafts=(draft("late", section("alpha late")),)), LATER)
    foreseen = restore(place, Backup(file, dry_run=True), LATER)
    assert (foreseen.before, foreseen.after, foreseen.lost) == (2, 1, 1)
    assert foreseen.lost_documents[0].endswith("Late")
    assert store.count(EVERYTHING) == 2
    done = restore(place, Backup(file), LATER)
    assert digests(store.copying()) == before  # by the connection that was open all the while
    assert done.kept is not None
    kept = open_store(done.kept, DEFAULTS)
    assert {one.id for one in kept.documents(EVERYTHING, ALL)} == {SHARED, "late"}
    kept.close()
    with pytest.raises(InvalidInput):
        backup(store, file, Wanted(file), NOW)


# naming


def test_backups_of_a_folder_are_dated_and_the_oldest_are_removed(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    place = place_of(store)
    folder.mkdir()
    (folder / "other-20200101T000000Z.db").write_text("not ours")
    named_alike = folder / Path(dated(_stem(place), NOW.replace("2026", "2020"))).name
    named_alike.mkdir()
    names = []
    for second in range(4):
        moment = NOW.replace("T00:00:00", f"T00:00:0{second}")
        preview = backup(store, place, Wanted(str(folder), 2, dry_run=True), moment)
        made = backup(store, place, Wanted(str(folder), 2), moment)
        assert (preview.file, preview.removed) == (made.file, made.removed)
        names.append(Path(made.file).name)
    assert names[0].endswith("-20260101T000000Z.db")
    left = sorted(one.name for one in folder.iterdir())
    assert left == sorted([*names[2:], "other-20200101T000000Z.db", named_alike.name])
    again = backup(store, place, Wanted(str(folder) + "/"), moment)
    assert again.file.endswith("Z-2.db")
    early = backup(store, place, Wanted(str(folder), 2), NOW.replace("2026", "2025"))
    assert Path(early.file).exists()  # the clock was put back: it is the newest all the same
    with pytest.raises(InvalidInput, match="needs a folder"):
        backup(store, place, Wanted(str(folder / "x.db"), 2), NOW)


def test_what_cannot_be_read_is_no_backup(tmp_path: Path) -> None:
    assert not is_backup(str(tmp_path / "gone.db"))
    assert not is_backup(str(tmp_path))  # an OSError, as of a file without rights


def test_only_a_backup_is_replaced_by_a_backup(tmp_path: Path) -> None:
    store, other = create(str(tmp_path / "base.db")), create(str(tmp_path / "other.db"))
    (tmp_path / "notes.txt").write_text("mine")
    names = ["other.db", "notes.txt"]
    if os.name != "nt":
        os.mkfifo(tmp_path / "pipe")  # as a device, it has no size
        os.symlink("nothing", tmp_path / "link")
        names += ["pipe", "link"]
    for name in names:
        with pytest.raises(BaseTaken, match="not replaced"):
            backup(store, store.path, Wanted(str(tmp_path / name)), NOW)
    file = str(tmp_path / "copy.db")
    assert backup(store, store.path, Wanted(file), NOW).verified
    assert backup(store, store.path, Wanted(file), NOW).verified
    with Base(file) as used:  # as a base, with something of its own
        used.store.apply(Changes(drafts=(draft("own", section("alpha")),)), NOW)
    with pytest.raises(BaseTaken, match="not replaced"):
        backup(store, store.path, Wanted(file), NOW)
    store.close()
    other.close()


# what goes wrong


def test_one_backup_does_not_spoil_another_of_the_same_name(tmp_path: Path) -> None:
    store = create(str(tmp_path / "base.db"))
    wanted = Wanted(str(tmp_path / "copy.db"))

    def another(_: Step) -> None:
        assert backup(store, store.path, wanted, NOW).verified

    assert backup(store, store.path, wanted, NOW, another).verified
    store.close()


def test_an_interrupted_or_failing_backup_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = create(str(tmp_path / "base.db"))
    folder = tmp_path / "backups"
    good = backup(store, store.path, Wanted(str(folder) + "/"), NOW)

    def stop(_: Step) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        backup(store, store.path, Wanted(str(folder), 1), LATER, stop)
    monkeypatch.setattr(backing, "digests", lambda *_: (_ for _ in ()).throw(BaseDamaged("x")))
    with pytest.raises(BaseDamaged):
        backup(store, store.path, Wanted(str(folder), 1), LATER)
    assert [str(one) for one in folder.iterdir()] == [good.file]
    store.close()


def test_ctrl_c_during_a_backup_leaves_no_file(tmp_path: Path) -> None:
    store = create(str(tmp_path / "base.db"))
    for number in range(12):
        many = tuple(draft(f"d{number}-{one}", section("word " * 200)) for one in range(100))
        store.apply(Changes(drafts=tuple(one._replace(vectors=(None,)) for one in many)), NOW)
    store.close()
    folder = tmp_path / "backups"
    folder.mkdir()
    process = subprocess.Popen(
        [*COMMAND, "backup", str(folder), "--base", str(tmp_path / "base.db")],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while process.poll() is None and not list(folder.iterdir()):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    left = [one.name for one in folder.iterdir()]
    assert len(left) == (process.returncode == 0)
    assert not [name for name in left if "part" in name]


def test_a_damaged_or_foreign_file_is_not_restored(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path)) as base:
        base.store.apply(Changes(drafts=(draft("one", section("alpha alpha beta")),)), NOW)
        file = str(tmp_path / "copy.db")
        base.backup(file)
        before = digests(base.store.copying())
        data = bytearray(Path(file).read_bytes())
        at = data.rindex(b"alpha alpha")
        data[at] ^= 4
        Path(file).write_bytes(data)
        with pytest.raises(BaseDamaged, match="text is not what was written"):
            restore(base.path, Backup(file), LATER)
        other = tmp_path / "foreign.db"
        apsw.Connection(str(other)).execute("CREATE TABLE t (a)").connection.close()
        for one in (other, tmp_path / ".kb"):
            with pytest.raises((NotABase, knowbase.errors.BaseMissing)):
                restore(base.path, Backup(str(one)), LATER)
        assert digests(base.store.copying()) == before


def test_a_backup_whose_kept_versions_are_damaged_is_not_restored(kb: Kb) -> None:
    kb("note", "alpha alpha beta", "--code", "N-1")
    kb("note", "gamma", "--replace", "N-1")
    kb("backup", "copy.db")
    database = apsw.Connection(str(kb.folder / "copy.db"))
    assert database.execute("SELECT count(*) FROM versions").get == 1
    database.execute("UPDATE versions SET seal = zeroblob(length(seal))")
    database.close()
    told = kb.error("restore", "copy.db", "--yes", code=4)
    assert "copy.db is damaged: versions and their texts that are not what was written: 1" in told


def test_of_a_backup_that_is_cut_off_it_is_said_that_the_backup_is_damaged(kb: Kb) -> None:
    kb("note", "alpha alpha beta")
    kb("backup", "copy.db")
    copy = kb.folder / "copy.db"
    copy.write_bytes(copy.read_bytes()[:20_000])
    told = kb.error("restore", "copy.db", "--yes", code=4)
    assert "copy.db is damaged: it cannot be read as a base" in told
    assert "repair" not in told


def test_a_lost_or_broken_base_is_restored(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path)) as base:
        base.store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
        base.backup(str(tmp_path / "copy.db"))
        path = base.path
    store = open_store(path, DEFAULTS)
    store.apply(Changes(drafts=(draft("two", section("alpha")),)), NOW)
    journal = Path(path + "-wal").read_bytes()
    store.close()
    os.remove(path)
    Path(path + "-wal").write_bytes(journal)  # of a crash: it is not the backup's
    assert restore(path, Backup(str(tmp_path / "copy.db")), NOW).before is None
    with Base(path) as base:
        assert base.status().documents == 1
    data = Path(path).read_bytes()
    opens = data[:4096] + b"\0" * 4096 + data[8192:]
    for broken in (opens, data[:4096] + b"\0" * (len(data) - 4096)):
        Path(path).write_bytes(broken)
        done = restore(path, Backup(str(tmp_path / "copy.db")), LATER)
        assert Path(done.kept or "").read_bytes()[:4096] == data[:4096]
        with Base(path) as base:
            assert base.get("one").text == "alpha"
            assert base.check(deep=True).is_sound


def test_a_base_behind_a_link_is_restored_and_repaired_where_it_is(tmp_path: Path) -> None:
    link, file = tmp_path / "link.db", str(tmp_path / "copy.db")
    with knowbase.create(str(tmp_path)) as base:
        base.store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
        base.backup(file)
    link.symlink_to(base.path)
    for mend in (lambda: restore(str(link), Backup(file), NOW), lambda: repair(str(link), NOW)):
        data = Path(base.path).read_bytes()
        Path(base.path).write_bytes(data[:4096] + b"\0" * 4096 + data[8192:])
        mend()
        assert link.is_symlink()
        with Base(base.path) as whole:
            assert whole.check(deep=True).is_sound


def test_two_folders_keep_their_backups_apart(tmp_path: Path) -> None:
    for name in ("notes", "work", "notes"):
        store = create(str(tmp_path / name / ".kb" / "base.db"))
        backup(store, store.path, Wanted(f"{tmp_path}/all/", keep=1), NOW)
        store.close()
    assert {path.name.split("-")[0] for path in (tmp_path / "all").iterdir()} == {"notes", "work"}


def test_the_commands_say_what_they_did(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    with knowbase.open(str(tmp_path)) as base:
        base.store.apply(Changes(drafts=(draft("one", section("alpha")),)), NOW)
    out = kb("backup", "copy.db").out
    assert "verified" in out
    assert kb("search", "alpha", "--fts-only", "--base", "copy.db").out
    with knowbase.open(str(tmp_path)) as base:
        base.store.apply(Changes(drafts=(draft("two", section("alpha")),)), LATER)
    assert "nobody to ask (say --yes)" in kb.error("restore", "copy.db", code=2)
    assert "would replace" in kb("restore", "copy.db", "--dry-run").out
    place = str(tmp_path / ".kb" / "base.db")
    assert "would replace" in kb("restore", "--base", place, "copy.db", "--dry-run").out
    assert kb.json("restore", "copy.db", "--yes", "--base", place)["after"] == 1
    assert kb.json("--base", "other/.kb/base.db", "restore", "copy.db", "--yes")["after"] == 1
    assert "no backup at gone.db" in kb.error("restore", "gone.db", code=4)
    assert os.name == "nt" or (tmp_path / "other/.kb").stat().st_mode & 0o777 == 0o700
    assert kb.codes() == {"KB-1"}
    kb("forget", "KB-1")
    assert "KB-1" in kb("restore", "KB-1").out  # a document, as ever
    assert kb.json("backup", "out/", "--keep", "1", "--dry-run")["dry_run"] is True
    assert not (tmp_path / "out").exists()
