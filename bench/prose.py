"""Rows of real text for a large base: its words in their order, its vectors made up.

A chunk is three passages from anywhere in the files of the folders that were named, so that words
are as frequent as there and stand beside each other as there.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knowbase.text.analysis import stem_of
from knowbase.text.stopwords import STOP_WORDS
from postgres_size import Made
from realistic import ENDINGS

PASSAGE = 30  # words
_WORD = re.compile(r"[^\W\d_]{2,}")


class Prose(Made):
    """Passages of texts, and vectors around centres; the same each time."""

    def __init__(self, folders: Sequence[Path]) -> None:
        super().__init__()
        found = [one for folder in folders for one in _words(folder)]
        number_of = {word: number for number, word in enumerate(dict.fromkeys(found))}
        stems = [stem_of(word) for word in number_of]
        self._stems = list(dict.fromkeys(filter(None, stems)))
        stem_numbers = {stem: number for number, stem in enumerate(self._stems)}
        ids = np.array([stem_numbers.get(stem, -1) for stem in stems])[
            np.array([number_of[word] for word in found])
        ]
        self._text = ids[ids >= 0]
        self._plain = [word for word in found if word not in STOP_WORDS and stem_of(word)]

    def names(self) -> list[str]:
        return self._stems

    def words(self, number: int, known: int) -> "np.ndarray[Any, Any]":  # noqa: ARG002
        starts = self._chance.integers(0, len(self._text) - PASSAGE, -(-number // PASSAGE))
        places = (starts[:, None] + np.arange(PASSAGE)).ravel()[:number]
        found: np.ndarray[Any, Any] = self._text[places]
        return found

    def questions(self, number: int, words: int) -> list[list[str]]:
        starts = self._chance.integers(0, len(self._plain) - words, number)
        return [self._plain[start : start + words] for start in starts]


def _words(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*")):
        if file.suffix in ENDINGS and file.is_file():
            yield from _WORD.findall(file.read_text("utf-8", "replace").lower())
