"""PostgreSQL connections: a pool, one retry on a dropped one, every driver error made ours."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import psycopg
from psycopg import Connection, errors, sql
from psycopg_pool import ConnectionPool, PoolTimeout

from knowbase.errors import (
    BaseError,
    BaseLocked,
    BaseReadOnly,
    BaseUnreachable,
    DiskFull,
    InvalidInput,
    VectorsUnavailable,
)
from knowbase.logs import log
from knowbase.store.rows import damaged
from knowbase.values.vectors import Model

Result = TypeVar("Result")
FIRST_TIMEOUT = 5  # seconds
PORTS = 65536
LEAST_PGVECTOR = (0, 5)  # the first with HNSW
INSTALL = "install pgvector 0.5 or newer on the server, then: CREATE EXTENSION vector"
Query: TypeAlias = sql.SQL | sql.Composed

for _name in ("knowbase", "psycopg.pool"):
    # Where nobody has set up logging, Python would print it, hosts and tracebacks included.
    logging.getLogger(_name).addHandler(logging.NullHandler())

_MEANING: tuple[tuple[tuple[type[Exception], ...], type[BaseError], str, str], ...] = (
    (
        (errors.LockNotAvailable, errors.DeadlockDetected),
        BaseLocked,
        "another process is writing to the base",
        "try again when it is done, or raise store.busy_timeout",
    ),
    (
        (errors.DiskFull, errors.OutOfMemory),
        DiskFull,
        "the base could not be written: the server's disk is full",
        "free some space; what was stored before is safe",
    ),
    (
        (errors.InsufficientPrivilege, errors.ReadOnlySqlTransaction),
        BaseReadOnly,
        "this user may not do that in the database",
        "grant it the rights on the schema knowbase",
    ),
    (
        (psycopg.OperationalError, PoolTimeout),
        BaseUnreachable,
        "the database cannot be reached",
        "check that the server runs, and user, password and database in the URL",
    ),
)


@contextmanager
def translated() -> Iterator[None]:
    """Driver errors as knowbase errors: nothing of the server or the SQL reaches a caller."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as error:
        for drivers, ours, message, hint in _MEANING:
            if isinstance(error, drivers):
                _log(error)
                raise ours(message, hint=hint) from error
        _log(error)
        if isinstance(error, (errors.DataCorrupted, errors.IndexCorrupted)):
            raise damaged() from error
        raise BaseError("the database refused the operation") from error


def _log(error: Exception) -> None:
    log("error", "database error", kind=type(error).__name__, reason=str(error), exc_info=error)


class Connections:
    """The pool of one base."""

    def __init__(self, url: str, busy_timeout: float) -> None:
        self._busy_timeout = int(busy_timeout * 1000)
        _try(url)
        self._pool = ConnectionPool(
            url,
            min_size=0,
            max_size=16,
            open=False,
            timeout=10,
            kwargs={"autocommit": True, "connect_timeout": 10},
            configure=_configure,
        )
        self._pool.open()

    def close(self) -> None:
        self._pool.close()

    def run(self, work: Callable[[Connection], Result]) -> Result:
        """Do the work on a connection; once more on a fresh one when that had been dropped."""
        with translated():
            try:
                with self._pool.connection() as connection:
                    return work(connection)
            except psycopg.OperationalError as error:
                if isinstance(error, PoolTimeout) or not _was_dropped(error):
                    raise
                self._pool.check()
                with self._pool.connection() as connection:
                    return work(connection)

    def read(self, query: Query, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self.run(lambda connection: connection.execute(query, values).fetchall())

    def consistently(self, work: Callable[[Connection], Result]) -> Result:
        """Several reads of one state of the base."""

        def reading(connection: Connection) -> Result:
            with connection.transaction():
                connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
                return work(connection)

        return self.run(reading)

    @contextmanager
    def beside(self) -> Iterator[Connection]:
        """A connection for work that does not return at once; nothing is tried again on it."""
        with translated():
            connection = self._pool.getconn()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    def writing(self, work: Callable[[Connection], Result], *, wait: bool = True) -> Result:
        """One transaction; a lock of another is waited for, unless told not to."""

        def transaction(connection: Connection) -> Result:
            with connection.transaction():
                timeout = self._busy_timeout if wait else 1
                connection.execute(sql.SQL("SET LOCAL lock_timeout = {}").format(timeout))
                return work(connection)

        return self.run(transaction)


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


def _try(url: str) -> None:
    """Connect once: a pool would try again and again where nobody listens."""
    try:
        given = psycopg.conninfo.conninfo_to_dict(url)
        ports = str(given.get("port") or "").split(",")
        seconds = int(given.get("connect_timeout") or FIRST_TIMEOUT)
        if not all(port == "" or 0 < int(port) < PORTS for port in ports):
            raise ValueError("no port")
    except (psycopg.ProgrammingError, ValueError) as error:
        raise InvalidInput(
            "this is not a PostgreSQL URL", field="base", hint="postgresql://user@host/database"
        ) from error
    with translated():
        psycopg.connect(url, connect_timeout=seconds).close()


def _configure(connection: Connection) -> None:
    connection.execute("SET search_path TO knowbase, public")


def _was_dropped(error: psycopg.OperationalError) -> bool:
    """A broken connection, or a server that is shutting down; not a lock that was not given."""
    return error.sqlstate is None or error.sqlstate.startswith(("57P", "08"))
