"""Ending what the server is at when nobody waits for it any longer.

The server itself would want to be told how long a statement may take before each one; that costs
more than most of them. So the query is cancelled from outside, by one thread for a pool.
"""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import psycopg
from psycopg import Connection

from knowbase import deadline
from knowbase.logs import log

PATIENCE = 5.0  # seconds that a server gets to take note


class _Use:
    """A connection in use, and until when that is waited for."""

    def __init__(self, connection: Connection, ends: float) -> None:
        self.connection = connection
        self.ends = ends
        self.is_cancelled = False


class Canceller:
    """Watches over the connections of a pool."""

    def __init__(self) -> None:
        self._uses: set[_Use] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wakes = inf  # when the thread looks again by itself
        self._is_closed = False

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()

    @contextmanager
    def watching(self, connection: Connection) -> Iterator[None]:
        """Within it, what the connection is at ends with the caller's time."""
        left = deadline.seconds_left()
        if left is None:
            yield
            return
        use = _Use(connection, time.monotonic() + left)
        with self._changed:
            self._uses.add(use)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True)
                self._thread.start()
            if use.ends < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._uses.discard(use)
            if use.is_cancelled:
                connection.close()  # a cancelling that comes late must not meet another's query

    def _watch(self) -> None:
        while not self._is_closed:
            for use in self._due():
                try:
                    use.connection.cancel_safe(timeout=PATIENCE)
                except psycopg.Error as error:
                    log("warning", "a query could not be cancelled", reason=str(error))

    def _due(self) -> list[_Use]:
        """Those whose time is over; waited for."""
        with self._changed:
            while not self._is_closed:
                now = time.monotonic()
                due = [use for use in self._uses if use.ends <= now]
                if due:
                    self._uses.difference_update(due)
                    for use in due:
                        use.is_cancelled = True
                    return due
                self._wakes = min((use.ends for use in self._uses), default=inf)
                self._changed.wait(None if self._wakes == inf else self._wakes - now)
            return []
