"""BM25 as SQLite's FTS5 computes it, over the same words."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.text.analysis import Word, stems

K1, B = 1.2, 0.75
SMALLEST_IDF = 1e-6

Row = tuple[list[str], ...]
"""The stems of each field, in order."""


class Population(NamedTuple):
    """The rows among which words are counted, and how many words they have together."""

    rows: int
    length: int

    @property
    def average(self) -> float:
        return self.length / self.rows if self.rows else 1.0


def scores(rows: Mapping[int, Row], query: KeywordQuery, weights: FieldWeights) -> dict[int, float]:
    """The score of every row that has any, or all, of the words."""
    lengths = {key: sum(map(len, row)) for key, row in rows.items()}
    frequencies = [_frequencies(rows, word, weights) for word, _ in query.weighed]
    population = Population(len(rows), sum(lengths.values()))
    return weighed(frequencies, lengths, population, query)


def weighed(
    frequencies: Sequence[Mapping[int, float]],
    lengths: Mapping[int, int],
    population: Population,
    query: KeywordQuery,
    having: Sequence[int] | None = None,
) -> dict[int, float]:
    """The score of each row, from how often it has each of the words; `having` is how many rows
    have each, where these are not all of them."""
    total: dict[int, float] = {}
    matched: dict[int, int] = {}
    rows = having or list(map(len, frequencies))
    for found, (_, counts), number in zip(frequencies, query.weighed, rows, strict=True):
        weight = counts * idf(population.rows, number)
        for key, frequency in found.items():
            norm = K1 * (1 - B + B * lengths[key] / population.average)
            gain = weight * ((frequency * (K1 + 1)) / (frequency + norm))
            total[key] = total.get(key, 0.0) + gain
            matched[key] = matched.get(key, 0) + 1
    wanted = len(frequencies) if query.match == "all" else 1
    return {key: score for key, score in total.items() if matched[key] >= wanted}


def has_word(row: Row, word: Word) -> bool:
    """Whether any field has the word, or its words in a row."""
    phrase = stems(word.surface)
    return any(occurrences(field, phrase, word.prefix) for field in row)


def idf(rows: int, having: int) -> float:
    """Robertson's weight; FTS5 never lets a word count against a row."""
    weight = math.log((rows - having + 0.5) / (having + 0.5))
    return weight if weight > 0 else SMALLEST_IDF


def _frequencies(rows: Mapping[int, Row], word: Word, weights: FieldWeights) -> dict[int, float]:
    phrase = stems(word.surface)
    found = {}
    for key, row in rows.items():
        counts = [occurrences(field, phrase, word.prefix) for field in row]
        if any(counts):
            found[key] = sum(weight * count for weight, count in zip(weights, counts, strict=True))
    return found


def occurrences(field: list[str], phrase: list[str], prefix: bool) -> int:
    """How often the phrase stands in the field; only its last word may be a prefix."""
    if not phrase:
        return 0
    *front, last = phrase
    return sum(
        field[at : at + len(front)] == front
        and (field[at + len(front)].startswith(last) if prefix else field[at + len(front)] == last)
        for at in range(len(field) - len(front))
    )
