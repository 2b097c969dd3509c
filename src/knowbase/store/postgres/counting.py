"""The words of chunks, counted: those of many chunks at once."""

from collections.abc import Collection, Mapping
from itertools import chain, islice
from typing import NamedTuple, TypeAlias

import numpy as np

from knowbase import deadline
from knowbase.store.postgres.words import LONGEST, MOST, key_of
from knowbase.store.stems import Integers, Pieces, bounds

Fields: TypeAlias = tuple[str, str, str, str]
"""What is indexed of a chunk: title, heading, text and terms."""

_FIELDS, _FIELD_BITS = 4, 2
_READ = 128  # chunks at once


class Counted(NamedTuple):
    """Chunks, how many words they have, and their postings."""

    chunks: Integers
    lengths: Integers
    stems: list[str]
    rows: Integers  # of each posting: the place of its chunk
    words: Integers  # … the place of its stem
    often: Integers  # … how often each field has it: a row of four

    @classmethod
    def of(cls, texts: Mapping[int, Fields]) -> "Counted":
        pieces, left = Pieces(), iter(texts.values())
        while some := list(islice(left, _READ)):
            deadline.check()
            pieces.add(chain.from_iterable(some))
        stems, words, where = pieces.standing()
        lengths = np.bincount(where >> _FIELD_BITS, minlength=len(texts))
        words, rows, often = _postings(words, where.astype("u8"), len(texts))
        chunks = np.fromiter(texts, "i8", len(texts))
        return cls(chunks, lengths, _keys_of(stems), rows, words, often)

    def among(self, chunks: Collection[int]) -> "Counted":
        """Those of these chunks alone."""
        if len(chunks) == len(self.chunks):
            return self
        kept = np.isin(self.chunks[self.rows], np.fromiter(chunks, "i8", len(chunks)))
        return self._replace(rows=self.rows[kept], words=self.words[kept], often=self.often[kept])

    def lengths_by_chunk(self) -> dict[int, int]:
        return dict(zip(self.chunks.tolist(), self.lengths.tolist(), strict=True))

    def having(self) -> dict[str, int]:
        """How many of the chunks have each stem."""
        numbers = np.bincount(self.words, minlength=len(self.stems)).tolist()
        return {stem: number for stem, number in zip(self.stems, numbers, strict=True) if number}


def _keys_of(stems: list[bytes]) -> list[str]:
    """Stems as they are stored."""
    names = [stem.decode() for stem in stems]
    return [key_of(one) for one in names] if max(map(len, names), default=0) > LONGEST else names


def _postings(words: Integers, where: Integers, rows: int) -> tuple[Integers, Integers, Integers]:
    """The word and the row of each posting, words rising, and how often each field has it; from
    which word stands in which field."""
    fields = max(1, rows * _FIELDS)
    keys = words * np.uint64(fields) + where
    keys.sort()
    first = bounds(keys)
    keys, often = keys[first[:-1]].astype("i8"), np.minimum(np.diff(first), MOST)
    begins = bounds(keys >> _FIELD_BITS)[:-1]
    counts = np.zeros((len(begins), _FIELDS), "i8")
    posting = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(keys))))
    counts[posting, keys & _FIELDS - 1] = often
    keys = keys[begins]
    return keys // fields, keys % fields >> _FIELD_BITS, counts
