"""SQLite connections: one a thread, and every driver error made one of ours."""

import os
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar
from weakref import WeakSet

import apsw

from knowbase import deadline
from knowbase.errors import (
    BaseError,
    BaseLocked,
    BaseMissing,
    BaseReadOnly,
    DiskFull,
    KnowbaseError,
    NotABase,
    TookTooLong,
)
from knowbase.store.rows import damaged
from knowbase.store.sqlite.damage import is_damage
from knowbase.store.sqlite.journal import Journal
from knowbase.store.sqlite.packing import register
from knowbase.store.sqlite.turns import Turns
from knowbase.text.paths import matcher
from knowbase.values.characters import storable, storable_rows

if TYPE_CHECKING:
    from knowbase.values.vectors import Model

Mark: TypeAlias = tuple[int, int]
T = TypeVar("T")

LOOK_EVERY = 1_000_000  # steps of SQLite's machine, in which few queries are done
MOST_KEPT = 16  # lists of what passes: a megabyte each in a base of a million chunks
STATEMENTS = 400  # executions after which one is prepared anew: more than two searches take
TIMELESS = ("ROLLBACK", "END", "PRAGMA synchronous = FULL")  # put things back, however late

_MEANING: tuple[tuple[tuple[type[apsw.Error], ...], type[KnowbaseError], str, str], ...] = (
    (
        (apsw.BusyError, apsw.LockedError),
        BaseLocked,
        "another process is writing to the base",
        "try again when it is done, or raise store.busy_timeout",
    ),
    (
        (apsw.NotADBError,),
        NotABase,
        "this file is not a knowbase base",
        "choose another --base; if it was one, kb repair saves what is left of it",
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
    ((apsw.ConnectionClosedError,), BaseError, "the base is closed", "open it again"),
    ((apsw.InterruptError,), TookTooLong, "this took too long", "ask for less at once"),
)


class _Translation:
    """Driver errors as knowbase errors; the original stays as the cause, for the log."""

    def __enter__(self) -> None:
        """Nothing to begin: a search comes here thirty times."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, apsw.Error | UnicodeDecodeError):
            raise _meant_by(error) from error


_TRANSLATION = _Translation()


def translated() -> _Translation:
    """Within it, driver errors become knowbase errors."""
    return _TRANSLATION


def _meant_by(error: Exception) -> KnowbaseError:
    if is_damage(error):
        return damaged()
    if isinstance(error, apsw.BusyError) and deadline.is_over():
        return TookTooLong("another process was writing all the time")
    for drivers, ours, message, hint in _MEANING:
        if isinstance(error, drivers):
            return ours(message, hint=hint)
    return BaseError("the database refused the operation")


class _Connection(apsw.Connection):
    """Binds text as every store has it, wherever it comes from; begins no statement that
    nobody waits for."""

    def execute(self, statements: str, bindings: Any = None, **more: Any) -> apsw.Cursor:
        if statements not in TIMELESS:
            deadline.check()
        return super().execute(statements, storable(bindings), **more)

    def executemany(self, statements: str, sequenceofbindings: Any, **more: Any) -> apsw.Cursor:
        return super().executemany(statements, storable_rows([*sequenceofbindings]), **more)


class BaseFile:
    """The file that the connections of all threads are open on."""

    def __init__(self, path: str, check: Callable[[apsw.Connection], None]) -> None:
        self.path = path
        # Weak: a thread that ends takes its connection along.
        self.opened: WeakSet[apsw.Connection] = WeakSet()
        self.journal = Journal(path)
        self._check = check  # whether it is a base at all
        self._mark: Mark | None = None
        self._journal: Mark | None = None
        self._lock = threading.Lock()

    def connect(
        self, turns: Turns, former: apsw.Connection | None = None
    ) -> tuple[apsw.Connection, Mark | None]:
        """A connection to the file that is there now, and which one that is."""
        with self._lock:
            mark = mark_of(self.path)
            if mark is not None and self._mark not in (None, mark):
                self._leave(former)
            seen = self.journal.seen()  # first: what is seen was written before
            connection = _connect(self.path, turns)
            self._check(connection)
            self.journal.compare(connection, seen)
            self._mark, self._journal = mark, mark_of(self.path + "-wal")
            self.opened.add(connection)
        return connection, mark

    def _leave(self, former: apsw.Connection | None) -> None:
        """Take the journal of a replaced file away: SQLite knows it by its name alone, and
        would read it as the new file's. What it holds goes where it belongs first."""
        if self._journal is None or mark_of(self.path + "-wal") != self._journal:
            return
        with suppress(apsw.Error):
            if former is not None:
                former.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        for end in ("-wal", "-shm"):
            with suppress(OSError):
                os.remove(self.path + end)

    def close(self) -> None:
        """Close the connections of all threads; the last one to close empties the journal."""
        for connection in list(self.opened):
            with suppress(apsw.Error):  # the disk fails: what was committed stays in the journal
                connection.close()
        self.journal.closed()


class Found:
    """What was looked for last, by a key: of the state that the base is in."""

    def __init__(self, state: Callable[[], object]) -> None:
        self._state = state
        self._of: object = None
        self._values: dict[object, Any] = {}
        self.before: dict[object, Any] = {}  # of any state, for who can say what of it still holds

    def get(self, key: object) -> Any:
        """What was kept for a key, as long as nobody has written; else None."""
        state = self._state()
        if self._of != state:
            self._of, self._values = state, {}
        if key in self._values:
            self._values[key] = self._values.pop(key)  # the last one
        return self._values.get(key)

    def keep(self, key: object, value: Any) -> Any:
        """Keep what was found in the state that it was asked for in: in the same transaction."""
        self._values[key] = value
        if len(self._values) > MOST_KEPT:
            del self._values[next(iter(self._values))]
        return value


class Connections(threading.local):
    """The connection of the current thread to one file, opened when first used, and again
    when another file has taken its place: what is written to the old one would be lost."""

    def __init__(self, file: BaseFile, busy_timeout: float) -> None:
        self._file = file
        self._turns = Turns(busy_timeout)
        self._connection, self._mark = file.connect(self._turns)
        self._mapped = 0  # bytes of the file that are read through a mapping
        self._is_closed = False  # it could not be rolled back
        self._is_reading = False  # in a transaction that only reads …
        self._read_state: tuple[object, ...] | None = None  # … and of which state, once it is known
        self.found = Found(self.state)
        self.words: tuple[object, object, Any] | None = None  # state, index, and what it is then

    @property
    def path(self) -> str:
        return self._file.path

    def state(self) -> tuple[object, ...]:
        """Another one when anybody has written since; within a search it is asked for once."""
        if self._read_state is not None:
            return self._read_state
        connection = self.get()
        state = connection, connection.pragma("data_version"), connection.total_changes()
        if self._is_reading:
            self._read_state = state
        return state

    def get(self) -> apsw.Connection:
        """The connection; within a transaction it stays the same, whatever is on the disk."""
        if self._is_reading and not self._mapped:
            return self._connection
        mark, size = _mark_and_size(self._file.path)
        if self._mapped > size:
            self._unmap()
        if self._is_closed:
            self._connection, self._mark = self._file.connect(self._turns)
            self._is_closed, self._mapped = False, 0
        if mark != self._mark and not self._connection.in_transaction:
            former, self._mapped = self._connection, 0
            self._connection, self._mark = self._file.connect(self._turns, former)
            former.close()
        return self._connection

    def map_file(self) -> None:
        """Read this file through a mapping: where single pages are wanted here and there, that
        takes a fifth of the time. Only where a file that is removed can stay mapped."""
        self._map(self.get())

    def _map(self, connection: apsw.Connection) -> None:
        if os.name == "posix" and not self._mapped and self._mark is not None:
            self._mapped = os.path.getsize(self._file.path)
            connection.pragma("mmap_size", self._mapped)

    def _unmap(self) -> None:
        """Not all that is mapped is still there: to read behind the end of a file that somebody
        has cut off would end the process, where SQLite reports damage."""
        self._mapped = 0
        with suppress(apsw.Error):
            self._connection.pragma("mmap_size", 0)

    def _is_in_place(self) -> bool:
        return mark_of(self._file.path) == self._mark

    def beside(self) -> apsw.Connection:
        """Another connection to the same file; whoever asks for it closes it."""
        connection, _ = self._file.connect(self._turns)
        return connection

    def mark(self) -> Mark | None:
        """Which file it is, under any name."""
        self.get()
        return self._mark

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One state for all that is read within, until something is written."""
        with translated():
            connection = self.get()
            is_first = not connection.in_transaction
            if is_first:
                connection.execute("BEGIN")
                self._is_reading = True
        try:
            yield
        finally:
            if is_first:
                self._end_reading()

    def _end_reading(self) -> None:
        if self._is_reading:
            self._is_reading, self._read_state = False, None
            with suppress(apsw.Error):  # it was closed meanwhile
                if self._connection.in_transaction:
                    self._connection.execute("END")  # tables of this connection alone stay

    @contextmanager
    def writing(self, *, wait: bool = True, sync: bool = True) -> Iterator[apsw.Connection]:
        """One transaction that holds the write lock from its start, and is on the disk at its
        end; if told, the lock is not waited for, or the disk not, where it can be done again."""
        self._end_reading()
        connection = self.get()
        if wait:
            self._turns.before_writing()
        try:
            if not sync:
                connection.execute("PRAGMA synchronous = NORMAL")
            else:
                _use_journal(connection)
            connection.set_busy_handler(self._turns if wait else None)
            connection.execute("BEGIN IMMEDIATE")
            connection.set_busy_handler(self._turns)
            before = connection.total_changes()
            yield connection
            if not self._is_in_place():
                raise BaseMissing(
                    "the base was removed or replaced while it was written", hint="try again"
                )
            counts = sync and connection.total_changes() != before
            generation = self._file.journal.next_generation(connection) if counts else None
            connection.execute("COMMIT")
        except BaseException:
            self._roll_back(connection)
            raise
        finally:
            self._turns.after_writing()
            if not self._is_closed:
                connection.set_busy_handler(self._turns)
                if not sync:
                    connection.execute("PRAGMA synchronous = FULL")
        if generation is not None:
            self._file.journal.note(generation)

    def _roll_back(self, connection: apsw.Connection) -> None:
        """Give the lock back, whatever happens: without memory, only closing does. What was found
        meanwhile is gone, and no number of changes says so."""
        self.found = Found(self.state)
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except (apsw.Error, MemoryError):
            connection.close(True)
            self._is_closed = True

    @property
    def journal(self) -> Journal:
        return self._file.journal

    def close(self) -> None:
        """Close the connections of all threads."""
        self._file.close()


def _use_journal(connection: apsw.Connection) -> None:
    """A backup that is written to is a base from then on: no backup any more takes its place,
    and readers do not stand in the way of writers."""
    if connection.execute("PRAGMA journal_mode").get == "delete":
        with suppress(apsw.BusyError):  # others have it open: with a later one
            connection.execute("PRAGMA journal_mode = WAL").fetchall()


def mark_of(path: str) -> Mark | None:
    """What tells a file from any other one, whatever its name; None when there is none."""
    return _mark_and_size(path)[0]


def _mark_and_size(path: str) -> tuple[Mark | None, int]:
    try:
        found = os.stat(path)
    except OSError:
        return None, 0
    return (found.st_dev, found.st_ino), found.st_size


class Connected:
    """What every part of the store reads with."""

    _connections: Connections

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translated():
            return self._connections.get().execute(sql, values).fetchall()

    def _kept(self, key: object, read: Callable[[], T]) -> T:
        """What was read before, until somebody writes; nothing is read again."""
        kept = self._connections.found
        found: T | None = kept.get(key)
        return kept.keep(key, read()) if found is None else found

    def _chunks_there(self) -> int:
        return self._kept("chunks", lambda: int(self._read("SELECT count(*) FROM chunks")[0][0]))

    def _model_id(self, connection: apsw.Connection, model: "Model | None" = None) -> int | None:
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

    return json.dumps(storable(list(values)))


def _connect(path: str, turns: Turns) -> apsw.Connection:
    if not os.path.exists(path):
        raise BaseMissing("there is no base here", hint="make one with: kb init")
    connection = _opened(os.path.abspath(path))
    connection.set_busy_handler(turns)
    register(connection)
    connection.create_scalar_function("path_matches", _path_matches, 2, deterministic=True)
    connection.set_progress_handler(deadline.is_over, LOOK_EVERY)
    # What is committed is on the disk itself; on macOS, that takes a call of its own.
    connection.execute(
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;"
        "PRAGMA checkpoint_fullfsync = ON"
    )
    return connection


def _path_matches(*values: Any) -> bool:
    """SQLite has no regular expressions of its own."""
    return matcher(values[0])(values[1])


def _opened(path: str) -> apsw.Connection:
    """A base in a folder that cannot be written is still readable."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    uri = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if os.access(path, os.W_OK) and os.access(os.path.dirname(path), os.W_OK):
        return _Connection(uri, flags, statementcachesize=STATEMENTS)
    try:
        connection = _Connection(uri + "?mode=ro", flags, statementcachesize=STATEMENTS)
        connection.execute("PRAGMA schema_version")
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        # Without a writer there is no shared memory to join, and none can be made.
        return _Connection(uri + "?immutable=1", flags, statementcachesize=STATEMENTS)
    return connection
