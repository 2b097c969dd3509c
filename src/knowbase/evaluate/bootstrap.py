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
    chance: float  # of a difference as large where there is none, in either direction


def intervals(differences: Sequence[Sequence[float]], seed: int = 0) -> list[Interval]:
    """An interval for each series of differences, one value a question.

    Questions are drawn with replacement, the same draws for every series. Percentile
    intervals (Efron 1979; for retrieval: Sakai, SIGIR 2006).
    """
    import numpy as np

    if not differences or not differences[0]:
        return [Interval(0.0, 0.0, 0.0, 1.0) for _ in differences]
    table = np.array(differences, float).T
    questions = len(table)
    random = np.random.default_rng(seed)
    alike = np.full(questions, 1 / questions)
    means = np.concatenate(
        [
            random.multinomial(questions, alike, _BLOCK) @ table / questions
            for _ in range(ROUNDS // _BLOCK)
        ]
    )
    low, high = np.quantile(means, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0)
    beyond = np.minimum((means <= 0).sum(axis=0), (means >= 0).sum(axis=0))
    chances = np.minimum(1.0, 2 * (beyond + 1) / (ROUNDS + 1))
    columns = (table.mean(axis=0), low, high, chances)
    return [Interval(*map(float, row)) for row in zip(*columns, strict=True)]


def holm(chances: Sequence[float]) -> list[bool]:
    """Which of several comparisons are significant together (Holm 1979): the surest has to be
    as many times surer as there are comparisons, the next one time less, until one is not."""
    significant = [False] * len(chances)
    for done, place in enumerate(sorted(range(len(chances)), key=lambda one: chances[one])):
        if chances[place] * (len(chances) - done) > 1 - SURE:
            break
        significant[place] = True
    return significant
