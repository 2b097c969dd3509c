"""Paired bootstrap: by how much two systems differ on the same questions, and how sure that is."""

from collections.abc import Sequence
from typing import NamedTuple

ROUNDS = 10_000
SURE = 0.95
_BLOCK = 250  # rounds at a time: a table of rounds × questions must fit in memory


class Interval(NamedTuple):
    """A mean difference, and where it lies in 95 of 100 draws of the questions."""

    mean: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        return self.low > 0 or self.high < 0


def intervals(differences: Sequence[Sequence[float]], seed: int = 0) -> list[Interval]:
    """An interval for each series of differences, one value a question.

    Questions are drawn with replacement, the same draws for every series. Percentile
    intervals (Efron 1979; for retrieval: Sakai, SIGIR 2006).
    """
    import numpy as np

    if not differences or not differences[0]:
        return [Interval(0.0, 0.0, 0.0) for _ in differences]
    table = np.array(differences, float).T
    questions = len(table)
    random = np.random.default_rng(seed)
    chances = np.full(questions, 1 / questions)
    means = np.concatenate(
        [
            random.multinomial(questions, chances, _BLOCK) @ table / questions
            for _ in range(ROUNDS // _BLOCK)
        ]
    )
    low, high = np.quantile(means, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0)
    return [
        Interval(float(mean), float(below), float(above))
        for mean, below, above in zip(table.mean(axis=0), low, high, strict=True)
    ]
