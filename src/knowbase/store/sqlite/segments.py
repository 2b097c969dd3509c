"""The segments of an index of vectors, as files (`mapped.py`).

A segment has codes of some vectors, and names the chunks that earlier segments had and that are
gone.
"""

from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from knowbase.store.sqlite.codes import Coded
from knowbase.store.sqlite.mapped import Unusable, open_file, read_list, write_file, write_list

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from knowbase.store.sqlite.scan import Floats, Integers

_END = ".codes"
MAGIC = "knowbase vectors 1"


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
    given = read_list(folder, MAGIC)
    try:
        segments = tuple(Listed(*one) for one in given.pop("segments"))
        return Current(**given, segments=segments)
    except (ValueError, TypeError, KeyError) as error:
        raise Unusable(str(error)) from error


def write_current(folder: str, current: Current) -> None:
    write_list(folder, MAGIC, current._asdict())


def write_segment(folder: str, parts: "Iterable[Part]", gone: "Sequence[int]") -> Listed:
    """A new file with these vectors, on the disk when this returns."""
    name, checksum, listed = write_file(folder, _END, lambda file: _written(file, parts, gone))
    return listed._replace(name=name, checksum=checksum)


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
    return Listed("", len(numbers), len(gone), float(every.max(initial=0)), length, 0)


def open_segment(folder: str, listed: Listed, dimensions: int) -> Segment:
    """A segment, once it is certain that it is as it was written."""
    starts = [0]
    for size in (listed.rows * dimensions, 4 * listed.rows, 8 * listed.rows, 8 * listed.gone):
        starts.append(starts[-1] + size + -(starts[-1] + size) % 8)
    whole = open_file(folder, listed.name, starts[-1], listed.checksum)
    codes = whole[: listed.rows * dimensions].view("i1").reshape(listed.rows, dimensions)
    steps = whole[starts[1] : starts[1] + 4 * listed.rows].view("<f4")
    chunks = whole[starts[2] : starts[2] + 8 * listed.rows].view("<i8")
    gone = whole[starts[3] : starts[3] + 8 * listed.gone].view("<i8")
    return Segment(listed, chunks, gone, Coded(codes, steps))
