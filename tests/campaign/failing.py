"""A file system that fails when it is told to, under the default one of SQLite."""

from typing import Any

import apsw

NAME = "failing"
ERRORS: dict[str, type[apsw.Error]] = {"I/O error": apsw.IOError, "disk full": apsw.FullError}
WRITES = frozenset({"xWrite", "xSync", "xTruncate"})


class Fault:
    """Which operation fails, and how; counts operations until then."""

    def __init__(self) -> None:
        self.countdown = 0  # nothing fails
        self.error = ""
        self.lasting = False
        self.fired = False

    def arm(self, number: int, error: str, *, lasting: bool) -> None:
        """Fail the operation of this number from now; or all from it on."""
        self.countdown, self.error, self.lasting, self.fired = number, error, lasting, False

    def disarm(self) -> None:
        self.countdown = 0

    def reached(self, operation: str) -> None:
        """Raise when it is this one's turn. A full disk can still be read."""
        if not self.countdown or (self.error == "disk full" and operation not in WRITES):
            return
        if self.countdown > 1:
            self.countdown -= 1
            return
        if not self.lasting:
            self.countdown = 0
        self.fired = True
        raise ERRORS[self.error](f"{self.error} by the test at {operation}")


FAULT = Fault()


class FailingFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int]) -> None:
        super().__init__("unix", name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        FAULT.reached("xRead")
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:
        FAULT.reached("xWrite")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        FAULT.reached("xSync")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:
        FAULT.reached("xTruncate")
        super().xTruncate(newsize)


class FailingFiles(apsw.VFS):
    def __init__(self) -> None:
        super().__init__(NAME, "unix")

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        FAULT.reached("xOpen")
        return FailingFile(name, flags)


_installed: list[FailingFiles] = []


def install() -> None:
    """Let every connection that is opened from now on go through it."""
    if not _installed:
        _installed.append(FailingFiles())
    apsw.set_default_vfs(NAME)


def uninstall() -> None:
    apsw.set_default_vfs("unix")
