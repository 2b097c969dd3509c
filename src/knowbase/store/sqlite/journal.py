"""Whether a base has lost its journal: the file `-wal`, which holds what is not in the base's
own file yet, and which somebody may have deleted after a crash.

Every transaction that its writer waits for counts the base's generation on. Beside the base, in
`-seen`, stands the last one that was committed, and how the base's own file looked then. That
file untouched, and yet an earlier generation in it: then it was the journal that held the rest.
"""

import os
from contextlib import suppress
from typing import NamedTuple

import apsw

from knowbase.logs import log

SEEN = "-seen"


class Seen(NamedTuple):
    """A generation that was committed, and how large and how old the base's file was then."""

    generation: int
    size: int
    mtime_ns: int


class Journal:
    """The journal of the base at `path`."""

    def __init__(self, path: str) -> None:
        self._path = os.path.realpath(path)  # as SQLite names its journal
        self._is_lost = False  # and the base could not be told

    def seen(self) -> Seen | None:
        """None when nothing legible is noted: mostly, because the base was closed."""
        try:
            with open(self._path + SEEN, "rb") as file:
                generation, size, mtime_ns = file.read(100).split()
            return Seen(int(generation), int(size), int(mtime_ns))
        except (OSError, ValueError):
            return None

    def compare(self, connection: apsw.Connection, seen: Seen | None) -> None:
        """Write down in the base that a part of it is missing, when that is so."""
        if seen is None or _generation(connection) >= seen.generation:
            return
        if self._look(seen.generation) != seen:
            return  # another file in its place, such as an older copy
        log("warning", "the base's journal was deleted, and with it what was written last")
        self._is_lost = True
        with suppress(apsw.Error):  # it cannot be written now: whoever comes next notices, too
            sql = "UPDATE journal SET lost = 1, generation = max(generation, ?)"
            connection.execute(sql, (seen.generation,))
            self._is_lost = False
            self.note(seen.generation)

    def next_generation(self, connection: apsw.Connection) -> int:
        """Within a transaction: the number of what it commits."""
        connection.execute("UPDATE journal SET generation = generation + 1")
        return _generation(connection)

    def note(self, generation: int) -> None:
        """What is committed, and on the disk: a note that is never ahead of the base."""
        seen = self._look(generation)
        if seen is None:
            return
        with suppress(OSError):
            descriptor = os.open(self._path + SEEN, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, b"%020d %020d %020d\n" % seen)
            finally:
                os.close(descriptor)

    def closed(self) -> None:
        """Without a journal there is nothing to lose, and nothing to note."""
        if not self._is_lost and not os.path.exists(self._path + "-wal"):
            with suppress(OSError):
                os.remove(self._path + SEEN)

    def is_lost(self, connection: apsw.Connection) -> bool:
        return self._is_lost or bool(connection.execute("SELECT lost FROM journal").get)

    def restored(self, connection: apsw.Connection) -> None:
        """What could be put right has been."""
        connection.execute("UPDATE journal SET lost = 0")
        self._is_lost = False

    def _look(self, generation: int) -> Seen | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return Seen(generation, found.st_size, found.st_mtime_ns)


def _generation(connection: apsw.Connection) -> int:
    found: int = connection.execute("SELECT generation FROM journal").get
    return found
