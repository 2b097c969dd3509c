"""What was replaced in a base, at whatever moment: numbers, lengths, words and vectors of its rows.

Each row is read once for all moments that are asked of; which of them count at one, `then.py` says.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from knowbase.store.sqlite.packing import has_hash
from knowbase.store.sqlite.scan import BLOCK, SMALL, dimensions_of, halves_in
from knowbase.store.sqlite.scoring import counted, length_of
from knowbase.store.sqlite.then import open_vocabulary
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.store.sqlite.word_segments import FIELDS
from knowbase.text.analysis import stems

if TYPE_CHECKING:
    import apsw

    from knowbase.store.sqlite.scan import Flags, Floats, Integers
    from knowbase.text.analysis import Word

_MOST_KNOWN = 200  # words


class PastRows:
    """The rows of `past_chunks` as far as they are known, by their numbers."""

    def __init__(self, small: int = SMALL) -> None:
        self._small = small
        self._since = -1
        self._forget()

    def _forget(self) -> None:
        self._sum = 0
        self.rows = self.chunks = self.documents = self.lengths = np.empty(0, "i8")
        self._words: dict[Word, tuple[Integers, Floats]] = {}
        self._vectors: _Vectors | None = None

    def renew(self, connection: "apsw.Connection", number: int) -> None:
        """Know what was replaced after a change, or more: of a short history all, of a long one
        what was since the earliest moment that was asked of. Numbers of changes rise: as many rows
        with the same sum are the same, and where any is gone, nothing that is known of it may be
        used."""
        if self._since < 0 or number < self._since:
            most: Any = connection.execute("SELECT max(id) FROM main.past_chunks").get
            self._since = 0 if (most or 0) <= self._small else number
            self._forget()
        last = int(self.rows[-1]) if len(self.rows) else 0
        known: Any = connection.execute(
            "SELECT count(*), coalesce(sum(until), 0) FROM main.past_chunks WHERE until > ?"
            " AND id <= ?",
            (self._since, last),
        ).fetchone()
        if known != (len(self.rows), self._sum):
            self._forget()
            last = 0
        found: Any = connection.execute(
            "SELECT c.id, c.chunk, c.document, c.until, s.sz FROM main.past_chunks c"
            " CROSS JOIN main.past_fts_docsize s ON s.id = c.id WHERE c.until > ? AND c.id > ?"
            " ORDER BY c.id",
            (self._since, last),
        ).fetchall()
        if found:
            self._words.clear()
            self._sum += sum(row[3] for row in found)
            self._add(found)

    def _add(self, found: Any) -> None:
        rows, chunks, documents, _, sizes = zip(*found, strict=True)
        self.rows = np.append(self.rows, np.array(rows, "i8"))
        self.chunks = np.append(self.chunks, np.array(chunks, "i8"))
        self.documents = np.append(self.documents, np.array(documents, "i8"))
        self.lengths = np.append(self.lengths, np.array([*map(length_of, sizes)], "i8"))

    def places(self, listed: str | None) -> "Integers":
        """Where rows are, of which all are known; in their order."""
        wanted = np.fromstring(listed, "i8", sep=",") if listed else np.empty(0, "i8")
        return np.searchsorted(self.rows, wanted)

    def having(self, connection: "apsw.Connection", word: "Word") -> "tuple[Integers, Floats]":
        """The places of the rows that have a word, rising, and how often in each field."""
        known = self._words.get(word)
        if known is None:
            if len(self._words) > _MOST_KNOWN:
                self._words.clear()
            plain = len(stems(word.surface)) == 1 and not word.prefix
            found = _listed(connection, word) if plain else _matched(connection, word)
            there = np.isin(found[0], self.rows)
            at = np.searchsorted(self.rows, found[0][there])
            known = self._words[word] = at, found[1][there]
        return known

    def vectors(
        self, connection: "apsw.Connection", model: int, chosen: "Integers"
    ) -> "list[tuple[Integers, Floats]]":
        """The chunks of those rows that have a vector, and the vectors at half precision: some at
        a time."""
        known = self._read(connection, model, chosen)
        found = chosen[known.there[chosen]]
        parts = (found[start : start + BLOCK] for start in range(0, len(found), BLOCK))
        return [(self.chunks[part], known.halves[part]) for part in parts]

    def embedded(self, connection: "apsw.Connection", model: int, chosen: "Integers") -> int:
        """How many of those rows have a vector."""
        return int(np.count_nonzero(self._read(connection, model, chosen).there[chosen]))

    def _read(self, connection: "apsw.Connection", model: int, chosen: "Integers") -> "_Vectors":
        known = self._vectors_of(connection, model)
        missing = chosen[~known.there[chosen]]
        rows, halves = halves_in(
            connection, model, _stored(connection, model, self.rows[missing].tolist())
        )
        at = np.searchsorted(self.rows, rows)
        known.halves[at], known.there[at] = halves, True
        return known

    def _vectors_of(self, connection: "apsw.Connection", model: int) -> "_Vectors":
        """Of a model: those that are known, and room for the others. So many are not kept that
        they would fill the memory."""
        known, size = self._vectors, len(self.rows)
        if known is None or known.model != model or len(known.there) < size:
            there = np.zeros(size, bool)
            halves = np.zeros((size, dimensions_of(connection, model)), "<f2")
            if known is not None and known.model == model:
                there[: len(known.there)], halves[: len(known.there)] = known.there, known.halves
            known = _Vectors(model, there, halves)
            self._vectors = known if size <= SMALL else None
        return known


class _Vectors(NamedTuple):
    """Vectors at half precision, and of which rows there are any."""

    model: int
    there: "Flags"
    halves: "Floats"


def _listed(connection: "apsw.Connection", word: "Word") -> "tuple[Integers, Floats]":
    """By the index's own list of words, which says where each stands."""
    open_vocabulary(connection)
    listed: Any = connection.execute(
        f"SELECT group_concat(doc * {FIELDS:d} + CASE col WHEN 'title' THEN 0 WHEN 'heading' THEN 1"
        " WHEN 'text' THEN 2 ELSE 3 END) FROM temp.past_places WHERE term = ?",
        (stems(word.surface)[0],),
    ).get
    places, often = np.unique(
        np.fromstring(listed, "i8", sep=",") if listed else np.empty(0, "i8"), return_counts=True
    )
    rows, at = np.unique(places // FIELDS, return_inverse=True)
    counts = np.zeros((len(rows), FIELDS))
    counts[at, places % FIELDS] = often
    return rows, counts


def _matched(connection: "apsw.Connection", word: "Word") -> "tuple[Integers, Floats]":
    """Several words in a row, or what a word begins with."""
    found = sorted(counted(connection, "past_fts", [word]).counts[0].items())
    counts = np.array([one for _, one in found], "f8").reshape(len(found), FIELDS)
    return np.array([row for row, _ in found], "i8"), counts


def _stored(connection: "apsw.Connection", model: int, rows: list[int]) -> list[tuple[int, bytes]]:
    """Their own vectors, or those of the same text today."""
    found: Any = connection.execute(
        "SELECT c.id, coalesce((SELECT v.embedding FROM main.past_vectors v"
        " WHERE v.hash = c.hash AND v.model = ?1),"
        f" (SELECT n.embedding FROM main.chunks o CROSS JOIN {vector_table(model)} n"
        f" ON n.chunk_id = o.id WHERE {has_hash('c.hash', 'o')} LIMIT 1))"
        " FROM json_each(?2) r CROSS JOIN main.past_chunks c ON c.id = r.value",
        (model, "[" + ",".join(map(str, rows)) + "]"),
    )
    return [one for one in found if one[1] is not None]
