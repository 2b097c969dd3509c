"""Bringing an index beside the base in step with it, whatever it is of.

One process at a time does it, and nobody waits for it. What is new is a segment of its own, which
takes in the last ones if they are not much larger: so there are few of them, and each chunk is
written a few times in all. A process that is killed leaves a file that the next one removes.
"""

import os
from abc import ABC, abstractmethod
from contextlib import suppress
from errno import EDQUOT, EFBIG, ENOSPC
from typing import TYPE_CHECKING

from knowbase.errors import BaseReadOnly, DiskFull
from knowbase.logs import log
from knowbase.process.filing import locked
from knowbase.store.sqlite.change_log import DUE, ChangeLog
from knowbase.store.sqlite.connection import Connections
from knowbase.store.sqlite.mapped import Unusable, remove_folder, remove_others

if TYPE_CHECKING:
    import apsw

LARGER = 2  # a segment that is not larger than so many times the new one goes into it


class Renewing(ABC):
    """Keeps one index in step."""

    log: ChangeLog

    def __init__(self, connections: Connections, folder: str, least: int) -> None:
        self._connections = connections
        self._folder = folder
        self._least = least

    @abstractmethod
    def connection(self) -> "apsw.Connection":
        """One that can read what the index is made from."""

    @abstractmethod
    def model(self, connection: "apsw.Connection") -> int | None:
        """What it is an index of; None: there is nothing."""

    @abstractmethod
    def number(self, connection: "apsw.Connection", model: int) -> int:
        """How many chunks it would have; of more than it must have, no more need be counted."""

    @abstractmethod
    def behind(self, connection: "apsw.Connection", model: int) -> int | None:
        """How many of them changed since; None: there is no index of this state."""

    @abstractmethod
    def write(
        self, connection: "apsw.Connection", model: int, checkpoint: tuple[int, str]
    ) -> tuple[str, ...]:
        """Within a transaction that sees the checkpoint: write what is due, and the list of it;
        the names of its files."""

    def renew(self, *, anew: bool = False) -> bool:
        """Write what is due; whether anything was. Another process that is at it does it."""
        try:
            return self._renew(anew=anew)
        except Unusable as error:
            log("warning", "there can be no index beside this base", reason=str(error))
            return False
        except OSError as error:
            kind = DiskFull if error.errno in (ENOSPC, EDQUOT, EFBIG) else BaseReadOnly
            raise kind(
                f"the index beside the base cannot be written: {error.strerror}",
                hint="searches do without it; store.index_after = 0 switches it off",
            ) from error

    def _renew(self, *, anew: bool) -> bool:
        connection = self.connection()
        if connection.readonly("main"):
            return False
        if anew or not self._least:
            self._remove()
        model = self.model(connection)
        if not self._least or model is None or not self._is_due(connection, model):
            return False
        os.makedirs(self._folder, mode=0o700, exist_ok=True)  # its owner's alone, as the base is
        with suppress(BlockingIOError, PermissionError), locked(self._folder + os.sep, patience=0):
            if not self._is_due(connection, model):  # another was faster
                return False
            self._write(model)
            return True
        return False

    def _is_due(self, connection: "apsw.Connection", model: int) -> bool:
        with connection:
            number = self.number(connection, model)
            behind = self.behind(connection, model)
        if number < self._least:
            if 2 * number < self._least:
                self._remove()
            return False
        return behind is None or behind * DUE > self._least

    def _write(self, model: int) -> None:
        with self._connections.writing() as connection:
            checkpoint = self.log.check_in(connection, model)
        with connection:  # one state; it has the checkpoint
            names = self.write(connection, model, checkpoint)
        _give_back()
        remove_others(self._folder, names)
        with self._connections.writing() as connection:
            self.log.trim(connection, checkpoint[0])

    def _remove(self) -> None:
        """Without an index the base keeps no log for one."""
        if self.log.is_there(self._connections.get()):
            with self._connections.writing() as connection:
                self.log.drop(connection)
        remove_folder(self._folder)


def _give_back() -> None:
    """What writing needed for a moment, some 70 MB, glibc would keep for the life of a server."""
    import ctypes

    with suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)
