"""SQLite connections: one a thread, and every driver error made one of ours."""

import os
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from knowbase.errors import (
    BaseDamaged,
    BaseError,
    BaseLocked,
    BaseMissing,
    BaseReadOnly,
    DiskFull,
    ModelUnavailable,
    NotABase,
)
from knowbase.types import Model

if TYPE_CHECKING:
    from weakref import WeakSet

_MEANING: tuple[tuple[tuple[type[apsw.Error], ...], type[BaseError], str, str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError),
        BaseLocked,
        "another process is writing to the base",
        "try again when it is done, or raise store.busy_timeout",
    ),
    ((apsw.NotADBError,), NotABase, "this file is not a knowbase base", "choose another --base"),
    (
        (apsw.CorruptError,),
        BaseDamaged,
        "the base is damaged",
        "restore a copy, or remove it and add your files again",
    ),
    (
        (apsw.FullError, apsw.IOError),
        DiskFull,
        "the base could not be written: the disk is full or failing",
        "free some space; what was stored before is safe",
    ),
    (
        (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError),
        BaseReadOnly,
        "the base cannot be written or opened there",
        "check the permissions of the folder and the file",
    ),
)


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors as knowbase errors; the original stays as the cause, for the log."""
    try:
        yield
    except apsw.Error as error:
        for drivers, ours, message, hint in _MEANING:
            if isinstance(error, drivers):
                raise ours(message, hint=hint) from error
        raise BaseError("the database refused the operation") from error


class _Waiting:
    """Waits for another's lock, looking again every few milliseconds.

    SQLite's own way looks ten times a second: beside busy writers, which leave the lock for a
    millisecond only, somebody would now and then wait in vain.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ends = 0.0

    def __call__(self, tries: int) -> bool:
        now = time.monotonic_ns()
        if tries == 0:
            self._ends = now / 1e9 + self._seconds
        if now / 1e9 >= self._ends:
            return False
        time.sleep((1 + now % 8) / 1000)  # not all at the same moment
        return True


class Connections(threading.local):
    """The connection of the current thread to one file, opened when first used."""

    def __init__(self, path: str, busy_timeout: float, opened: "WeakSet[apsw.Connection]") -> None:
        self._waiting = _Waiting(busy_timeout)
        self._connection = _connect(path, self._waiting)
        # The same set in every thread, and a weak one: a thread that ends takes its own along.
        self._opened = opened
        self._opened.add(self._connection)
        self._has_vectors = False

    def get(self) -> apsw.Connection:
        return self._connection

    def with_vectors(self) -> apsw.Connection:
        """The connection with sqlite-vec loaded; a keyword search never needs it."""
        if not self._has_vectors:
            load_vector_extension(self._connection)
            self._has_vectors = True
        return self._connection

    @contextmanager
    def writing(self, *, wait: bool = True) -> Iterator[apsw.Connection]:
        """One transaction that holds the write lock from its start; no waiting for it if told."""
        connection = self._connection
        connection.set_busy_handler(self._waiting if wait else None)
        try:
            connection.execute("BEGIN IMMEDIATE")
        finally:
            connection.set_busy_handler(self._waiting)
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the connections of all threads."""
        for connection in list(self._opened):
            connection.close()


class Connected:
    """What every part of the store reads with."""

    _connections: Connections

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translated():
            return self._connections.get().execute(sql, values).fetchall()

    def _model_id(self, connection: apsw.Connection, model: Model | None = None) -> int | None:
        """The number of the model, or of the active one."""
        where = "name = ? AND revision = ? AND dimensions = ?" if model else "active"
        sql = f"SELECT id FROM models WHERE {where}"
        found: int | None = connection.execute(sql, tuple(model or ())).get
        return found


def as_json(values: Collection[str]) -> str:
    """Many values as one parameter, for json_each; ids need no JSON library, which loads slowly."""
    if "".join(values).replace("-", "").isalnum():
        return '["' + '","'.join(values) + '"]'
    import json

    return json.dumps(list(values))


def _connect(path: str, waiting: _Waiting) -> apsw.Connection:
    if not os.path.exists(path):
        raise BaseMissing("there is no base here", hint="make one with: kb init")
    connection = _opened(os.path.abspath(path))
    connection.set_busy_handler(waiting)
    connection.execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL")
    return connection


def _opened(path: str) -> apsw.Connection:
    """A base in a folder that cannot be written is still readable."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    uri = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK):
        return apsw.Connection(uri, flags=flags)
    try:
        connection = apsw.Connection(uri + "?mode=ro", flags=flags)
        connection.execute("PRAGMA schema_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # Without a writer there is no shared memory to join, and none can be made.
        return apsw.Connection(uri + "?immutable=1", flags=flags)
    return connection


def load_vector_extension(connection: apsw.Connection) -> None:
    """Load sqlite-vec by its path: importing its package would import numpy."""
    from importlib.util import find_spec

    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(
            "semantic search needs the sqlite-vec package", hint="pip install sqlite-vec"
        )
    connection.enable_load_extension(True)
    connection.load_extension(os.path.join(spec.submodule_search_locations[0], "vec0"))
    connection.enable_load_extension(False)
