"""Faults of a real server: ended in the middle of a batch, its disk full, made twice at once."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL, Literal

from campaign.soundness import assert_words_are_in_step
from conftest import Kb
from knowbase.errors import DiskFull
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.postgres import PostgresStore, create
from knowbase.store.postgres.failures import FULL
from knowbase.text.analysis import Word
from knowbase.values.changes import Changes
from postgres import own_server
from stores import NOW, draft, section

PATIENCE = 120  # seconds
FILES = 300
ROOM = 6_000_000  # bytes that are left on a small disk
WEIGHTS = FieldWeights()


def test_a_server_that_crashes_in_the_middle_of_a_batch_loses_nothing(tmp_path: Path) -> None:
    """S4-19: the command goes on, or ends with one sentence; run again, it adds what is missing."""
    server = own_server()
    url = server.get_uri()
    create(url).close()
    for number in range(FILES):
        words = " ".join(f"word{number * n % 997}" for n in range(1, 200))
        (tmp_path / f"{number}.md").write_text(f"# Page {number}\n\n{words}\n", encoding="utf-8")
    command = [sys.executable, "-m", "knowbase.cli", "add", ".", "--defer", "--base", url]
    adding = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: stored(url) > 0)
    os.kill(server.get_pid(), signal.SIGQUIT)
    wait_until(lambda: not (server.pgdata / "postmaster.pid").exists())
    server.start()
    _, said = adding.communicate(timeout=PATIENCE)
    if adding.returncode:
        assert "Traceback" not in said
        assert [one for one in said.splitlines() if one.startswith("kb: ")]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=PATIENCE)
    assert stored(url) == FILES
    with closing(PostgresStore(url)) as store:
        assert_words_are_in_step(store, url)


def stored(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM knowbase.documents").fetchone()
        return int(row[0]) if row else 0


def wait_until(holds: Any) -> None:
    ends = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < ends
        time.sleep(0.01)


@contextmanager
def small_disk(owner: Path) -> Iterator[Path]:
    """A file system of 64 MB that belongs to whom a path belongs to."""
    folder = Path(tempfile.mkdtemp(prefix="kb-small-"))
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        folder.rmdir()
        pytest.skip("needs the right to mount a small file system")
    try:
        stat = owner.stat()
        (folder / "data").mkdir()
        os.chown(folder / "data", stat.st_uid, stat.st_gid)
        folder.chmod(0o755)
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
        folder.rmdir()


def test_a_full_disk_is_said_in_one_sentence_and_loses_nothing() -> None:
    """A real one: the database lies in a file system that is too small for what is written."""
    server = own_server()
    url = server.get_uri()
    with small_disk(server.pgdata) as disk:
        spare = disk / "spare"
        with psycopg.connect(url, autocommit=True) as connection:
            place = SQL("CREATE TABLESPACE small LOCATION {}").format(Literal(str(disk / "data")))
            connection.execute(place)
            connection.execute("CREATE DATABASE crowded TABLESPACE small")
        base = urlsplit(url)._replace(path="/crowded").geturl()
        with closing(create(base)) as store:
            crowd(spare)
            written = fill(store)
            spare.unlink()
            store.apply(Changes(drafts=(draft("after", section("written after that")),)), NOW)
            found = store.keyword(KeywordQuery((Word("common"),)), EVERYTHING, 10**6, WEIGHTS)
            assert len(found) == written
            assert store.find("after") is not None
            assert_words_are_in_step(store, base)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP DATABASE crowded WITH (FORCE)")
            connection.execute("DROP TABLESPACE small")


def crowd(spare: Path) -> None:
    """Take nearly all of the room that a small disk has left."""
    spare.write_bytes(bytes(shutil.disk_usage(spare.parent).free - ROOM))


def fill(store: PostgresStore) -> int:
    """Until the disk is full: how many documents were acknowledged. Of long words, for most of the
    time would go into words."""
    for number in range(10_000):
        text = "common " + " ".join(os.urandom(80).hex() for _ in range(4000))
        try:
            store.apply(Changes(drafts=(draft(f"d{number}", section(text)),)), NOW)
        except DiskFull as error:
            said = (error.message, error.hint)
            break
    assert said == (FULL.message, FULL.hint)
    return number


def test_two_commands_may_init_the_same_base_at_once(tmp_path: Path) -> None:
    server = own_server()
    url = server.get_uri()
    command = [sys.executable, "-m", "knowbase.cli", "init", "--base", f"{url}#both"]
    both = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    for one in both:
        _, said = one.communicate(timeout=PATIENCE)
        assert one.returncode == 0, said
    assert Kb(tmp_path).json("status", env={"KB_BASE": f"{url}#both"})["documents"] == 0
