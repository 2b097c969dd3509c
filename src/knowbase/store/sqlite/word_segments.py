"""The segments of an index of words, as files (`mapped.py`).

A segment has at most 65,536 chunks, so that two bytes name a row of it. It has their lengths, the
stems that they have in the order of their bytes, and of each stem the rows that have it, with how
often each field does: as a code, for there are few such numbers. And it names the chunks that
earlier segments had and that are gone.
"""

from array import array
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np

from knowbase import deadline
from knowbase.store.sqlite.mapped import Unusable, open_file, read_list, write_file, write_list
from knowbase.store.stems import Pieces, bounds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from knowbase.store.sqlite.scan import Integers

_ROW_BITS, _FIELD_BITS = 16, 2
_USUAL = np.uint64(1 << 32)  # once in the third field, the text
MOST_ROWS = 65_536
FIELDS = 4  # title, heading, text, terms
_MOST = 65_535  # a word in a field, and codes
_READ = 128  # chunks at once
_SORTED = 1 << 20  # words in fields that are counted at once
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
    pieces, chunks, documents = Pieces(), array("q"), array("q")
    left = iter(rows)
    while some := list(islice(left, _READ)):
        deadline.check()
        some_chunks, some_documents, *fields = zip(*some, strict=True)
        chunks.extend(some_chunks)
        documents.extend(some_documents)
        pieces.add(chain.from_iterable(zip(*fields, strict=True)))
    if len(chunks) > MOST_ROWS:
        raise Unusable("a segment with too many rows")
    stems, terms, where = pieces.standing()
    lengths = np.bincount(where >> _FIELD_BITS, minlength=len(chunks)).astype("u4")
    starts, whose, codes, counts = _postings(terms, where, len(stems))
    return Words(
        np.array(chunks, "i8"), np.array(documents, "i8"), lengths, np.array(sorted(gone), "i8"),
        starts, np.cumsum([0, *map(len, stems)], dtype="u4"), b"".join(stems), counts,
        whose, codes,
    )  # fmt: skip


def _postings(
    terms: "Integers", where: "Integers", number: int
) -> "tuple[Integers, Integers, Integers, Integers]":
    """Where each stem's postings start, their rows and codes, and what the codes say; from which
    stem stands in which field. In parts, and in place: the memory for all at once would take
    longer to get than the work."""
    keys = np.left_shift(terms, np.uint64(_ROW_BITS + _FIELD_BITS), out=terms)
    keys += where
    keys.sort()
    held, rows, often = np.zeros(number + 1, "u8"), [np.empty(0, "u2")], []
    for part in _parts(keys):
        places, counts = _counted(part)
        stems = (places >> np.uint64(_ROW_BITS)).astype("i8")
        first, last = int(stems[0]), int(stems[-1])
        held[first + 1 : last + 2] += np.bincount(stems - first).astype("u8")
        rows.append(places.astype("u2"))  # of a place, its last bits
        often.append(_Often.of(counts))
    told, codes = _coded(often)
    counts = told.astype("<u8").view("<u2").reshape(-1, FIELDS)
    return np.cumsum(held, dtype="u8"), np.concatenate(rows), codes, counts


def _parts(keys: "Integers") -> "Iterator[Integers]":
    """Rising keys in parts, each with all that there is of its stems."""
    start, bits = 0, np.uint64(_ROW_BITS + _FIELD_BITS)
    while start < len(keys):
        last = keys[min(start + _SORTED, len(keys)) - 1]
        end = int(np.searchsorted(keys, ((last >> bits) + np.uint64(1)) << bits))
        yield keys[start:end]
        start = end


def _counted(keys: "Integers") -> "tuple[Integers, Integers]":
    """The stems and rows of rising keys, and how often each field has them: 16 bits each."""
    first = bounds(keys)
    often = np.subtract(first[1:], first[:-1]).view("u8")
    if often.max(initial=0) > _MOST:
        raise Unusable("a chunk has a word too often")
    keys = keys[first[:-1]]
    often <<= (keys & np.uint64(FIELDS - 1)) << np.uint64(4)
    keys >>= np.uint64(_FIELD_BITS)
    begins = bounds(keys)[:-1]
    return keys[begins], np.add.reduceat(often, begins)


class _Often(NamedTuple):
    """How often fields have words; nearly all are once in the text, and only the others listed."""

    number: int
    others: "Integers"
    values: "Integers"

    @classmethod
    def of(cls, counts: "Integers") -> "_Often":
        others = np.flatnonzero(counts != _USUAL)
        return cls(len(counts), others, counts[others])


def _coded(often: "Sequence[_Often]") -> "tuple[Integers, Integers]":
    """The different values, and which of them each is."""
    told = np.unique(np.concatenate([np.array([_USUAL]), *(one.values for one in often)]))
    if len(told) > _MOST:
        raise Unusable("words are in fields in too many ways")
    codes = np.full(sum(one.number for one in often), np.searchsorted(told, _USUAL), "u2")
    start = 0
    for number, others, values in often:
        codes[start : start + number][others] = np.searchsorted(told, values)
        start += number
    return told, codes
