"""The words of many texts at once, as numbers of their stems."""

from array import array
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from itertools import count, islice
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from knowbase.store.tokenizer import BOUND, pieces_of, stems_of

_REMEMBERED = 2**15  # pieces: some megabytes

Integers: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Standing(NamedTuple):
    """Which words stand in which text."""

    stems: list[bytes]  # rising
    words: Integers  # of one text after the other, the numbers of their stems
    texts: Integers  # in which each of them stands


class Pieces:
    """Texts that are taken in, some at a time: each piece of text is cut up once, however often
    it stands there."""

    def __init__(self) -> None:
        self._known: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._numbers = array("I", [self._known[BOUND]])

    def add(self, texts: Iterable[str]) -> None:
        self._numbers.extend(map(self._known.__getitem__, pieces_of(texts)))

    def standing(self) -> Standing:
        cut = _Cut.of(islice(self._known, 1, None))
        return Standing(cut.stems, *cut.standing(np.frombuffer(self._numbers, "u4")))


@lru_cache(_REMEMBERED)
def _stems_of(piece: bytes) -> tuple[str, ...]:
    """Remembered: the next batch has most of the same words."""
    return tuple(stems_of(piece))


class _Cut(NamedTuple):
    """The stems of some pieces of text. Nearly all are one stem; one with letters beyond ASCII may
    be several, or none."""

    stems: list[bytes]  # rising
    each: Integers  # of one piece after the other, the numbers of its stems
    often: Integers  # how many each piece has

    @classmethod
    def of(cls, pieces: Iterable[bytes]) -> "_Cut":
        known: defaultdict[str, int] = defaultdict(count().__next__)
        each, often = array("I"), array("I")
        for piece in pieces:
            found = _stems_of(piece)
            each.extend(map(known.__getitem__, found))
            often.append(len(found))
        names = [name.encode() for name in known]
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.empty(len(names), "u8")
        rank[order] = np.arange(len(names), dtype="u8")
        return cls([names[one] for one in order], rank[np.array(each, "u4")], np.array(often, "u4"))

    def standing(self, pieces: Integers) -> tuple[Integers, Integers]:
        """Which stems stand in which text; a text begins at each bound, which is 0."""
        is_piece = pieces != 0
        where = np.cumsum(~is_piece, dtype="u4")[is_piece]
        where -= 1
        pieces = pieces[is_piece]
        pieces -= 1
        if (self.often == 1).all():
            return self.each[pieces], where
        often = self.often[pieces].astype("i8")
        begin = np.cumsum(self.often, dtype="i8") - self.often
        shift = begin[pieces] - (np.cumsum(often) - often)
        terms = self.each[np.repeat(shift, often) + np.arange(often.sum())]
        return terms, np.repeat(where, often)


def bounds(values: Integers) -> Integers:
    """Where each of some rising values begins, and where the last one ends."""
    is_bound = np.ones(len(values) + 1, bool)
    np.not_equal(values[1:], values[:-1], out=is_bound[1:-1])
    return np.flatnonzero(is_bound)
