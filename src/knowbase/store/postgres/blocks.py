"""Postings as they are kept: eight bytes each, those of a word in a part of the base in one row.

A posting says how often a word stands in each field of a chunk, and how long that is. Almost all
fit into one number; what does not (a very long chunk, a word more often than that) is kept in full
beside them. All of it is big-endian, so that the server can write it as well.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from knowbase.store.stems import bounds

if TYPE_CHECKING:
    from knowbase.store.postgres.counting import Counted

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

NARROW = np.dtype([("word", ">i4"), ("record", ">i8")])
WIDE = np.dtype([("word", ">i4"), ("chunk", ">i8"), ("length", ">i4"), ("counts", ">i2", 4)])
_RECORD = np.dtype(">i8")
_CHUNKS, _LENGTHS, _TEXTS = 2**31, 2**16, 2**8
_TITLES, _HEADINGS, _TERMS = 4, 4, 16


class Packed(NamedTuple):
    """Postings of many words: those that fit into a number, and the others."""

    narrow: Any  # an array of NARROW
    wide: Any  # an array of WIDE

    @classmethod
    def nothing(cls) -> "Packed":
        return cls(np.empty(0, NARROW), np.empty(0, WIDE))

    @classmethod
    def read(cls, narrow: bytes, wide: bytes) -> "Packed":
        return cls(np.frombuffer(narrow, NARROW), np.frombuffer(wide, WIDE))

    @classmethod
    def of_blocks(cls, blocks: "Sequence[tuple[int, bytes, bytes]]") -> "Packed":
        """Of words with what a block holds of each."""
        sizes = [len(narrow) // 8 for _, narrow, _ in blocks]
        narrow = np.empty(sum(sizes), NARROW)
        narrow["word"] = np.repeat(np.array([word for word, _, _ in blocks], "i8"), sizes)
        narrow["record"] = np.frombuffer(b"".join(one for _, one, _ in blocks), _RECORD)
        return cls(narrow, np.frombuffer(b"".join(wide for _, _, wide in blocks), WIDE))

    @classmethod
    def joined(cls, parts: "Sequence[Packed]") -> "Packed":
        """Several as one; concatenating alone would turn the bytes around."""
        return cls(
            np.concatenate([np.empty(0, NARROW), *(one.narrow for one in parts)]).astype(NARROW),
            np.concatenate([np.empty(0, WIDE), *(one.wide for one in parts)]).astype(WIDE),
        )

    def without(self, chunks: Sequence[int]) -> "Packed":
        if not chunks:
            return self
        gone = np.array(chunks, "i8")
        return Packed(
            self.narrow[~np.isin(self.narrow["record"].astype("i8") >> 32, gone)],
            self.wide[~np.isin(self.wide["chunk"].astype("i8"), gone)],
        )

    def of_words(self, words: Sequence[int]) -> "Packed":
        wanted = np.array(words, "i8")
        return Packed(*(one[np.isin(one["word"].astype("i8"), wanted)] for one in self))

    def chunks(self) -> Integers:
        """Rising, each once. Most follow each other, and need not be sorted."""
        narrow = self.narrow["record"].astype("i8") >> 32
        every = np.concatenate([narrow, self.wide["chunk"].astype("i8")])
        first = int(every.min(initial=_CHUNKS))
        span = int(every.max(initial=first)) - first + 1
        if span > len(every):
            return np.unique(every)
        is_there = np.zeros(span, bool)
        is_there[every - first] = True
        return np.flatnonzero(is_there) + first

    def by_word(self) -> list[tuple[int, bytes, bytes]]:
        """Each word with its postings, as a block holds them; in the order that they have."""
        words = self.narrow["word"].astype("i8")
        order = np.argsort(words, kind="stable")
        words, records = words[order], self.narrow["record"][order].tobytes()
        at = bounds(words)
        numbers, places = words[at[:-1]].tolist(), (8 * at).tolist()
        found = [
            (word, records[start:end], b"")
            for word, start, end in zip(numbers, places[:-1], places[1:], strict=True)
        ]
        return self._with_wide(found) if len(self.wide) else found

    def _with_wide(self, found: list[tuple[int, bytes, bytes]]) -> list[tuple[int, bytes, bytes]]:
        """These words, and those that have no narrow postings behind them."""
        wide = {
            word: self.wide[self.wide["word"] == word].tobytes()
            for word in sorted({*self.wide["word"].tolist()})
        }
        both = [(word, narrow, wide.pop(word, b"")) for word, narrow, _ in found]
        return both + [(word, b"", more) for word, more in wide.items()]


def packed(counted: "Counted", words: "Mapping[str, int]") -> Packed:
    """Of chunks whose words were counted, and the ids of these words."""
    ids = np.fromiter((words.get(stem, 0) for stem in counted.stems), "i8", len(counted.stems))
    word, chunk = ids[counted.words], counted.chunks[counted.rows]
    length = counted.lengths[counted.rows]
    title, heading, text, terms = counted.often.T
    is_narrow = (text < _TEXTS) & (length < _LENGTHS) & (chunk < _CHUNKS)
    is_narrow &= (title < _TITLES) & (heading < _HEADINGS) & (terms < _TERMS)
    record = chunk << 32 | length << 16 | text << 8 | title << 6 | heading << 4 | terms
    narrow = np.empty(int(is_narrow.sum()), NARROW)
    narrow["word"], narrow["record"] = word[is_narrow], record[is_narrow]
    wide = np.empty(len(word) - len(narrow), WIDE)
    for name, values in (("word", word), ("chunk", chunk), ("length", length)):
        wide[name] = values[~is_narrow]
    wide["counts"] = counted.often[~is_narrow]
    return Packed(narrow, wide)


class Details(NamedTuple):
    """Chunks that have a word: their lengths, and how often it stands in each of the fields."""

    chunks: Integers
    lengths: Integers
    counts: Integers  # one row a field

    @property
    def having(self) -> int:
        return len(self.chunks)

    def taken(self, places: Integers | slice) -> "Details":
        return Details(self.chunks[places], self.lengths[places], self.counts[:, places])

    @classmethod
    def nothing(cls) -> "Details":
        return cls(np.empty(0, "i8"), np.empty(0, "i8"), np.empty((4, 0), "i8"))


class Listed:
    """The chunks that have a word, rising; the rest of a posting is looked at when it is wanted."""

    def __init__(self, blocks: Sequence[bytes]) -> None:
        records = np.frombuffer(b"".join(blocks), _RECORD).astype("i8")
        if len(records) > 1 and not (records[1:] > records[:-1]).all():
            records = np.sort(records)
        self._records = records
        self.chunks: Integers = records >> 32

    @property
    def having(self) -> int:
        return len(self.chunks)

    def taken(self, places: Integers | slice) -> Details:
        lengths, fields = self.parts(places)
        return Details(self.chunks[places], lengths, counts_of(fields))

    def parts(self, places: Integers | slice) -> tuple[Integers, Integers]:
        """The lengths of chunks, and what says how often each of their fields has the word: both
        are numbers of sixteen bits."""
        records = self._records[places]
        return records >> 16 & 65535, records & 65535


def counts_of(fields: Integers) -> Integers:
    """How often each field has a word: title, heading, text and terms."""
    return np.stack([fields >> 6 & 3, fields >> 4 & 3, fields >> 8, fields & 15])


Postings: TypeAlias = Listed | Details


class Block(NamedTuple):
    """What a part of the base has of a word, and the chunks that are gone from that part."""

    narrow: bytes
    wide: bytes
    gone: Integers


def listed(blocks: Sequence[Block]) -> Postings:
    """The postings of one word."""
    found = Listed([_without(one.narrow, one.gone) for one in blocks])
    rest = [
        Packed.read(b"", one.wide).without(one.gone.tolist()).wide for one in blocks if one.wide
    ]
    return together([found.taken(slice(None)), *map(_in_full, rest)]) if rest else found


def _without(block: bytes, gone: Integers) -> bytes:
    if not len(gone):
        return block
    records = np.frombuffer(block, _RECORD)
    return records[~np.isin(records.astype("i8") >> 32, gone)].tobytes()


def _in_full(wide: Any) -> Details:
    return Details(
        wide["chunk"].astype("i8"), wide["length"].astype("i8"), wide["counts"].astype("i8").T
    )


def together(parts: Sequence[Details]) -> Details:
    """Postings of one word, in the order of the chunks."""
    chunks = np.concatenate([one.chunks for one in parts])
    order = np.argsort(chunks, kind="stable")
    return Details(
        chunks[order],
        np.concatenate([one.lengths for one in parts])[order],
        np.concatenate([one.counts for one in parts], axis=1)[:, order],
    )


def summed(parts: Sequence[Postings]) -> Details:
    """Several words as if they were one: how often a chunk has any of them."""
    if not parts:
        return Details.nothing()
    every = together([one.taken(slice(None)) for one in parts])
    chunks, starts = np.unique(every.chunks, return_index=True)
    if not len(chunks):
        return every
    return Details(chunks, every.lengths[starts], np.add.reduceat(every.counts, starts, axis=1))


def places(rising: Integers, wanted: Integers) -> Integers:
    """Where each wanted number stands among rising ones; -1: nowhere."""
    if rising is wanted:
        return np.arange(len(wanted))
    if not len(rising):
        return np.full(len(wanted), -1)
    at = np.searchsorted(rising, wanted)
    at[at == len(rising)] = 0
    return np.where(rising[at] == wanted, at, -1)
