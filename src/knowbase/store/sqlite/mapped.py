"""Files of an index beside the base: written once and never changed, read through a mapping.

`current` names the checkpoint and the segments of an index; whoever replaces it does so at once.
Each file says how long it is and has a checksum: one that is shortened or changed is not an index
any more. What is loaded is shared by all threads, until its files are others.
"""

import json
import mmap
import os
import threading
import zlib
from abc import ABC, abstractmethod
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Generic, TypeVar

import numpy as np

from knowbase.logs import log
from knowbase.process import sync_names
from knowbase.process.filing import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy import uint8
    from numpy.typing import NDArray

    Bytes = NDArray[uint8]

CURRENT = "current"
PAGE = 32768  # bytes; a file is a number of whole ones
_SUMMED = 128  # of them at once


class Unusable(Exception):
    """A file that is missing, shortened, changed or not ours."""


def read_list(folder: str, magic: str) -> dict[str, Any]:
    """What `current` says."""
    try:
        with open(os.path.join(folder, CURRENT), "rb") as file:
            said, _, summed = file.read(1 << 20).partition(b"\n")
        if int(summed, 16) != zlib.crc32(said):
            raise Unusable("current was changed")
        given: dict[str, Any] = json.loads(said)
        if given.pop("format") != magic:
            raise Unusable("another format")
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unusable(str(error)) from error
    return given


def write_list(folder: str, magic: str, given: "dict[str, Any]") -> None:
    said = json.dumps({"format": magic, **given})
    replace(os.path.join(folder, CURRENT), f"{said}\n{zlib.crc32(said.encode()):08x}\n")


def remove_others(folder: str, kept: "Iterable[str]") -> None:
    """The files that an index does not have; one that is still mapped stays where it must."""
    with suppress(OSError):
        for name in set(os.listdir(folder)) - {CURRENT, ".lock", *kept}:
            with suppress(OSError):
                os.remove(os.path.join(folder, name))


def remove_folder(folder: str) -> None:
    """Remove an index, as far as that can be done."""
    with suppress(OSError):
        for name in (CURRENT, *os.listdir(folder)):
            with suppress(OSError):
                os.remove(os.path.join(folder, name))
        os.rmdir(folder)


Written = TypeVar("Written")


def write_file(
    folder: str, end: str, fill: "Callable[[BinaryIO], Written]"
) -> tuple[str, int, Written]:
    """A new file, on the disk when this returns: its name, its checksum, what `fill` said."""
    name = os.urandom(8).hex() + end
    new = os.path.join(folder, name + ".new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(new, flags, 0o600), "wb") as file:
            said = fill(file)
            file.write(b"\0" * (-file.tell() % PAGE))
            file.flush()
            os.fsync(file.fileno())
        checksum = _checksum(_mapped(new))
        os.replace(new, os.path.join(folder, name))
    except BaseException:
        with suppress(OSError):
            os.remove(new)
        raise
    sync_names(folder)
    return name, checksum, said


def open_file(folder: str, name: str, size: int, checksum: int) -> "Bytes":
    """The first bytes of a file, once it is certain that it is as it was written."""
    held = _mapped(os.path.join(folder, name))
    if len(held) != size + -size % PAGE or _checksum(held) != checksum:
        raise Unusable(f"{name} was changed")
    return np.frombuffer(held, "u1")[:size]


def _mapped(path: str) -> mmap.mmap | bytes:
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except (OSError, ValueError) as error:
        raise Unusable(str(error)) from error


def _checksum(held: "mmap.mmap | bytes") -> int:
    """Sums of whole pages, number by number: as fast as memory is read, where a checksum of
    every byte takes ten times as long. A single changed bit changes it, whatever the rest."""
    if len(held) % PAGE:
        raise Unusable("shortened")
    pages = np.frombuffer(held, "<u8").reshape(-1, PAGE // 8)
    total = np.zeros(PAGE // 8, "u8")
    for start in range(0, len(pages), _SUMMED):
        total *= np.uint64(31)
        total += pages[start : start + _SUMMED].sum(axis=0, dtype="u8")
    return zlib.crc32(total.tobytes())


Loaded = TypeVar("Loaded")


class Loading(ABC, Generic[Loaded]):
    """The index in a folder, for all threads."""

    magic: str

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._found: tuple[object, tuple[str, ...], object, Loaded | None] = (None, (), (), None)
        self._lock = threading.Lock()

    @abstractmethod
    def load(self) -> Loaded:
        """What is there, mapped and found to be sound; or Unusable."""

    def loaded(self) -> Loaded | None:
        """What is there, read again when its files are not the ones that were read: to read from
        one that has been shortened would end the process."""
        mark = self._marks((CURRENT,))
        if mark is None:
            return None
        with self._lock:
            seen, names, files, loaded = self._found
            if seen != mark or self._marks(names) != files:
                try:
                    names = tuple(one[0] for one in read_list(self.folder, self.magic)["segments"])
                    files, loaded = self._marks(names), self.load()
                except (Unusable, LookupError, TypeError) as error:
                    log("warning", "an index beside the base is made anew", reason=str(error))
                    files, loaded = self._marks(names), None
                self._found = mark, names, files, loaded
            return loaded

    def _marks(self, names: tuple[str, ...]) -> tuple[object, ...] | None:
        """Others when anybody has replaced, changed or shortened a file."""
        try:
            found = [os.stat(os.path.join(self.folder, name)) for name in names]
        except OSError:
            return None
        return tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in found)
