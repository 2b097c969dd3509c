"""Base files as wholes: a backup finished, recognised, and put in a base's place."""

import os
import time
from collections.abc import Callable
from contextlib import suppress

import apsw

from knowbase.errors import NotABase
from knowbase.store.rows import damaged
from knowbase.store.sqlite import schema
from knowbase.store.sqlite.beside import JOURNALS, remove_journals
from knowbase.store.sqlite.connection import translated

PAGES_A_STEP = 2000
_HEADER = b"SQLite format 3\0"
_WRITE_VERSION = 18  # the byte of the header that says whether there is a WAL
_ROLLBACK = 1
_APPLICATION = slice(68, 72)

Step = Callable[[int, int], None]


def new_file(path: str) -> None:
    """An empty file that only its owner reads and that was not there."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def finish(path: str) -> None:
    """One file without a journal beside it, on the disk for certain.

    A backup has no WAL: it can be read where nothing can be written, and is told from a base in
    use by that.
    """
    with translated():
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        finally:
            connection.close()
    os.chmod(path, 0o600)
    synced(path)


def synced(path: str) -> None:
    """What was written to a file, or to a folder's names, is on the disk."""
    if os.path.isdir(path) and os.name == "nt":
        return  # Windows writes names at once, and opens no folder
    handle = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def is_ours(path: str) -> bool:
    """Whether a file says of itself that it is a base."""
    header = _header(path)
    return (
        header.startswith(_HEADER) and int.from_bytes(header[_APPLICATION]) == schema.APPLICATION_ID
    )


def is_backup(path: str) -> bool:
    """Whether a file is a base that nobody has open for writing: finished as a backup."""
    return is_ours(path) and _header(path)[_WRITE_VERSION] == _ROLLBACK


def has_known_tables(path: str) -> bool:
    """Whether a file has the tables and columns of a new base, whatever its header says."""
    known = apsw.Connection(":memory:")
    schema.create(known, lambda _: None)
    found = _for_reading(path)
    sql = (
        "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c"
        " WHERE m.type = 'table' AND m.name NOT LIKE 'chunks_vec%' ORDER BY 1, 2"
    )
    try:
        return known.execute(sql).fetchall() == found.execute(sql).fetchall()
    except (apsw.Error, UnicodeDecodeError):
        return False
    finally:
        known.close()
        found.close()


def _header(path: str) -> bytes:
    """Nothing, if it cannot be read."""
    with suppress(OSError), open(path, "rb") as file:
        return file.read(100)
    return b""


def copy_pages(source: str, target: str, step: Step = lambda _, __: None) -> None:
    """A base file, as it is now, into a new one; the source is not changed, not even upgraded."""
    new_file(target)
    with translated():
        first = _for_reading(source)
        try:
            if first.pragma("application_id") != schema.APPLICATION_ID:
                raise NotABase(f"{source} is not a knowbase base", hint="choose another file")
            second = apsw.Connection(target, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                _copy(second, first, step)
            finally:
                second.close()
        finally:
            first.close()


def _for_reading(path: str) -> apsw.Connection:
    uri = "file:" + os.path.abspath(path).replace("%", "%25").replace("?", "%3f").replace(
        "#", "%23"
    )
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    try:
        connection = apsw.Connection(uri + "?mode=ro", flags=flags)
        connection.execute("PRAGMA schema_version").fetchall()
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        return apsw.Connection(uri + "?immutable=1", flags=flags)
    return connection


def _copy(target: apsw.Connection, source: apsw.Connection, step: Step) -> None:
    with target.backup("main", source, "main") as backup:
        while not backup.done:
            backup.step(PAGES_A_STEP)
            step(backup.page_count - backup.remaining, backup.page_count)


def put_in_place(source: str, base: str, before: Callable[[], None], step: Step) -> None:
    """All pages of one file in place of another base's, as one transaction of SQLite: whoever
    has the base open reads the old state until it is done, then the new one.

    `before` is called once nobody else can write any more.
    """
    with translated():
        first, second = _for_reading(source), apsw.Connection(base, flags=_WRITING)
        second.execute("PRAGMA synchronous = FULL")
        try:
            with second.backup("main", first, "main") as backup:
                _lock(backup)
                with suppress(OSError):
                    os.remove(base + "-seen")  # what is noted there is of the base as it was
                before()
                while not backup.done:
                    backup.step(PAGES_A_STEP)
                    step(backup.page_count - backup.remaining, backup.page_count)
            with suppress(apsw.BusyError):
                second.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            first.close()
            second.close()


def _lock(backup: apsw.Backup) -> None:
    """Take the write lock of the target, and copy nothing yet; busy writers leave it for a
    millisecond only, so it is tried every few."""
    ends = time.monotonic() + _PATIENCE
    while True:
        try:
            backup.step(0)
        except (apsw.BusyError, apsw.LockedError):
            if time.monotonic() > ends:
                raise
            time.sleep(0.003)
        else:
            return


_PATIENCE = 30.0  # seconds for those who write
_WRITING = apsw.SQLITE_OPEN_READWRITE


def put_aside(base: str, aside: str) -> None:
    """Give a base that cannot be opened another name, with its journals; where a file can have
    two names it keeps its own, until another file takes it."""
    ends = ("", *(end for end in JOURNALS if end != "-seen"))
    there = [end for end in ends if os.path.exists(base + end)]
    try:
        for end in there:
            os.link(base + end, aside + end)
    except OSError:
        for end in there:
            os.replace(base + end, aside + end)
    remove_journals(base)


def move_to(new: str, base: str) -> None:
    """A finished file takes a name that is free, or replaces what has it."""
    remove_journals(base)
    os.replace(new, base)
    synced(os.path.dirname(os.path.abspath(base)))


def make_base(path: str) -> None:
    """A finished file becomes a base in use."""
    with translated():
        connection = apsw.Connection(path, flags=_WRITING)
        try:
            if connection.execute("PRAGMA journal_mode = WAL").get != "wal":
                raise damaged()
        finally:
            connection.close()
