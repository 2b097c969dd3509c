"""PostgreSQL connections: a pool, one retry on a dropped one, every driver error made ours."""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self, TypeAlias, TypeVar

import psycopg
from psycopg import Connection, Cursor, sql
from psycopg.adapt import Dumper
from psycopg.types.string import StrDumperUnknown
from psycopg_pool import ConnectionPool, PoolTimeout

from knowbase import deadline
from knowbase.errors import InvalidInput, VectorsUnavailable
from knowbase.logs import log
from knowbase.store import partial
from knowbase.store.postgres.bulk import array
from knowbase.store.postgres.cancelling import Canceller
from knowbase.store.postgres.cluster import ONE_BY_ONE, BaseConnection
from knowbase.store.postgres.failures import (
    ALL_IN_USE,
    failure_of,
    is_of_worker,
    was_dropped,
)
from knowbase.values.characters import clean
from knowbase.values.replicas import ReplicaState
from knowbase.values.vectors import Model

Result = TypeVar("Result")
FIRST_TIMEOUT = 5  # seconds
PREPARED_AFTER = 5  # times that a statement was sent
CONNECT_TIMEOUT = 10
POOL_TIMEOUT = 10.0
STATEMENT_TIMEOUT = 60.0
PORTS = 65536
ENCODING = "UTF8"  # whatever a role has set
LEAST_PGVECTOR = (0, 5)  # the first with HNSW
INSTALL = "install pgvector 0.5 or newer on the server, then: CREATE EXTENSION vector"
ONE_STATE = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
NO_HURRY = "SET LOCAL idle_in_transaction_session_timeout = 0"
SCHEMA = "knowbase"
Query: TypeAlias = sql.SQL | sql.Composed

for _name in ("knowbase", "psycopg"):
    # Where nobody has set up logging, Python would print it, hosts and tracebacks included.
    logging.getLogger(_name).addHandler(logging.NullHandler())


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors as knowbase errors: nothing of the server or the SQL reaches a caller."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        log("error", "database error", kind=type(error).__name__, reason=str(error), exc_info=error)
        raise failure_of(error).raised() from error


class Timeouts(NamedTuple):
    """How many seconds a lock is waited for, and a statement that reads; and where tables are."""

    lock: float
    statement: float = STATEMENT_TIMEOUT
    schema: str = SCHEMA

    def of_reading(self) -> str:
        return _limits(self.schema, _milliseconds(self.lock), int(self.statement * 1000))

    def of_long_work(self, *, wait: bool = True) -> str:
        """Writing, building an index, copying: as long as it takes."""
        return _limits(self.schema, _milliseconds(self.lock) if wait else 1, 0)


def _limits(schema: str, lock: int, statement: int) -> str:
    """One statement that says what holds for its transaction: where tables are, and time-outs.
    The schema's name is one of those that `place.py` lets through."""
    names = {"search_path": f'"{schema}", public'}
    timeouts = {"lock_timeout": lock, "statement_timeout": statement}
    settings = {**names, **timeouts, "standard_conforming_strings": "on"}
    return "SELECT " + ", ".join(f"set_config('{k}', '{v}', true)" for k, v in settings.items())


def _milliseconds(seconds: float) -> int:
    """To PostgreSQL, 0 is for ever."""
    return max(1, int(seconds * 1000))


class Connections:
    """The pool of one base.

    A pooler such as PgBouncer may lend each transaction another connection of the server. So
    nothing is set or prepared for a session: every work is a transaction, and begins by saying
    what holds for it, in one round trip.
    """

    is_distributed = False  # over the workers of a cluster

    def __init__(self, url: str, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._canceller = Canceller()
        self.url = url
        _parsed(url)
        _try(url, timeouts.lock)
        self._pool = new_pool(url, CONNECT_TIMEOUT)
        self._pool.open()

    def close(self) -> None:
        self._canceller.close()
        self._pool.close()

    def read(self, query: Query, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """One statement, in the round trip that begins and ends its transaction."""

        def piped(connection: Connection) -> list[tuple[Any, ...]]:
            with connection.pipeline():
                connection.execute("BEGIN")
                connection.execute(sql.SQL(self._timeouts.of_reading()))
                found = connection.execute(query, values)
                connection.execute("COMMIT")
                return found.fetchall()

        return self._tried(piped)

    def consistently(self, work: Callable[[Connection], Result], *, long: bool = False) -> Result:
        """Several reads of one state of the base; long ones may take as long as they need."""
        limits = self._timeouts.of_long_work() if long else self._timeouts.of_reading()
        return self._transaction(work, f"{ONE_STATE}; {limits}")

    def beginning_to_read(self) -> str:
        """How a transaction begins that sees one state for as long as it takes, and may keep
        something aside."""
        return f"BEGIN ISOLATION LEVEL REPEATABLE READ; {self._timeouts.of_reading()}; {NO_HURRY}"

    def writing(self, work: Callable[[Connection], Result], *, wait: bool = True) -> Result:
        """One transaction; a lock of another is waited for, unless told not to."""
        one_by_one = f"; {ONE_BY_ONE}" if self.is_distributed else ""
        limits = self._timeouts.of_long_work(wait=wait)
        return self._transaction(work, f"BEGIN; {limits}{one_by_one}")

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """One transaction with the time-outs of reading; each statement sees what is there."""
        return self._transaction(work, f"BEGIN; {self._timeouts.of_reading()}")

    def _transaction(self, work: Callable[[Connection], Result], begin: str) -> Result:
        def begun(connection: Connection) -> Result:
            connection.execute(sql.SQL(begin))
            return work(connection)

        return self._tried(begun)

    def _tried(self, work: Callable[[Connection], Result]) -> Result:
        """Do the work on a connection; once more on a fresh one when that had been dropped."""
        with translated():
            try:
                with self._connection() as connection:
                    return work(connection)
            except psycopg.Error as error:
                if is_of_worker(error):
                    return self._without_it(work, error)
                if isinstance(error, PoolTimeout) or not was_dropped(error):
                    raise
                self._pool.check()
                with self._connection() as connection:
                    return work(connection)

    def _without_it(self, work: Callable[[Connection], Result], error: psycopg.Error) -> Result:
        """Once more without the worker that is away, where an answer may be partial."""
        part = partial.current()
        if part is None:
            raise error
        with self._connection(is_partial=True) as connection:
            found = work(connection)
        part.is_partial = True
        return found

    @contextmanager
    def _connection(self, *, is_partial: bool = False) -> Iterator[Connection]:
        connection = self._taken()
        connection.is_distributed = self.is_distributed
        connection.is_partial = is_partial
        try:
            with connection, self._canceller.watching(connection):
                yield connection
        finally:
            self._pool.putconn(connection)

    def _taken(self) -> BaseConnection:
        """A connection of the pool, which is to be put back."""
        deadline.check()
        left = deadline.seconds_left()
        try:
            return self._pool.getconn(POOL_TIMEOUT if left is None else min(left, POOL_TIMEOUT))
        except PoolTimeout as error:
            deadline.check()
            _try(self.url, 0.0)  # which says why there is none
            raise ALL_IN_USE.raised() from error

    def replicas(self) -> list[ReplicaState]:
        return []

    @contextmanager
    def beside(self) -> Iterator[Connection]:
        """One state of the base for as long as it takes; nothing is tried again."""
        with translated():
            connection = self._taken()
        connection.is_distributed = self.is_distributed
        try:
            with translated(), connection:
                limits = self._timeouts.of_long_work()
                connection.execute(sql.SQL(f"{ONE_STATE}; {limits}; {NO_HURRY}"))
                yield connection
        finally:
            self._pool.putconn(connection)


def new_pool(url: str, connect_timeout: int) -> "ConnectionPool[BaseConnection]":
    """A pool that is not open yet."""
    return ConnectionPool(
        url,
        connection_class=BaseConnection,
        min_size=0,
        max_size=16,
        open=False,
        timeout=POOL_TIMEOUT,
        kwargs={
            "autocommit": True,
            "cursor_factory": _Cursor,
            "connect_timeout": connect_timeout,
            "client_encoding": ENCODING,
            "prepare_threshold": None,  # off, until it is known who answers
        },
        configure=_configure,
    )


class Connected:
    """What every part of the store reads with."""

    _connections: Connections
    _base: int
    _vectors_known: tuple[int, ...]

    def _read(self, query: Query, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._connections.read(query, values)

    def _model(self, model: Model | None = None) -> tuple[int, Model] | None:
        """The model, or the active one, with its number."""
        return self._connections.run(lambda connection: find_model(connection, self._base, model))

    def _check_vectors(self) -> None:
        """Refuse to work with vectors that the database cannot hold."""
        if self._vectors_known < LEAST_PGVECTOR:
            raise VectorsUnavailable("the database cannot hold vectors", hint=INSTALL)


def find_model(
    connection: Connection, base: int, model: Model | None = None
) -> tuple[int, Model] | None:
    """The model, or the active one, with its number."""
    where = "name = %s AND revision = %s AND dimensions = %s" if model else "active"
    row = connection.execute(
        sql.SQL(
            f"SELECT id, name, revision, dimensions FROM models WHERE base_id = %s AND {where}"
        ),
        (base, *(model or ())),
    ).fetchone()
    return (row[0], Model(*row[1:])) if row else None


def _parsed(url: str) -> dict[str, Any]:
    try:
        given = psycopg.conninfo.conninfo_to_dict(url)
        ports = str(given.get("port") or "").split(",")
        int(given.get("connect_timeout") or 0)
        if not all(port == "" or 0 < int(port) < PORTS for port in ports):
            raise ValueError("no port")
    except (psycopg.ProgrammingError, ValueError) as error:
        raise InvalidInput(
            "this is not a PostgreSQL URL", field="base", hint="postgresql://user@host/database"
        ) from error
    return dict(given)


def _try(url: str, seconds: float) -> None:
    """Connect once: a pool would try again and again where nobody listens. Only where it may
    pass, as with a server that has no connection left, it is tried again for some seconds."""
    timeout = int(_parsed(url).get("connect_timeout") or FIRST_TIMEOUT)
    ends = time.monotonic() + seconds
    with translated():
        while True:
            try:
                return psycopg.connect(url, connect_timeout=timeout).close()
            except psycopg.OperationalError as error:
                if not failure_of(error).passes or time.monotonic() >= ends or deadline.is_over():
                    raise
            time.sleep(0.1)


class _Cursor(Cursor[tuple[Any, ...]]):
    """Between its statements, too, it stops when nobody waits any longer."""

    def execute(self, *arguments: Any, **named: Any) -> Self:
        deadline.check()
        return super().execute(*arguments, **named)

    def executemany(self, query: Any, params_seq: Iterable[Any], **named: Any) -> None:
        super().executemany(query, map(_still_wanted, params_seq), **named)


def _still_wanted(line: Result) -> Result:
    deadline.check()
    return line


class _Text(StrDumperUnknown):
    """Text without what PostgreSQL cannot hold, wherever it comes from."""

    def dump(self, obj: str) -> Any:
        return super().dump(clean(obj))


class _List(Dumper):
    """An array, of whatever type it is compared with: the driver looks at each element."""

    def dump(self, obj: list[Any]) -> bytes:
        return clean(array(obj)).encode()


def _configure(connection: Connection) -> None:
    connection.adapters.register_dumper(str, _Text)
    connection.adapters.register_dumper(list, _List)
    if _is_direct(connection):
        connection.prepare_threshold = PREPARED_AFTER


def _is_direct(connection: Connection) -> bool:
    """Whether this is a session of the server's own: a pooler between has numbers of its own, and
    may lend the next transaction a session that does not know what was prepared in this one."""
    try:
        found = connection.execute("SELECT pg_backend_pid()").fetchone()
    except psycopg.errors.QueryCanceled:  # by a time-out of the role's own, before ours hold
        return False
    return found == (connection.info.backend_pid,)
