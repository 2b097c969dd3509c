"""What was replaced in a base, at whatever moment: numbers, lengths, words and vectors of its rows.

Each row is read once for all moments that are asked of; a moment is a choice among them.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from knowbase.store.sqlite.packing import has_hash
from knowbase.store.sqlite.scan import BLOCK, SMALL, dimensions_of, halves_in
from knowbase.store.sqlite.scoring import counted, length_of
from knowbase.store.sqlite.then_versions import firsts
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.store.sqlite.word_segments import FIELDS
from knowbase.text.analysis import stems

if TYPE_CHECKING:
    import apsw

    from knowbase.store.sqlite.scan import Flags, Floats, Integers
    from knowbase.text.analysis import Word

_MOST_KNOWN = 300_000  # rows that have words: 6 MB
SHORT = SMALL  # rows of a history that is known whole


class PastRows:
    """The rows of `past_chunks` that were replaced after a change, by their numbers. Those of
    another state of the base are another object: who has chosen some of these goes on with them."""

    def __init__(self, since: int, former: "PastRows | None" = None, found: Any = ()) -> None:
        self.since = since
        columns = np.array([(*row[:4], length_of(row[4])) for row in found], "i8").reshape(-1, 5).T
        if former is not None:
            columns = np.append(former._columns, columns, axis=1)
        self._columns: Integers = columns
        self.rows, self.chunks, self.documents, self.until, self.lengths = columns
        self._order = np.lexsort((self.until, self.chunks))
        self._words: dict[Word, tuple[Integers, Floats]] = {}
        self._vectors: _Vectors | None = None if former is None else former._vectors

    @classmethod
    def after(
        cls, connection: "apsw.Connection", number: int, former: "PastRows | None" = None
    ) -> "PastRows":
        """What was replaced after a change, or more: of a short history all, of a long one what was
        since the earliest moment that was asked of. What is known already is not read again, if it
        is still there."""
        if former is None or number < former.since:
            most: Any = connection.execute("SELECT max(id) FROM main.past_chunks").get
            return cls(0 if (most or 0) <= SHORT else number)._renewed(connection)
        return former._renewed(connection)

    def _renewed(self, connection: "apsw.Connection") -> "PastRows":
        """Numbers of changes rise: as many rows with the same sum are the same, and where any is
        gone, nothing that is known of it may be used."""
        last = int(self.rows[-1]) if len(self.rows) else 0
        there: Any = connection.execute(
            "SELECT count(*), coalesce(sum(until), 0) FROM main.past_chunks WHERE until > ?"
            " AND id <= ?",
            (self.since, last),
        ).fetchone()
        if there != (len(self.rows), int(self.until.sum())):
            return PastRows(self.since)._renewed(connection)
        found = connection.execute(
            "SELECT c.id, c.chunk, c.document, c.until, s.sz FROM main.past_chunks c"
            " CROSS JOIN main.past_fts_docsize s ON s.id = c.id WHERE c.until > ? AND c.id > ?"
            " ORDER BY c.id",
            (self.since, last),
        ).fetchall()
        return PastRows(self.since, self, found) if found else self

    def at(self, number: int, next_chunk: int, documents: "Flags") -> "Integers":
        """The places of the rows that hold at a moment, by chunk: of each chunk of those documents
        the first that ended later. Numbers are not used again: a chunk that was ended later and has
        one of then was there."""
        later = self._order[(self.until > number)[self._order]]
        first = later[firsts(self.chunks[later])]
        first = first[: np.searchsorted(self.chunks[first], next_chunk)]
        owners = np.minimum(self.documents[first], len(documents) - 1)
        found: Integers = first[documents[owners]]
        return found

    def having(self, connection: "apsw.Connection", word: "Word") -> "tuple[Integers, Floats]":
        """The places of the rows that have a word, rising, and how often in each field."""
        known = self._words.get(word)
        if known is None:
            if sum(len(one) for one, _ in self._words.values()) > _MOST_KNOWN:
                self._words.clear()
            plain = len(stems(word.surface)) == 1 and not word.prefix
            rows, counts = _listed(connection, word) if plain else _matched(connection, word)
            at = np.searchsorted(self.rows, rows)
            at[at == len(self.rows)] = 0
            there = self.rows[at] == rows if len(self.rows) else at > 0
            known = self._words[word] = at[there].astype("u4"), counts[there].astype("u4")
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
    listed: Any = connection.execute(
        f"SELECT group_concat(doc * {FIELDS:d} + CASE col WHEN 'title' THEN 0 WHEN 'heading' THEN 1"
        " WHEN 'text' THEN 2 ELSE 3 END) FROM temp.past_places WHERE term = ?",
        (stems(word.surface)[0],),
    ).get
    places = np.fromstring(listed or "", "i8", sep=",")  # rising
    first = np.flatnonzero(firsts(places))
    often = np.diff(np.append(first, len(places)))
    rows, fields = np.divmod(places[first], FIELDS)
    is_first = firsts(rows)
    counts = np.zeros((np.count_nonzero(is_first), FIELDS))
    counts[np.cumsum(is_first) - 1, fields] = often
    return rows[is_first], counts


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
