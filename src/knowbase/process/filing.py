"""Small files that several processes change: one at a time, and whole or not at all."""

import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from knowbase.process import sync_names

PATIENCE = 10.0  # seconds to wait for whoever else changes the file


@contextmanager
def locked(path: str, patience: float = PATIENCE) -> Iterator[None]:
    """Nobody else who asks for this lock has it. The system takes it back from a process that
    ends, however it ends, so the lock's own file can stay."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(f"{path}.lock", flags, 0o600)
    try:
        _wait_for(descriptor, patience)
        yield
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, patience: float) -> None:
    end = time.monotonic() + patience
    while True:
        try:
            _lock(descriptor)
            return
        except (BlockingIOError, PermissionError):  # as POSIX and Windows say that it is taken
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def replace(path: str, text: str, *, private: bool = True) -> None:
    """The whole file at once, on the disk when this returns; for nobody else to read, or for
    whoever could read it before. Where the path is a link, it stays one."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    descriptor, new = _new_file(path, private)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(new)
        raise
    sync_names(folder)


def _new_file(path: str, private: bool) -> tuple[int, str]:
    """A file beside another one, of a name that nobody has; open, and its name."""
    if private:
        return tempfile.mkstemp(dir=os.path.dirname(path), suffix=".new")
    new = f"{path}.{os.getpid()}{time.time_ns()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    if not os.path.exists(path):
        return os.open(new, flags, 0o666), new
    mode = stat.S_IMODE(os.stat(path).st_mode)
    descriptor = os.open(new, flags, mode)
    os.chmod(new, mode)  # what the process would not give to a new file, too
    return descriptor, new
