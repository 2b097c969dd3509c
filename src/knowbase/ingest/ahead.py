"""Reading files ahead of whoever splits and stores them, in a process beside this one."""

import hashlib
from collections.abc import Callable, Generator, Iterable
from typing import NamedTuple

from knowbase.errors import ReadError
from knowbase.ingest.noise import noise_in
from knowbase.ingest.walk import FoundFile
from knowbase.read.confined import BeingRead, Reader
from knowbase.values.files import FileRecord
from knowbase.values.reading import Reading

Known = Callable[[FoundFile, str], bool]
Tell = Callable[[str, int, int], None]  # the file, its page, and how many pages it has


class Noise(ReadError):
    """The file was not written to be read."""


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
    reader: Reader, files: Iterable[FoundFile], is_known: Known, tell: Tell
) -> Generator[Loaded, None, None]:
    """Each of the files in order, the next one being read meanwhile; one whose content is known
    is not read. Of pages that take their time is told which one it is."""
    coming: tuple[Loaded, BeingRead | None] | None = None
    try:
        for found in files:
            if coming is not None:
                ready, coming = _finished(*coming, tell), None
                coming = _begun(reader, found, is_known)
                yield ready
            else:
                coming = _begun(reader, found, is_known)
        if coming is not None:
            ready, coming = _finished(*coming, tell), None
            yield ready
    finally:
        if coming is not None and coming[1] is not None:
            coming[1].stop()


def _begun(reader: Reader, found: FoundFile, is_known: Known) -> tuple[Loaded, BeingRead | None]:
    loaded = Loaded(found)
    try:
        with open(found.path, "rb") as file:
            data = file.read()
        loaded = loaded._replace(sha256=hashlib.sha256(data).hexdigest())
        if is_known(found, loaded.sha256):
            return loaded, None
        if not found.asked and (reason := noise_in(found.path, data)) is not None:
            return loaded._replace(error=Noise(reason)), None
        return loaded, reader.begin(found.path, data)
    except Exception as error:  # for whoever asks for the file
        return loaded._replace(error=error), None


def _finished(loaded: Loaded, being_read: BeingRead | None, tell: Tell) -> Loaded:
    if being_read is None:
        return loaded
    try:
        path = loaded.found.path
        return loaded._replace(reading=being_read.result(lambda page, of: tell(path, page, of)))
    except Exception as error:
        return loaded._replace(error=error)
