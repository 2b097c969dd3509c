"""What a failure of PostgreSQL means to a caller, by its SQLSTATE."""

import re
from typing import NamedTuple

import psycopg
from psycopg_pool import PoolTimeout

from knowbase.errors import (
    BaseBusy,
    BaseDamaged,
    BaseError,
    BaseLocked,
    BaseReadOnly,
    BaseUnreachable,
    DiskFull,
    KnowbaseError,
    TookTooLong,
)


class Failure(NamedTuple):
    """An error of ours; nothing of the server or the SQL is in it."""

    error: type[KnowbaseError]
    message: str
    hint: str
    passes: bool = False  # so that trying again may help

    def raised(self) -> KnowbaseError:
        return self.error(self.message, hint=self.hint)


LOCKED = Failure(
    BaseLocked,
    "another process is writing to the base, or has locked it",
    "try again when it is done, or raise store.busy_timeout",
)
TOO_LONG = Failure(
    TookTooLong,
    "the database took too long",
    "ask for less at once, or raise store.statement_timeout",
)
IDLE = Failure(
    TookTooLong,
    "the database server ended a transaction that took too long",
    "raise idle_in_transaction_session_timeout, or transaction_timeout, of this role",
)
NO_CONNECTION_LEFT = Failure(
    BaseBusy,
    "the database server takes no further connections",
    "try again when others are done, or raise its connection limit",
    passes=True,
)
ALL_IN_USE = Failure(
    BaseBusy,
    "this program uses all the connections that it may have",
    "ask for less at the same time",
)
STOPPING = Failure(
    BaseUnreachable,
    "the database server is stopping or starting",
    "try again when it runs",
    passes=True,
)
UNREACHABLE = Failure(
    BaseUnreachable,
    "the database cannot be reached",
    "check that the server runs, and host and port in the URL",
)
WORKER_AWAY = Failure(
    BaseUnreachable,
    "a worker of the database cluster does not answer",
    "kb status says which; kb search --partial answers without its part",
    passes=True,
)
WRONG_LOGIN = Failure(
    BaseUnreachable,
    "the database server does not let this user in",
    "check user and password in the URL, in ~/.pgpass or in PGPASSWORD",
)
NO_DATABASE = Failure(
    BaseUnreachable,
    "the server has no such database",
    "make it with createdb, or check its name in the URL",
)
NO_RIGHTS = Failure(
    BaseReadOnly,
    "this user may not do that in the database",
    "grant it the rights on the base's schema: kb init --print-sql has them",
)
NO_SCHEMA = Failure(
    BaseReadOnly,
    "this user may not do that: it has no right to look into, or to add to, the schema of the base",
    "GRANT USAGE ON SCHEMA … TO it; what a base lacks is made by the owner's kb init",
)
NO_TABLE = Failure(
    BaseReadOnly,
    "this user may not do that: it has no right to read, or to change, what the base holds",
    "GRANT SELECT, to write also INSERT, UPDATE, DELETE, ON ALL TABLES IN SCHEMA … TO it;"
    " kb init --print-sql has it in full",
)
NO_NEW_SCHEMA = Failure(
    BaseReadOnly,
    "this user may not do that: it has no right to make the schema of the base in this database",
    "let an administrator run what kb init --print-sql prints, or GRANT CREATE ON DATABASE … TO it",
)
NOT_OWNER = Failure(
    BaseReadOnly,
    "this user may not do that: only the owner of the base's tables may change or upgrade them",
    "let the user who made the base run kb init once more",
)
WRONG_TLS = Failure(
    BaseUnreachable,
    "the database server's TLS is not what the URL asks for",
    "check sslmode and sslrootcert in the URL, and the server's certificate",
)
WRONG_POOLING = Failure(
    BaseUnreachable,
    "the pooler before the database allows no transactions",
    "set its pool_mode to transaction, or to session",
)
POOLER_REFUSES = Failure(
    BaseUnreachable,
    "the pooler before the database does not take the options in the URL",
    "leave them out, or name them in its ignore_startup_parameters",
)
READ_ONLY = Failure(
    BaseReadOnly,
    "the database can only be read: it is a replica, or set so",
    "name the primary server in the URL to write",
)
FULL = Failure(
    DiskFull,
    "the base could not be written: the server's disk is full",
    "free some space; what was stored before is safe",
)
NO_MEMORY = Failure(
    BaseError, "the database server ran out of memory", "ask for less at once, or give it more"
)
ENCODING = Failure(
    BaseError,
    "the database cannot hold these characters",
    "use a database with the encoding UTF8",
)
DAMAGED = Failure(
    BaseDamaged,
    "the base is damaged",
    "kb check says where, then kb repair saves what can be saved",
)
REFUSED = Failure(BaseError, "the database refused the operation", "the log has the reason")

_BY_STATE = {
    "55P03": LOCKED,
    "40P01": LOCKED,  # a deadlock
    "40001": LOCKED,  # not in one order with others
    "57014": TOO_LONG,
    "25P03": IDLE,
    "25P04": IDLE,
    "53300": NO_CONNECTION_LEFT,
    "53100": FULL,
    "53200": NO_MEMORY,
    "57P01": STOPPING,
    "57P02": STOPPING,
    "57P03": STOPPING,
    "57P04": NO_DATABASE,
    "3D000": NO_DATABASE,
    "28P01": WRONG_LOGIN,
    "28000": WRONG_LOGIN,
    "25006": READ_ONLY,
    "22021": ENCODING,
    "22P05": ENCODING,
    "XX001": DAMAGED,
    "XX002": DAMAGED,
}

_RIGHTS = (
    (r"denied for schema", NO_SCHEMA),
    (r"denied for database", NO_NEW_SCHEMA),
    (r"must be owner", NOT_OWNER),
    (r"denied for (table|relation|sequence|view)", NO_TABLE),
)
"""Which right is missing only the server's words say."""

_LOST_WORKER = r"remote node|connection marked as essential|failed to (complete )?COPY (on|to) "
_ENDING_WORKER = r"terminating connection|the database system is "
"""What a server says as it ends, handed on by the coordinator without its state."""
_CLOSED = r"server closed|SSL |(receive data from|send data to|connection to the) server"
"""What libpq says of a connection that ends, which the coordinator hands on as it is."""
_FULL_WORKER = r"No space left on device|wrote only \d+ of \d+ bytes"
"""What a worker says goes through the coordinator without its state."""

# Whoever is not let in gets no SQLSTATE from libpq, only the server's words.
_BY_WORDS = (
    (
        r"too many clients|too many connections|connection slots are reserved"
        r"|no more connections allowed",
        NO_CONNECTION_LEFT,
    ),
    (r"database system is|not (yet|currently) accepting connections", STOPPING),
    (
        r"authentication failed|no password supplied|pg_hba\.conf"
        r"|role .* does not exist|not permitted to log in",
        WRONG_LOGIN,
    ),
    (r"database .* does not exist", NO_DATABASE),
    (r"permission denied for database", NO_RIGHTS),
    (r"transaction blocks not allowed", WRONG_POOLING),
    (r"unsupported startup parameter", POOLER_REFUSES),
    (r"does not support SSL|sslmode|certificate|SSL error|root\.crt", WRONG_TLS),
)


def failure_of(error: Exception) -> Failure:
    """What is to be said of a driver's error."""
    state = getattr(error, "sqlstate", None)
    if is_of_worker(error):
        return WORKER_AWAY
    if state == "42501":
        return _by_words(error, _RIGHTS, NO_RIGHTS)
    if state == "XX000" and re.search(_FULL_WORKER, str(error)):
        return FULL
    if state in _BY_STATE:
        return _BY_STATE[state]
    if isinstance(error, psycopg.OperationalError | PoolTimeout):
        return _by_words(error, _BY_WORDS, UNREACHABLE)
    return REFUSED


def _by_words(
    error: Exception, table: tuple[tuple[str, Failure], ...], otherwise: Failure
) -> Failure:
    words = str(error)
    return next((one for pattern, one in table if re.search(pattern, words)), otherwise)


def is_of_worker(error: Exception) -> bool:
    """A coordinator of Citus could not reach one of its workers, or lost it in the middle."""
    if not isinstance(error, psycopg.Error) or error.sqlstate is None:
        return False
    words = str(error)
    if re.search(_LOST_WORKER, words):
        return True
    if error.sqlstate == "XX000" and re.search(_ENDING_WORKER, words):
        return True
    is_lost = error.sqlstate.startswith(("57P", "08")) or re.search(_CLOSED, words)
    return bool(is_lost) and re.search(r"on \S+:\d+", error.diag.context or "") is not None


def was_dropped(error: psycopg.Error) -> bool:
    """A broken connection, or a server that is shutting down; not a lock that was not given."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(("57P", "08"))
