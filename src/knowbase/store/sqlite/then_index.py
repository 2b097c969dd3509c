"""The index of words beside a base, for the base as it was: without what is not as it was, and with
what was replaced since, which FTS5 is asked for."""

from typing import TYPE_CHECKING, Any

import numpy as np

from knowbase.query.words import FieldWeights
from knowbase.store.compile import Compiled
from knowbase.store.sqlite.scoring import length_of, tallied
from knowbase.store.sqlite.then_words import population
from knowbase.store.sqlite.word_index import InStep, Loaded, Part, Postings, WordIndex

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from knowbase.store.sqlite.then_connections import PastConnections
    from knowbase.text.analysis import Word

_MOST = 50_000  # rows of a part, which are counted by 16 bits
_MOST_KNOWN = 200  # words
_EACH = FieldWeights()
_REPLACED = Compiled(" AND +rowid IN (SELECT row FROM temp.was_replaced)", [])


class Remembered(Part):
    """Chunks that were replaced since."""

    def __init__(
        self, connection: "apsw.Connection", rows: "Sequence[tuple[int, int, int, bytes]]"
    ) -> None:
        super().__init__()
        self._connection = connection
        self.chunks = np.array([row[0] for row in rows], "i8")
        self.documents = np.array([row[1] for row in rows], "i8")
        self.lengths = np.array([length_of(row[3]) for row in rows], "i8")
        self._places = {row[2]: place for place, row in enumerate(rows)}
        self._known: dict[tuple[Word, FieldWeights], Postings] = {}  # what was asked for last

    def having(self, stem: str) -> int:  # noqa: ARG002 - how many is found with the word itself
        """More than none, for who asks whether there is any."""
        return 1

    def matching(self, word: "Word", weights: "FieldWeights") -> Postings:
        known = self._known.get((word, weights))
        if known is None:
            found = tallied(self._connection, "past_fts", [word], weights, _REPLACED).frequencies[0]
            here = sorted(
                (self._places[row], number) for row, number in found.items() if row in self._places
            )
            rows = np.array([place for place, _ in here], "u2")
            known = Postings.of(rows, np.array([number for _, number in here], "f8"))
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            self._known[word, weights] = known
        return known


def having(index: InStep, stem: str, word: "Word") -> int:
    """How many chunks had a word that is one stem."""
    return sum(
        len(part.matching(word, _EACH).rows) if isinstance(part, Remembered) else part.having(stem)
        for part in index.parts
    )


def in_step(
    connections: "PastConnections",
    connection: "apsw.Connection",
    index: WordIndex,
    loaded: Loaded,
) -> InStep | None:
    """The index for the base as it was."""
    gone: Any = connection.execute(
        "SELECT chunk FROM temp.was_stale UNION SELECT chunk FROM temp.was_replaced"
        " UNION SELECT id FROM main.chunks WHERE id >= ?",
        (connections.next_chunk,),
    )
    found = index.in_step(connection, loaded, [chunk for (chunk,) in gone])
    if found is None:
        return None
    rows: Any = connection.execute(
        "SELECT c.id, c.document, r.row, s.sz FROM temp.was_replaced r"
        " CROSS JOIN temp.was_chunks c ON c.id = r.chunk"
        " CROSS JOIN past_fts_docsize s ON s.id = r.row ORDER BY c.id"
    ).fetchall()
    past = [
        Remembered(connection, rows[start : start + _MOST]) for start in range(0, len(rows), _MOST)
    ]
    return InStep((*found.parts, *past), population(connections))
