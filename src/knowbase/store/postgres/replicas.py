"""Replicas of the base's server: what may lag is read there while they are near enough.

How near is known by positions in the server's log, not by clocks: a replica that has replayed what
the primary had written some seconds ago lags by no more than these.
"""

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import psycopg
from psycopg import Connection, errors
from psycopg.sql import SQL

from knowbase import deadline
from knowbase.errors import BaseError, InvalidInput, KnowbaseError
from knowbase.logs import log
from knowbase.store import lagging
from knowbase.store.location import replica_urls, shown
from knowbase.store.postgres.cancelling import Canceller
from knowbase.store.postgres.cluster import BaseConnection
from knowbase.store.postgres.connection import (
    Connections,
    Query,
    Result,
    Timeouts,
    new_pool,
    translated,
)
from knowbase.store.postgres.failures import failure_of, was_dropped
from knowbase.store.postgres.place import place_in
from knowbase.values.replicas import ReplicaState

PATIENCE = 2  # seconds for a replica to take a connection: the primary could have answered
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds that one which failed is left out
BEHIND_PAUSE = 0.02
MARKS = 4  # so many times within the lag, the primary is asked where it is

_SERVER = """SELECT system_identifier, oid, pg_postmaster_start_time(), pg_is_in_recovery()
    FROM pg_control_system(), pg_database WHERE datname = current_database()"""
_PRIMARY = SQL(
    """SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()
    ELSE pg_current_wal_insert_lsn() END - '0/0')::bigint,
    current_setting('wal_block_size')::integer"""
)
_REPLICA = SQL(
    """SELECT (pg_last_wal_replay_lsn() - '0/0')::bigint, pg_is_in_recovery(),
    extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::double precision"""
)
_IS_PRIMARY = BaseError("it is the primary")
_HEADERS = (24, 40)  # bytes before the first record of a page, and of a segment


class Server(NamedTuple):
    """Which server and database answers."""

    system: int
    database: int
    started: Any
    is_replica: bool


class Position(NamedTuple):
    """How far a replica has come."""

    replayed: int
    is_replica: bool
    behind: float | None  # seconds, by the servers' clocks: for people


class Standby(Connections):
    """The pool of one replica. What fails there is asked of the primary: it is tried once, and
    its errors are still the driver's."""

    def __init__(self, url: str, timeouts: Timeouts) -> None:
        self.url = url
        self._timeouts = timeouts
        self._canceller = Canceller()
        psycopg.connect(url, connect_timeout=PATIENCE).close()
        self._pool = new_pool(url, PATIENCE)
        self._pool.open()

    def _tried(self, work: Callable[[Connection], Result]) -> Result:
        with self._connection() as connection:
            return work(connection)

    def _taken(self) -> BaseConnection:
        deadline.check()
        return self._pool.getconn(PATIENCE)


class Replica:
    """One of several, and until when it is left out."""

    def __init__(self, number: int, url: str, timeouts: Timeouts) -> None:
        self.url = url
        self.refusal: InvalidInput | None = None
        self.reason = ""
        self._number = number
        self._timeouts = timeouts
        self._connections: Standby | None = None
        self._connecting = threading.Lock()
        self._was_right = False
        self._asked_again = 0.0
        self._pause = FIRST_PAUSE

    def connections(self, primary: Callable[[], Server]) -> Standby | None:
        """None while it is left out, or another thread is at it. What never was a replica of the
        base is a mistake of whoever named it."""
        if self._connections is None and self._connecting.acquire(blocking=False):
            try:
                if self._connections is None and time.monotonic() >= self._asked_again:
                    self._connections = self._connected(primary())
            finally:
                self._connecting.release()
        if self.refusal is not None and not self._was_right:
            raise self.refusal
        return self._connections

    def _connected(self, primary: Server) -> Standby | None:
        made, self.refusal = None, None
        try:
            made = Standby(self.url, self._timeouts)
            found = made.run(_server)
            self.refusal = self._refused(found, primary)
            if self.refusal is None and found.is_replica:
                self._was_right, self._pause, self.reason = True, FIRST_PAUSE, ""
                return made
            self._put_off(self.refusal or _IS_PRIMARY)
        except psycopg.Error as error:
            self._put_off(error)
        if made is not None:
            made.close()
        return None

    def _refused(self, found: Server, primary: Server) -> InvalidInput | None:
        """Why this is not a replica of the base's database, if it is not."""
        told = None
        if found.system != primary.system:
            told = "is a server of its own, not a replica of the base's"
        elif found.database != primary.database:
            told = "is another database than the base's"
        elif not found.is_replica and found.started != primary.started:
            told = "is not a replica: it takes writes of its own"
        if told is None:
            return None
        hint = "name streaming replicas of the server that KB_BASE names, and the same database"
        return InvalidInput(
            f"replica {self._number} in base.read {told}", field="base.read", hint=hint
        )

    def leave_out(self, connections: Standby, error: psycopg.Error) -> None:
        """Of several threads that notice, the first one does it."""
        with self._connecting:
            if self._connections is not connections:
                return
            self._connections = None
        self._put_off(error)
        connections.close()

    def promoted(self, connections: Standby) -> None:
        """It is a replica no more: whose it is now is looked at anew."""
        self.leave_out(connections, errors.OperationalError("it was promoted"))
        self.try_now()

    def _put_off(self, why: psycopg.Error | KnowbaseError) -> None:
        """Until it is tried again, each time later."""
        log("warning", "a replica is left out", number=self._number, reason=str(why))
        self.reason = (why if isinstance(why, KnowbaseError) else failure_of(why)).message
        self._asked_again = time.monotonic() + self._pause
        self._pause = min(LONGEST_PAUSE, self._pause * 2)

    def try_now(self) -> None:
        self._asked_again = 0.0

    def close(self) -> None:
        if self._connections is not None:
            self._connections.close()


class Replicated(Connections):
    """The primary's pool, and replicas that answer what may lag."""

    def __init__(self, url: str, timeouts: Timeouts, given: Sequence[str], lag: float) -> None:
        super().__init__(url, timeouts)
        urls = [place_in(one).database for one in replica_urls(given)]
        self._replicas = [Replica(i + 1, one, timeouts) for i, one in enumerate(urls)]
        self._turn = random.randrange(len(urls))  # noqa: S311 - so that many processes share them
        self._lag = lag
        self._knowing = threading.Lock()
        self._marks: deque[tuple[float, int]] = deque()
        self._written = 0
        self._known_writes = -1  # what was there before this process began, it sees too
        self._behind: dict[Replica, float] = {}

    def close(self) -> None:
        for one in self._replicas:
            one.close()
        super().close()

    def read(self, query: Query, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._answered(Connections.read, query, values)
        return found

    def consistently(self, work: Callable[[Connection], Result], *, long: bool = False) -> Result:
        found: Result = self._answered(Connections.consistently, work, long=long)
        return found

    def run(self, work: Callable[[Connection], Result]) -> Result:
        found: Result = self._answered(Connections.run, work)
        return found

    def writing(self, work: Callable[[Connection], Result], *, wait: bool = True) -> Result:
        try:
            return super().writing(work, wait=wait)
        finally:  # it may be written although it failed
            lagging.wrote()
            reading = lagging.current()
            if reading is not None:
                reading.places[self] = None

    def _answered(self, ask: Callable[..., Any], *values: Any, **named: Any) -> Any:
        reading = lagging.current()
        if reading is None:
            return ask(self, *values, **named)
        if self not in reading.places:
            reading.places[self] = self._chosen()
        replica, at = reading.places[self] or (None, None)
        if replica is None:
            return ask(self, *values, **named)
        try:
            return ask(at, *values, **named)
        except errors.QueryCanceled:  # the primary would take as long
            with translated():
                raise
        except psycopg.Error as error:
            log("info", "a replica did not answer, the primary does", reason=str(error))
            if isinstance(error, psycopg.OperationalError) and was_dropped(error):
                replica.leave_out(at, error)
            reading.places[self] = None
            return ask(self, *values, **named)

    def _chosen(self) -> tuple[Replica, Standby] | None:
        """The same one as long as it is fit, else the next that is."""
        for _ in self._replicas:
            replica = self._replicas[self._turn % len(self._replicas)]
            connections = replica.connections(self._server)
            if connections is not None and self._is_fit(replica):
                return replica, connections
            self._turn += 1
        return None

    def _is_fit(self, replica: Replica) -> bool:
        if time.monotonic() < self._behind.get(replica, 0.0):
            return False
        needed = self._needed()
        found = self._asked(replica)
        if found is not None and found.replayed < needed:
            self._behind[replica] = time.monotonic() + BEHIND_PAUSE
        return found is not None and found.replayed >= needed

    def _needed(self) -> int:
        """What a replica must have replayed: all that this process wrote, and whatever was
        written before the last seconds that it may lag."""
        with self._knowing:
            now, count = time.monotonic(), lagging.writes()
            while self._marks and self._marks[0][0] < now - self._lag:
                self._marks.popleft()
            is_new = count != self._known_writes
            if is_new or not self._marks or self._marks[-1][0] < now - self._lag / MARKS:
                self._marks.append((now, self._position()))
            if is_new:
                self._written, self._known_writes = self._marks[-1][1], count
            return max(self._written, self._marks[0][1])

    def _position(self) -> int:
        """Where the primary is: the end of the last record, without what begins a new page."""
        position, page = Connections.read(self, _PRIMARY)[0]
        inside = position % page
        return int(position - inside if inside in _HEADERS else position)

    def _server(self) -> Server:
        return Connections.run(self, _server)

    def replicas(self) -> list[ReplicaState]:
        """What there is to say of each now."""
        position = self._position()
        return [self._state(one, position) for one in self._replicas]

    def _state(self, replica: Replica, position: int) -> ReplicaState:
        place = shown(replica.url)
        replica.try_now()
        try:
            found = self._asked(replica)
        except KnowbaseError as error:
            return ReplicaState(place, "refused", None, error.message)
        if found is None:
            state = "away" if replica.refusal is None else "refused"
            return ReplicaState(place, state, None, replica.reason)
        behind = 0.0 if found.replayed >= position else found.behind
        if behind is not None and behind <= self._lag:
            return ReplicaState(place, "used", round(behind, 3))
        reason = f"it lags by more than base.read_lag, {self._lag:g} seconds"
        return ReplicaState(place, "behind", behind and round(behind, 3), reason)

    def _asked(self, replica: Replica) -> Position | None:
        """Where it is; None when it does not say so."""
        connections = replica.connections(self._server)
        if connections is None:
            return None
        try:
            found = Position(*Connections.read(connections, _REPLICA)[0])
        except psycopg.OperationalError as error:
            replica.leave_out(connections, error)
            return None
        if not found.is_replica:
            replica.promoted(connections)
            return None
        return found


def _server(connection: Connection) -> Server:
    return Server(*connection.execute(_SERVER).fetchone() or ())
