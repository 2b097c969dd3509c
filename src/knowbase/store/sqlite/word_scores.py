"""BM25 by the index of words: which chunks are best, and their scores as FTS5 computes them.

Part by part. Of each, first what its words give at least: where the best so far are so good that
the commonest words alone lead nobody among them, those are left out and only looked up for what
the others lead to (MaxScore). Then the exact scores of what may be among the best, added up word
by word in the order of the query, as FTS5 does; so they do not differ in the last bit.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from knowbase import deadline
from knowbase.store.bm25 import K1, idf
from knowbase.store.sqlite.scoring import phrases
from knowbase.store.sqlite.word_index import InStep, Part, Postings
from knowbase.text.analysis import Word, stems

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from knowbase.query.words import FieldWeights, KeywordQuery
    from knowbase.store.sqlite.scan import Among, Floats, Integers

_ROUNDING = 1e-9  # more than another order of adding up is ever off by
_MOST_PHRASES = 20_000  # rows that may have a phrase, which FTS5 looks for one by one
_FEW = 2_000  # rows that pass are scored each, whatever words they have
_EXACT = 2.0**20  # weights that are numbers of such parts add up without rounding


class _Asked(NamedTuple):
    """A word that is looked for: one stem, or a phrase whose rows FTS5 has found."""

    word: Word
    weight: float
    stem: str
    found: "dict[int, float] | None" = None  # of a phrase: how often each row has it, weighed

    def postings(self, part: Part, weights: "FieldWeights") -> Postings:
        matching = part.matching(self.word, weights)
        if matching is not None:
            return matching
        if self.found is None:
            return part.postings(self.stem, weights, prefix=self.word.prefix)
        rows = part.of(np.array(sorted(self.found), "i8"))
        often = [self.found[one] for one in part.chunks[rows].tolist()]
        return Postings.of(rows, np.array(often, "f8"))


def best(
    connection: "apsw.Connection",
    in_step: InStep,
    query: "KeywordQuery",
    weights: "FieldWeights",
    among: "Among | None",
    limit: int,
) -> "list[tuple[int, float]] | None":
    """The best chunks that pass, with their scores; None: FTS5 is to be asked."""
    if not all(0 < one < _EXACT and (one * _EXACT).is_integer() for one in weights):
        return None
    asked = _asked(connection, in_step, query, weights)
    if asked is None:
        return None
    if not asked:
        return []
    found = [[one.postings(part, weights) for one in asked] for part in in_step.parts]
    gains = [
        idf(in_step.population.rows, sum(len(every[n].rows) for every in found))
        for n in range(len(asked))
    ]
    scoring = _Scoring(in_step.population.average, gains, [one.weight for one in asked], limit)
    for part, postings in zip(in_step.parts, found, strict=True):
        deadline.check()
        if query.match == "all":
            rows = _having_all(postings)
            scoring.take_exact(part, postings, _passing(part, rows, among))
        else:
            scoring.take(part, postings, among)
    return scoring.found()


def _asked(
    connection: "apsw.Connection", in_step: InStep, query: "KeywordQuery", weights: "FieldWeights"
) -> list[_Asked] | None:
    asked = []
    for word, weight in query.weighed:
        found = stems(word.surface.replace("\0", " "))
        if not found:
            continue  # FTS5 passes over what is no word, too
        phrase = None
        if len(found) > 1:
            least = min(sum(part.having(one) for part in in_step.parts) for one in found[:-1])
            if least > _MOST_PHRASES:
                return None
            phrase = phrases(connection, word, weights) if least else {}
        asked.append(_Asked(word, weight, found[-1], phrase))
    return asked


def _having_all(postings: "Sequence[Postings]") -> "Integers":
    ordered = sorted((one.rows for one in postings), key=len)
    rows = ordered[0]
    for other in ordered[1:]:
        rows = rows[_places(other, rows) >= 0]
    return rows


def _places(rows: "Integers", wanted: "Integers") -> "Integers":
    """Where each wanted row stands among rising ones; -1: nowhere."""
    if not len(rows):
        return np.full(len(wanted), -1)
    at = np.searchsorted(rows, wanted)
    at[at == len(rows)] = 0
    return np.where(rows[at] == wanted, at, -1)


def _passing(part: Part, rows: "Integers", among: "Among | None") -> "Integers":
    return rows if among is None else rows[among.passing(part.chunks[rows])]


class _Scoring:
    """The best so far, and what it takes to be among them."""

    def __init__(
        self, average: float, gains: "Sequence[float]", weights: "Sequence[float]", limit: int
    ) -> None:
        self._average = average
        self._gains = gains
        self._weights = weights
        self._limit = limit
        self._chunks, self._scores = np.empty(0, "i8"), np.empty(0)
        self._floor = -np.inf
        most = [weight * gain * (K1 + 1) for weight, gain in zip(weights, gains, strict=True)]
        self._most = most  # that each word can give
        self._order = sorted(range(len(gains)), key=most.__getitem__)

    def take(self, part: Part, postings: "Sequence[Postings]", among: "Among | None") -> None:
        """What may be among the best of a part that has any of the words."""
        if among is not None:
            rows = part.passing(among)
            if len(rows) <= _FEW:
                has_any = np.zeros(len(rows), bool)
                for one in postings:
                    has_any |= _places(one.rows, rows) >= 0
                self.take_exact(part, postings, rows[has_any])
                return
        light, slack = self._light()
        sums = np.zeros(len(part.chunks))
        norms = part.norms(self._average)
        for number in set(range(len(postings))) - light:
            rows, codes, table = postings[number]
            gains = (table * self._most[number])[codes]
            gains /= table[codes] + norms[rows]
            sums[rows] += gains
        rows = np.flatnonzero(sums > max(self._floor - slack - _ROUNDING, 0.0)).astype("u2")
        rows = _passing(part, rows, among)
        if len(rows) > self._limit:
            at = len(rows) - self._limit
            least = np.partition(sums[rows], at)[at]
            rows = rows[sums[rows] >= least - slack - _ROUNDING]
        self.take_exact(part, postings, rows)

    def _light(self) -> tuple[set[int], float]:
        """The words that are not needed to find who may be among the best, and what they can give
        together."""
        light: set[int] = set()
        slack = 0.0
        for number in self._order:
            if slack + self._most[number] >= self._floor:
                break
            light.add(number)
            slack += self._most[number]
        return light, slack

    def take_exact(self, part: Part, postings: "Sequence[Postings]", rows: "Integers") -> None:
        if not len(rows):
            return
        scores = self._exact(part, postings, rows)
        self._chunks = np.concatenate([self._chunks, part.chunks[rows]])
        self._scores = np.concatenate([self._scores, scores])
        first = np.lexsort((self._chunks, -self._scores))[: self._limit]
        self._chunks, self._scores = self._chunks[first], self._scores[first]
        if len(first) == self._limit:
            self._floor = float(self._scores[-1])

    def _exact(self, part: Part, postings: "Sequence[Postings]", rows: "Integers") -> "Floats":
        """As FTS5 computes it: words of one weight are one query of its own."""
        norms = part.norms(self._average)[rows]
        groups: dict[float, Floats] = {}
        for one, gain, weight in zip(postings, self._gains, self._weights, strict=True):
            at = _places(one.rows, rows)
            here = np.flatnonzero(at >= 0)
            frequency = one.table[one.codes[at[here]]]
            total = groups.setdefault(weight, np.zeros(len(rows)))
            total[here] += gain * ((frequency * (K1 + 1)) / (frequency + norms[here]))
        if groups.keys() == {1.0}:
            return groups[1.0]
        return _sum([total * weight for weight, total in groups.items()])

    def found(self) -> list[tuple[int, float]]:
        return list(zip(self._chunks.tolist(), self._scores.tolist(), strict=True))


def _sum(parts: "Sequence[Floats]") -> "Floats":
    """As SQLite adds up: what rounding takes away is kept aside (Kahan and Babuška)."""
    total, lost = np.zeros_like(parts[0]), np.zeros_like(parts[0])
    for part in parts:
        more = total + part
        larger = np.abs(total) > np.abs(part)
        lost += np.where(larger, (total - more) + part, (part - more) + total)
        total = more
    return total + lost
