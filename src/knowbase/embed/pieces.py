"""The packaged model's tokens of a short text, without loading its tokenizer.

Loading that takes longer than all else of a search. A query is short and mostly of plain letters:
its words are cut up by a table of 400 kB that is read as it lies. For any other text, and where
a number is written the other way round, the answer is None, and the tokenizer has to be asked.
"""

import re
import sys
from bisect import bisect_left
from itertools import pairwise

LONGEST = 300
"""Characters: what is longer takes as long as the tokenizer does."""
_LETTERS = "A-Za-zªµºÀ-ÖØ-öø-ɏ"
_NUMBERS = "0-9²³¹¼½¾"
_SPACES = r"\t\n\v\f\r \x85\xa0"
_PLAIN = re.compile("[\0-ɏ]*")
_WORDS = re.compile(
    rf"'(?:[stmd]|re|ve|ll)| ?[{_LETTERS}]+| ?[{_NUMBERS}]+| ?[^{_SPACES}{_LETTERS}{_NUMBERS}]+"
    rf"|[{_SPACES}]+(?![^{_SPACES}])|[{_SPACES}]+"
)
_MARKS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")  # a token each, wherever they stand
_NEVER = 1 << 32  # beyond every rank


class Pieces:
    """Which tokens become one, and which of them first."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            data = memoryview(file.read())
        count = (len(data) - 512) // 8
        self._bytes = data[:512].cast("H")
        self._pairs = data[512 : 512 + 4 * count].cast("I")
        self._merged = data[512 + 4 * count :].cast("I")

    def ids(self, text: str) -> list[int] | None:
        """The tokens, if the text is short and of letters that are known here."""
        if len(text) > LONGEST or not _PLAIN.fullmatch(text) or sys.byteorder != "little":
            return None
        if "<" in text and any(mark in text for mark in _MARKS):
            return None
        return [one for word in _WORDS.findall(text) for one in self._tokens(word)]

    def _tokens(self, word: str) -> list[int]:
        tokens = [self._bytes[byte] for byte in word.encode()]
        ways = [self._way(one, other) for one, other in pairwise(tokens)]
        while ways and (first := min(ways)) != _NEVER:
            at = ways.index(first)
            tokens[at : at + 2] = [first & 0xFFFF]
            around = tokens[max(0, at - 1) : at + 2]
            ways[max(0, at - 1) : at + 2] = [self._way(*pair) for pair in pairwise(around)]
        return tokens

    def _way(self, one: int, other: int) -> int:
        """The rank of a pair, and the token that it becomes."""
        pair = one << 16 | other
        at = bisect_left(self._pairs, pair)
        found = at < len(self._pairs) and self._pairs[at] == pair
        return self._merged[at] if found else _NEVER
