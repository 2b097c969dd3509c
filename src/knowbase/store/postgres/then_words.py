"""Which chunks had a word at a moment: those of today that are as they were, and what was
replaced since (`then.py` has which those are)."""

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from psycopg import Connection

from knowbase.store.postgres.blocks import Details, Integers, Postings, together
from knowbase.store.postgres.bulk import numbers
from knowbase.store.postgres.wordlists import WordLists
from knowbase.store.postgres.words import LAST, ids_of


class PastWordLists(WordLists):
    """See `WordLists`; within a transaction that sees the base as it was."""

    def __init__(self, connection: Connection, base: int, next_chunk: int) -> None:
        super().__init__(connection, base)
        self._next_chunk = next_chunk

    def known(self, keys: Collection[str]) -> dict[str, tuple[int, int]]:
        ids = {key: word for key, (word, _) in ids_of(self._connection, self._base, keys).items()}
        lists = self.of_words([*ids.values()])
        return {key: (word, lists[word].having) for key, word in ids.items()}

    def begins(self, key: str) -> bool:
        return bool(self.beginning_with(key, 1))

    def beginning_with(self, key: str, limit: int) -> list[str]:
        rows = self._connection.execute(
            "SELECT stem, id FROM words WHERE base_id = %s AND stem >= %s AND stem < %s"
            " ORDER BY stem",
            (self._base, key, key + LAST),
        ).fetchall()
        lists = self.of_words([word for _, word in rows])
        return [stem for stem, word in rows if lists[word].having][:limit]

    def of_words(self, ids: Sequence[int]) -> dict[int, Postings]:
        replaced = self._replaced(ids)
        return {
            word: together([self._unchanged(now), replaced.get(word, Details.nothing())])
            for word, now in super().of_words(ids).items()
        }

    def _unchanged(self, now: Postings) -> Details:
        stays = (now.chunks < self._next_chunk) & ~np.isin(now.chunks, self._stale)
        return now.taken(np.flatnonzero(stays))

    @cached_property
    def _stale(self) -> Integers:
        rows = self._connection.execute("SELECT chunk FROM was_stale").fetchall()
        return np.array([chunk for (chunk,) in rows], "i8")

    def _replaced(self, ids: Sequence[int]) -> dict[int, Details]:
        rows = self._connection.execute(
            "SELECT p.word, p.chunk, p.length, p.title, p.heading, p.text, p.terms"
            " FROM past_postings p JOIN was_replaced r ON r.chunk = p.chunk AND r.until = p.until"
            " WHERE p.base_id = %s AND p.word = ANY(%s::int[])",
            (self._base, numbers(ids)),
        ).fetchall()
        found: dict[int, list[tuple[int, ...]]] = {}
        for word, *posting in rows:
            found.setdefault(word, []).append(tuple(posting))
        return {word: _details(lines) for word, lines in found.items()}


def _details(lines: Sequence[tuple[int, ...]]) -> Details:
    columns = np.array(lines, "i8").T
    return Details(columns[0], columns[1], columns[2:])
