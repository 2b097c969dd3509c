"""The files of an index of vectors: written once and never changed, read through a mapping.

`current` names the checkpoint and the segments of an index; whoever replaces it does so at once.
A segment has codes of some vectors, and names the chunks that earlier segments had and that are
gone. Each file says how long it is and has a checksum: one that is shortened or changed is not an
index any more.
"""

import json
import mmap
import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from knowbase.process import sync_names
from knowbase.process.filing import replace
from knowbase.store.sqlite.codes import Coded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from knowbase.store.sqlite.scan import Floats, Integers

CURRENT = "current"
_END = ".codes"
_MAGIC = "knowbase vectors 1"
_PAGE = 32768  # bytes; a file is a number of whole ones
_SUMMED = 128  # of them at once


class Unusable(Exception):
    """A file that is missing, shortened, changed or not ours."""


class Listed(NamedTuple):
    """A segment as `current` has it."""

    name: str
    rows: int
    gone: int
    step: float  # the largest
    length: float  # of the longest vector
    checksum: int


class Current(NamedTuple):
    """The index that there is."""

    model: int
    dimensions: int
    place: int  # of its checkpoint
    token: str
    segments: tuple[Listed, ...]


class Segment(NamedTuple):
    """A segment, mapped."""

    listed: Listed
    chunks: "Integers"
    gone: "Integers"
    coded: Coded


class Part(NamedTuple):
    """Some vectors as they go into a segment."""

    chunks: "Integers"
    coded: Coded
    length: float


def read_current(folder: str) -> Current:
    try:
        with open(os.path.join(folder, CURRENT), "rb") as file:
            said, _, summed = file.read(1 << 20).partition(b"\n")
        if int(summed, 16) != zlib.crc32(said):
            raise Unusable("current was changed")
        given: dict[str, Any] = json.loads(said)
        if given.pop("format") != _MAGIC:
            raise Unusable("another format")
        segments = tuple(Listed(*one) for one in given.pop("segments"))
        return Current(**given, segments=segments)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Unusable(str(error)) from error


def write_current(folder: str, current: Current) -> None:
    said = json.dumps({"format": _MAGIC, **current._asdict()})
    replace(os.path.join(folder, CURRENT), f"{said}\n{zlib.crc32(said.encode()):08x}\n")


def remove_others(folder: str, current: Current) -> None:
    """The files that this index does not have; one that is still mapped stays where it must."""
    kept = {CURRENT, ".lock"} | {one.name for one in current.segments}
    with suppress(OSError):
        for name in set(os.listdir(folder)) - kept:
            with suppress(OSError):
                os.remove(os.path.join(folder, name))


def write_segment(folder: str, parts: "Iterable[Part]", gone: "Sequence[int]") -> Listed:
    """A new file with these vectors, on the disk when this returns."""
    name = os.urandom(8).hex() + _END
    new = os.path.join(folder, name + ".new")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(new, flags, 0o600), "wb") as file:
            listed = _written(file, parts, gone)._replace(name=name)
            file.flush()
            os.fsync(file.fileno())
        listed = listed._replace(checksum=_checksum(_mapped(new)))
        os.replace(new, os.path.join(folder, name))
    except BaseException:
        with suppress(OSError):
            os.remove(new)
        raise
    sync_names(folder)
    return listed


def _written(file: BinaryIO, parts: "Iterable[Part]", gone: "Sequence[int]") -> Listed:
    """Codes first, as they come; then what is known at the end."""
    chunks: list[Integers] = [np.empty(0, "i8")]
    steps: list[Floats] = [np.empty(0, "f4")]
    length = 0.0
    for part in parts:
        chunks.append(part.chunks)
        steps.append(part.coded.steps)
        length = max(length, part.length)
        file.write(part.coded.codes.tobytes())
    numbers, every = np.concatenate(chunks), np.concatenate(steps)
    for array in (every, numbers, np.array(sorted(gone), "i8")):
        file.write(b"\0" * (-file.tell() % 8))
        file.write(array.tobytes())
    file.write(b"\0" * (-file.tell() % _PAGE))
    return Listed("", len(numbers), len(gone), float(every.max(initial=0)), length, 0)


def open_segment(folder: str, listed: Listed, dimensions: int) -> Segment:
    """A segment, once it is certain that it is as it was written."""
    held = _mapped(os.path.join(folder, listed.name))
    starts = [0]
    for size in (listed.rows * dimensions, 4 * listed.rows, 8 * listed.rows, 8 * listed.gone):
        starts.append(starts[-1] + size + -(starts[-1] + size) % 8)
    if len(held) != starts[-1] + -starts[-1] % _PAGE or _checksum(held) != listed.checksum:
        raise Unusable(f"{listed.name} was changed")
    whole = np.frombuffer(held, "u1")
    codes = whole[: listed.rows * dimensions].view("i1").reshape(listed.rows, dimensions)
    steps = whole[starts[1] : starts[1] + 4 * listed.rows].view("<f4")
    chunks = whole[starts[2] : starts[2] + 8 * listed.rows].view("<i8")
    gone = whole[starts[3] : starts[3] + 8 * listed.gone].view("<i8")
    return Segment(listed, chunks, gone, Coded(codes, steps))


def marks_of(folder: str, current: Current) -> tuple[object, ...]:
    """Others when anybody has replaced, changed or shortened a file."""
    try:
        found = [os.stat(os.path.join(folder, one.name)) for one in current.segments]
    except OSError as error:
        raise Unusable(str(error)) from error
    return tuple((one.st_ino, one.st_size, one.st_mtime_ns) for one in found)


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
    if len(held) % _PAGE:
        raise Unusable("shortened")
    pages = np.frombuffer(held, "<u8").reshape(-1, _PAGE // 8)
    total = np.zeros(_PAGE // 8, "u8")
    for start in range(0, len(pages), _SUMMED):
        total *= np.uint64(31)
        total += pages[start : start + _SUMMED].sum(axis=0, dtype="u8")
    return zlib.crc32(total.tobytes())
