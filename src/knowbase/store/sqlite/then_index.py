"""The index of words beside a base, for the base as it was: without what is not as it was, and with
what was replaced since, which FTS5 is asked for."""

from typing import TYPE_CHECKING

import numpy as np

from knowbase.query.conditions import EVERYTHING
from knowbase.store.bm25 import Population
from knowbase.store.sqlite.word_index import InStep, Loaded, Part, Postings, WordIndex

if TYPE_CHECKING:
    import apsw

    from knowbase.query.words import FieldWeights
    from knowbase.store.sqlite.scan import Integers
    from knowbase.store.sqlite.then_connections import PastConnections
    from knowbase.store.sqlite.then_rows import PastRows
    from knowbase.text.analysis import Word

_MOST = 50_000  # rows of a part, which are counted by 16 bits


class Remembered(Part):
    """Chunks that were replaced since."""

    def __init__(
        self, connection: "apsw.Connection", known: "PastRows", chosen: "Integers"
    ) -> None:
        super().__init__()
        self._connection, self._known = connection, known
        self.chunks = known.chunks[chosen]
        self.documents = known.documents[chosen]
        self.lengths = known.lengths[chosen]
        self._places = np.full(len(known.rows), -1)
        self._places[chosen] = np.arange(len(chosen))

    def having(self, stem: str) -> int:  # noqa: ARG002 - how many is found with the word itself
        """More than none, for who asks whether there is any."""
        return 1

    def matching(self, word: "Word", weights: "FieldWeights") -> Postings:
        at, counts = self._known.having(self._connection, word)
        places = self._places[at]
        order = np.argsort(places, kind="stable")[np.count_nonzero(places < 0) :]
        return Postings.of(places[order].astype("u2"), counts[order] @ np.array(weights, "f8"))

    def number(self, word: "Word") -> int:
        """How many rows have a word."""
        at, _ = self._known.having(self._connection, word)
        return int(np.count_nonzero(self._places[at] >= 0))


def has(index: InStep, stem: str, word: "Word") -> bool:
    """Whether any chunk had a word that is one stem; what was replaced is asked last."""
    shards = [part for part in index.parts if not isinstance(part, Remembered)]
    return any(part.having(stem) for part in shards) or bool(having(index, stem, word))


def having(index: InStep, stem: str, word: "Word") -> int:
    """How many chunks had a word that is one stem."""
    return sum(
        part.number(word) if isinstance(part, Remembered) else part.having(stem)
        for part in index.parts
    )


def in_step(
    connections: "PastConnections",
    connection: "apsw.Connection",
    index: WordIndex,
    loaded: Loaded,
) -> InStep | None:
    """The index for the base as it was."""
    chosen = connections.chosen()
    found = index.in_step(connection, loaded, chosen.stale, connections.next_chunk)
    if found is None:
        return None
    past = [
        Remembered(connection, chosen.rows, chosen.places[start : start + _MOST])
        for start in range(0, len(chosen.places), _MOST)
    ]
    parts = (*found.parts, *past)
    people = Population(sum(map(_rows, parts)), sum(map(_length, parts)))
    connections.population[EVERYTHING] = people
    return InStep(parts, people)


def _rows(part: Part) -> int:
    return len(part.chunks) if part.alive is None else int(np.count_nonzero(part.alive))


def _length(part: Part) -> int:
    lengths = part.lengths if part.alive is None else part.lengths[part.alive]
    return int(lengths.sum(dtype="i8"))
