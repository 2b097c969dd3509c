"""The packaged model's tokens of a short text, without loading its tokenizer; and how many a longer
one has.

Loading that takes longer than all else of a search. A query is short and mostly of plain letters:
its words are cut up by a table of 400 kB that is read as it lies. For any other text, and where
a number is written the other way round, the answer is None, and the tokenizer has to be asked.
"""

import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import overload

LONGEST = 300
"""Characters: what is longer takes as long as the tokenizer does."""
LONGEST_WORD = 60  # letters: what is longer is met once
MOST_WORDS = 50_000  # that are remembered: some megabytes
_LETTERS = "A-Za-zªµºÀ-ÖØ-öø-ɏ"
_NUMBERS = "0-9²³¹¼½¾"
_SPACES = r"\t\n\v\f\r \x85\xa0"
# … and signs that are neither: dashes, quotation marks, currencies, arrows, frames.
_PLAIN = re.compile("[\0-ɏ\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2190-\u23ff\u2500-\u2775]*")
_WORDS = re.compile(
    rf"'(?:[stmd]|re|ve|ll)| ?[{_LETTERS}]+| ?[{_NUMBERS}]+| ?[^{_SPACES}{_LETTERS}{_NUMBERS}]+"
    rf"|[{_SPACES}]+(?![^{_SPACES}])|[{_SPACES}]+"
)
_CUT = re.compile(rf" (?=[^{_SPACES}])")
"""Where a text can be cut: no token goes on over a space, and several spaces belong together."""
_TOGETHER = tuple(" " + space for space in " \t\n\v\f\r\x85\xa0")
_MARKS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # a token each, wherever they stand
_NEVER = 1 << 32  # beyond every rank


def _is_plain(text: str) -> bool:
    """Whether its letters are known here."""
    if sys.byteorder != "little" or not (text.isascii() or _PLAIN.fullmatch(text)):
        return False
    return "<" not in text or not any(mark in text for mark in _MARKS)


def _cut(text: str) -> list[str]:
    """What stands between its single spaces."""
    if text.endswith(" ") or any(map(text.__contains__, _TOGETHER)):
        return _CUT.split(text)
    return text.split(" ")  # the same in a third of the time


class _TooLong(Exception):
    """A word of so many letters that the tokenizer is quicker."""


class _Counts(dict[str, int]):
    """How many tokens a word has: counted when it is met, and known from then on."""

    def __init__(self, count: Callable[[str], int]) -> None:
        self._count = count

    def __missing__(self, word: str) -> int:
        count = self._count(word)
        if len(self) >= MOST_WORDS:
            self.clear()
        if len(word) <= LONGEST_WORD:
            self[word] = count
        return count


class _Ways(dict[int, int]):
    """The rank of each pair that was met, and the token that it becomes: words consist of the same
    few."""

    def __init__(self, find: Callable[[int], int]) -> None:
        self._find = find

    def __missing__(self, pair: int) -> int:
        if len(self) >= MOST_WORDS:
            self.clear()
        self[pair] = way = self._find(pair)
        return way


class Counted(Sequence[tuple[int, int]]):
    """Places of tokens, of which most texts need no more than the number."""

    def __init__(self, count: int, places: Callable[[], Sequence[tuple[int, int]]]) -> None:
        self._count = count
        self._find = places

    @cached_property
    def _places(self) -> Sequence[tuple[int, int]]:
        return self._find()

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> tuple[int, int]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[int, int]]: ...

    def __getitem__(self, index: int | slice) -> tuple[int, int] | Sequence[tuple[int, int]]:
        return self._places[index]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._places)


class Pieces:
    """Which tokens become one, and which of them first."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            data = memoryview(file.read())
        count = (len(data) - 512) // 8
        self._bytes = data[:512].cast("H")
        self._pairs = data[512 : 512 + 4 * count].cast("I")
        self._merged = data[512 + 4 * count :].cast("I")
        self._ways = _Ways(self._way)
        self._counts = _Counts(self._count_word)
        self._parts = _Counts(self._count_part)

    def ids(self, text: str) -> list[int] | None:
        """The tokens, if the text is short and of letters that are known here."""
        if len(text) > LONGEST or not _is_plain(text):
            return None
        return [one for word in _WORDS.findall(text) for one in self._tokens(word)]

    def count(self, text: str) -> int | None:
        """How many tokens a text of any length has, if it is of such letters. Texts consist of the
        same words: most were counted before, so this takes a third of the tokenizer's time."""
        if not _is_plain(text):
            return None
        try:
            first, *words = _cut(text)
            return self._count_in_parts(first) + sum(map(self._counts.__getitem__, words))
        except _TooLong:
            return None

    def _count_word(self, word: str) -> int:
        """Of what follows a space, signs included."""
        return self._count_in_parts(" " + word)

    def _count_in_parts(self, text: str) -> int:
        return sum(map(self._parts.__getitem__, _WORDS.findall(text)))

    def _count_part(self, part: str) -> int:
        if len(part) > LONGEST_WORD:
            raise _TooLong
        return len(self._tokens(part))

    def _tokens(self, word: str) -> list[int]:
        tokens, known = [self._bytes[byte] for byte in word.encode()], self._ways
        ways = [known[one << 16 | other] for one, other in pairwise(tokens)]
        while ways and (first := min(ways)) != _NEVER:
            at = ways.index(first)
            tokens[at : at + 2] = [first & 0xFFFF]
            around = tokens[max(0, at - 1) : at + 2]
            new = [known[one << 16 | other] for one, other in pairwise(around)]
            ways[max(0, at - 1) : at + 2] = new
        return tokens

    def _way(self, pair: int) -> int:
        """The rank of a pair, and the token that it becomes."""
        at = bisect_left(self._pairs, pair)
        found = at < len(self._pairs) and self._pairs[at] == pair
        return self._merged[at] if found else _NEVER
