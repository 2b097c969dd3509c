"""Taking turns with the one write lock that a SQLite file has.

SQLite has no queue for it: whoever looks when it is free gets it. A writer that has just let go is
the first to look again, so that beside a busy one another could wait for as long as that one had
something to write. So a writer that goes on at once pauses first, if others are there or might be,
for longer than they sleep; and the longer somebody has waited, the more often they look.
"""

import time

from knowbase import deadline

PAUSE = 0.010  # seconds; longer than those who wait sleep
_LONGEST_RUN = 0.2  # seconds of one transaction after the other, until others may be there unseen
_LEAST = 0.004  # seconds of sleep: who looks all the time takes the processor from the writer


class Turns:
    """Of one connection; as its busy handler, it waits for another's lock."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds  # that it waits at most
        self._asked = 0.0
        self._had_to_wait = False
        self._run_began = 0.0
        self._ended = 0.0

    def __call__(self, tries: int) -> bool:
        now = time.monotonic_ns()
        if tries == 0:
            self._asked = now / 1e9
            self._had_to_wait = True
        waited = now / 1e9 - self._asked
        if waited >= self._seconds or deadline.is_over():
            return False
        # SQLite's own way looks ten times a second; not all look at the same moment.
        time.sleep(max(_LEAST, (1 + now % 8) / 1000 / (1 + waited)))
        return True

    def before_writing(self) -> None:
        """Leave the lock to others, if this goes on at once."""
        now = time.monotonic()
        idle = now - self._ended
        if idle >= PAUSE:
            self._run_began = now
        elif self._had_to_wait or now - self._run_began > _LONGEST_RUN:
            time.sleep(PAUSE - idle)
            self._run_began = time.monotonic()
        self._had_to_wait = False

    def after_writing(self) -> None:
        self._ended = time.monotonic()
