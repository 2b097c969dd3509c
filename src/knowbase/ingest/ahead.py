"""Reading files ahead of whoever splits and stores them, in a process beside this one."""

import hashlib
import os
import stat
from collections.abc import Callable, Generator, Iterable
from time import sleep, time
from typing import NamedTuple

from knowbase.errors import ReadError
from knowbase.ingest.noise import noise_in
from knowbase.ingest.walk import FoundFile
from knowbase.read.confined import BeingRead, Reader
from knowbase.values.files import FileRecord
from knowbase.values.reading import Reading

Known = Callable[[FoundFile, str], bool]
Tell = Callable[[str, int, int], None]  # the file, its page, and how many pages it has
_LOOKS, _PAUSE = 10, 0.2  # seconds


class Noise(ReadError):
    """The file was not written to be read."""


class Gone(Exception):
    """There is no such file any more: it was removed, or something else took its place."""


class Loaded(NamedTuple):
    """A file from disk: its content's hash, and what it says unless that is known already."""

    found: FoundFile
    sha256: str = ""  # of what could not be opened, none
    reading: Reading | None = None
    error: Exception | None = None


def record_of(path: str, source: str, loaded: Loaded) -> FileRecord:
    """What is known of the file from now on."""
    found = loaded.found
    return FileRecord(
        path, source, found.size, found.mtime_ns, loaded.sha256,
        inode=found.inode, ctime_ns=found.ctime_ns,
    )  # fmt: skip


def read_ahead(
    reader: Reader, files: Iterable[FoundFile], is_known: Known, tell: Tell, most_bytes: int
) -> Generator[Loaded, None, None]:
    """Each of the files in order, the next one being read meanwhile; one whose content is known
    is not read. Of pages that take their time is told which one it is."""
    coming: tuple[Loaded, BeingRead | None] | None = None
    try:
        for found in files:
            if coming is not None:
                ready, coming = _finished(*coming, tell), None
                coming = _begun(reader, found, is_known, most_bytes)
                yield ready
            else:
                coming = _begun(reader, found, is_known, most_bytes)
        if coming is not None:
            ready, coming = _finished(*coming, tell), None
            yield ready
    finally:
        if coming is not None and coming[1] is not None:
            coming[1].stop()


def _begun(
    reader: Reader, found: FoundFile, is_known: Known, most_bytes: int
) -> tuple[Loaded, BeingRead | None]:
    loaded = Loaded(found)
    try:
        data = _content(found, most_bytes)
        loaded = loaded._replace(sha256=hashlib.sha256(data).hexdigest())
        if is_known(found, loaded.sha256):
            return loaded, None
        if not found.asked and (reason := noise_in(found.path, data)) is not None:
            return loaded._replace(error=Noise(reason)), None
        return loaded, reader.begin(found.path, data)
    except Exception as error:  # for whoever asks for the file
        return loaded._replace(error=error), None


def _content(found: FoundFile, most_bytes: int) -> bytes:
    """What the file holds by now, which may be something else than when it was found. One that
    had a text is not taken for empty while somebody is just writing it."""
    for _ in range(_LOOKS):
        data, written = _read(found.path, most_bytes)
        if data or not found.asked or abs(time() - written) > _LOOKS * _PAUSE:
            break
        sleep(_PAUSE)
    return data


def _read(path: str, most_bytes: int) -> tuple[bytes, float]:
    """Its content, and when that was written."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise Gone
            data = file.read(min(status.st_size, most_bytes) + 1)  # room for more costs time
            if len(data) > status.st_size:  # it grows just now
                data += file.read(most_bytes + 1 - len(data))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise Gone from None
    if len(data) > most_bytes:
        raise ReadError("it grew while it was read", hint="kb sync looks again")
    return data, status.st_mtime


def without_waiting(path: str, flags: int) -> int:
    """A pipe in the place of a file would have us wait for whoever writes into it."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _finished(loaded: Loaded, being_read: BeingRead | None, tell: Tell) -> Loaded:
    if being_read is None:
        return loaded
    try:
        path = loaded.found.path
        return loaded._replace(reading=being_read.result(lambda page, of: tell(path, page, of)))
    except Exception as error:
        return loaded._replace(error=error)
