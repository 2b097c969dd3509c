"""The segments of an index of words, as files (`mapped.py`).

A segment has at most 65,536 chunks, so that two bytes name a row of it. It has their lengths, the
stems that they have in the order of their bytes, and of each stem the rows that have it, with how
often each field does: as a code, for there are few such numbers. And it names the chunks that
earlier segments had and that are gone.
"""

from array import array
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from knowbase.store.sqlite.mapped import Unusable, open_file, read_list, write_file, write_list
from knowbase.store.tokenizer import stems_alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from knowbase.store.sqlite.scan import Integers

_ROW_BITS, _FIELD_BITS = 16, 2
_USUAL = np.uint64(1 << 32)  # once in the third field, the text
MOST_ROWS = 65_536
FIELDS = 4  # title, heading, text, terms
_MOST = 65_535  # a word in a field, and codes
_END = ".words"
MAGIC = "knowbase words 1"

Row = tuple[int, int, str, str, str, str]
"""A chunk, its document, and what is indexed of it."""


class Listed(NamedTuple):
    """A segment as `current` has it."""

    name: str
    rows: int
    gone: int
    terms: int
    letters: int
    postings: int
    codes: int
    checksum: int


class Current(NamedTuple):
    """The index that there is."""

    place: int  # of its checkpoint
    token: str
    segments: tuple[Listed, ...]


class Words(NamedTuple):
    """A segment, made or mapped."""

    chunks: "Integers"
    documents: "Integers"
    lengths: "Integers"  # words of each row
    gone: "Integers"
    starts: "Integers"  # of each stem's postings
    places: "Integers"  # of each stem in `letters`
    letters: bytes
    counts: "Integers"  # what each code says, by field
    rows: "Integers"  # the postings: whose, and a code
    codes: "Integers"


_TYPES = ("<i8", "<i8", "<u4", "<i8", "<u8", "<u4", "u1", "<u2", "<u2", "<u2")


def _sizes(listed: Listed) -> tuple[int, ...]:
    _, rows, gone, terms, letters, postings, codes, _ = listed
    return (rows, rows, rows, gone, terms + 1, terms + 1, letters, codes * FIELDS, postings,
            postings)  # fmt: skip


def read_current(folder: str) -> Current:
    given = read_list(folder, MAGIC)
    try:
        segments = tuple(Listed(*one) for one in given.pop("segments"))
        return Current(**given, segments=segments)
    except (ValueError, TypeError, KeyError) as error:
        raise Unusable(str(error)) from error


def write_current(folder: str, current: Current) -> None:
    write_list(folder, MAGIC, current._asdict())


def write_words(folder: str, words: Words) -> Listed:
    """A new file, on the disk when this returns."""

    def fill(file: BinaryIO) -> None:
        for values, kind in zip(words, _TYPES, strict=True):
            given: Any = values
            is_text = isinstance(given, bytes)
            file.write(given if is_text else np.ascontiguousarray(given, kind).tobytes())
            file.write(b"\0" * (-file.tell() % 8))

    name, checksum, _ = write_file(folder, _END, fill)
    return Listed(
        name, len(words.chunks), len(words.gone), len(words.starts) - 1, len(words.letters),
        len(words.rows), len(words.counts), checksum,
    )  # fmt: skip


def open_words(folder: str, listed: Listed) -> Words:
    """A segment, once it is certain that it is as it was written."""
    starts, sizes = [0], _sizes(listed)
    for size, kind in zip(sizes, _TYPES, strict=True):
        end = starts[-1] + size * np.dtype(kind).itemsize
        starts.append(end + -end % 8)
    whole = open_file(folder, listed.name, starts[-1], listed.checksum)
    found: list[Any] = [
        whole[start : start + size * np.dtype(kind).itemsize].view(kind)
        for start, size, kind in zip(starts, sizes, _TYPES, strict=False)
    ]
    found[6], found[7] = found[6].tobytes(), found[7].reshape(-1, FIELDS)
    return Words(*found)


def made_of(rows: "Iterable[Row]", gone: "Sequence[int]" = ()) -> Words:
    """A segment of these chunks, whose numbers rise."""
    known: defaultdict[str, int] = defaultdict(count().__next__)
    numbers, sizes = array("I"), array("I")
    chunks, documents = array("q"), array("q")
    for chunk, document, *fields in rows:
        chunks.append(chunk)
        documents.append(document)
        for field in fields:
            found = stems_alone(field) if field else ()
            numbers.extend(map(known.__getitem__, found))
            sizes.append(len(found))
    if len(chunks) > MOST_ROWS:
        raise Unusable("a segment with too many rows")
    names = [name.encode() for name in known]
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), "u8")
    rank[order] = np.arange(len(names), dtype="u8")
    held = np.array(sizes, "u4")
    where = np.repeat(np.arange(len(held), dtype="u8"), held)
    starts, whose, codes, counts = _postings(rank[np.array(numbers, "u4")], where, len(names))
    lengths = [0, *(len(names[one]) for one in order)]
    return Words(
        np.array(chunks, "i8"), np.array(documents, "i8"),
        held.reshape(-1, FIELDS).sum(axis=1, dtype="u4"), np.array(sorted(gone), "i8"), starts,
        np.cumsum(lengths, dtype="u4"), b"".join(names[one] for one in order), counts, whose,
        codes,
    )  # fmt: skip


def _postings(
    terms: "Integers", where: "Integers", number: int
) -> "tuple[Integers, Integers, Integers, Integers]":
    """Where each stem's postings start, their rows and codes, and what the codes say; from which
    stem stands in which field."""
    keys = terms << np.uint64(_ROW_BITS + _FIELD_BITS)
    keys += where
    keys.sort()
    first = _first_of_each(keys)
    often = np.diff(first, append=len(keys))
    if often.max(initial=0) > _MOST:
        raise Unusable("a chunk has a word too often")
    keys = keys[first]
    rows = keys >> np.uint64(_FIELD_BITS)
    begins = _first_of_each(rows)
    shifted = often.astype("u8") << ((keys & np.uint64(FIELDS - 1)) << np.uint64(4))
    packed = np.add.reduceat(shifted, begins) if len(begins) else shifted
    rows = rows[begins]
    starts = np.searchsorted(rows, np.arange(number + 1, dtype="u8") << np.uint64(_ROW_BITS))
    told, codes = _coded(packed)
    counts = told.astype("<u8").view("<u2").reshape(-1, FIELDS)
    return starts.astype("u8"), rows.astype("u2"), codes, counts  # of a row, its last bits


def _first_of_each(values: "Integers") -> "Integers":
    """Where each of some rising values begins."""
    is_first = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=is_first[1:])
    return np.flatnonzero(is_first)


def _coded(packed: "Integers") -> "tuple[Integers, Integers]":
    """The different values, and which of them each is; nearly all are once in the text."""
    told = np.unique(packed)
    if len(told) > _MOST:
        raise Unusable("words are in fields in too many ways")
    usual = np.searchsorted(told, _USUAL)
    codes = np.full(len(packed), usual, "u2")
    others = np.flatnonzero(packed != _USUAL)
    codes[others] = np.searchsorted(told, packed[others])
    return told, codes
