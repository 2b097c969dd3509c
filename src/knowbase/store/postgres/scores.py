"""BM25 over postings: which chunks are best, and their scores as FTS5 computes them.

First who may be among the best: where they are so good that the commonest words alone lead nobody
among them, those words are only looked up for what the others lead to (MaxScore). Then the exact
scores of these, added up word by word in the order of the query, as every engine does; so they do
not differ in the last bit.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from knowbase.query.words import FieldWeights
from knowbase.store.bm25 import K1, B
from knowbase.store.postgres.blocks import Integers, Listed, Postings, counts_of, places
from knowbase.values.documents import Candidate

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

ALL = slice(None)
_DIFFERENT = 2**16  # numbers of sixteen bits
_MOST_DECODED = 2**16  # postings whose parts are computed one by one
_MANY = 50_000  # postings that are worth being left out
_ROUNDING = 1e-9  # more than another order of adding up is ever off by


class Term(NamedTuple):
    """A word that is looked for: its weight, how many chunks have it, and who reads which."""

    weight: float
    having: int
    read: Callable[[], Postings]


class Scoring:
    """Scores of one query, in one state of the base."""

    def __init__(self, terms: Sequence[Term], average: float, weights: FieldWeights) -> None:
        self._terms = terms
        self._average = average
        self._weights = weights
        self._read: dict[int, Postings] = {}

    def best(self, limit: int, least: int, among: Integers | None = None) -> list[Candidate]:
        """The best that have so many of the words; of all, or of rising ones."""
        if least > len(self._terms):
            return []
        candidates = self._candidates(limit, least) if among is None else among
        scores, matched = self._exact(candidates)
        kept = np.flatnonzero(matched >= least)
        scores, chunks = scores[kept], candidates[kept]
        if len(kept) > limit:
            at = len(kept) - limit
            good = scores >= np.partition(scores, at)[at]
            scores, chunks = scores[good], chunks[good]
        order = np.lexsort((chunks, -scores))[:limit]
        return list(map(Candidate, chunks[order].tolist(), scores[order].tolist()))

    def _postings(self, number: int) -> Postings:
        if number not in self._read:
            self._read[number] = self._terms[number].read()
        return self._read[number]

    def _candidates(self, limit: int, least: int) -> Integers:
        """Rising; everyone who can be among the best is one of them."""
        numbers = range(len(self._terms))
        if not numbers:
            return np.empty(0, "i8")
        if least == len(self._terms):
            return self._postings(min(numbers, key=lambda n: self._terms[n].having)).chunks
        if sum(term.having for term in self._terms) > _MANY:
            return self._hopeful(limit)
        return np.unique(np.concatenate([self._postings(number).chunks for number in numbers]))

    def _hopeful(self, limit: int) -> Integers:
        most = [term.weight * (K1 + 1) for term in self._terms]  # that each can give
        left = sorted(range(len(most)), key=lambda n: (most[n], -self._terms[n].having))
        sums, touched, floor = np.zeros(0), np.zeros(0, bool), 0.0
        while left and not sum(most[n] for n in left) < floor - _ROUNDING:
            number = left.pop()
            found = self._postings(number)
            if not found.having:
                continue
            more = int(found.chunks[-1]) + 1 - len(sums)
            if more > 0:
                sums = np.concatenate([sums, np.zeros(more)])
                touched = np.concatenate([touched, np.zeros(more, bool)])
            gains = self._saturation(found)
            sums[found.chunks] += self._terms[number].weight * gains
            touched[found.chunks] = True
            if not left or sum(self._terms[n].having for n in left) > _MANY:
                floor = _limit_th(sums[touched], limit)
        slack = sum(most[n] for n in left)
        touched &= sums >= floor - slack - _ROUNDING
        return np.flatnonzero(touched)

    def _saturation(self, found: Postings, places: Integers | slice = ALL) -> Floats:
        """What a word gives, without its weight. Of very many, each length and each number of
        times is computed once."""
        if isinstance(found, Listed) and found.having > _MOST_DECODED:
            lengths, fields = found.parts(places)
            often, norms = self._tables
            often, norms = often[fields], norms[lengths]
        else:
            _, exact, counts = found.taken(places)
            often, norms = self._often(counts), self._norms(exact)
        gains: Floats = (often * (K1 + 1)) / (often + norms)
        return gains

    def _often(self, counts: Integers) -> Floats:
        title, heading, text, terms = counts
        of_title, of_heading, of_text, of_terms = self._weights
        often: Floats = of_title * title + of_heading * heading + of_text * text + of_terms * terms
        return often

    def _norms(self, lengths: Integers) -> Floats:
        norms: Floats = K1 * (1 - B + B * lengths.astype(np.float64) / self._average)
        return norms

    @cached_property
    def _tables(self) -> tuple[Floats, Floats]:
        every = np.arange(_DIFFERENT)
        return self._often(counts_of(every)), self._norms(every)

    def _exact(self, candidates: Integers) -> tuple[Floats, Integers]:
        """The score of each, and how many of the words it has."""
        scores, matched = np.zeros(len(candidates)), np.zeros(len(candidates), "i8")
        for number, term in enumerate(self._terms):
            found = self._postings(number)
            at = places(found.chunks, candidates)
            here = np.flatnonzero(at >= 0)
            scores[here] += term.weight * self._saturation(found, at[here])
            matched[here] += 1
        return scores, matched


def _limit_th(sums: Floats, limit: int) -> float:
    """The least that is among the best so many; 0 if there are not as many."""
    at = len(sums) - limit
    return float(np.partition(sums, at)[at]) if at >= 0 else 0.0
