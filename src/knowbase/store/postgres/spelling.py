"""Words that no chunk has, and those that are written nearly so."""

from collections.abc import Sequence

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.connection import Connected, Connections
from knowbase.store.postgres.words import LAST, ids_of, key_of
from knowbase.text.analysis import Word
from knowbase.text.spelling import ALIKE, MOST_ALIKE, as_written, stem_of
from knowbase.text.spelling import nearest as nearest_stems


class Spelling(Connected):
    """The words of one base."""

    def __init__(self, connections: Connections, base: int) -> None:
        self._connections = connections
        self._base = base

    def unknown(self, words: Sequence[Word]) -> list[Word]:
        found = [(word, stem) for word in words if (stem := stem_of(word.surface))]
        rows_found = self._read(
            SQL("SELECT stem FROM words WHERE base_id = %s AND stem = ANY(%s) AND chunks > 0"),
            (self._base, list({key_of(stem) for word, stem in found if not word.prefix})),
        )
        there = {stem for (stem,) in rows_found}
        return [
            word
            for word, stem in found
            if not (self._begins(stem) if word.prefix else key_of(stem) in there)
        ]

    def _begins(self, stem: str) -> bool:
        """Whether a word begins so."""
        statement = SQL(
            "SELECT 1 FROM words WHERE base_id = %s AND stem >= %s AND stem < %s"
            " AND chunks > 0 LIMIT 1"
        )
        return bool(self._read(statement, (self._base, key_of(stem), key_of(stem) + LAST)))

    def nearest(self, word: Word, limit: int) -> list[str]:
        stem = stem_of(word.surface)
        found = self._read(
            SQL(
                "SELECT stem FROM words WHERE base_id = %s AND stem >= %s AND stem < %s"
                " AND chunks > 0 ORDER BY stem LIMIT %s"
            ),
            (self._base, stem[:ALIKE], stem[:ALIKE] + LAST, MOST_ALIKE),
        )
        return [
            self._as_written(near) for near in nearest_stems(stem, (t for (t,) in found), limit)
        ]

    def _as_written(self, stem: str) -> str:
        """As the first chunk has it."""
        chunk = self._connections.consistently(lambda connection: self._first(connection, stem))
        found = self._read(
            SQL(
                "SELECT c.title || ' ' || coalesce(c.heading, '') || ' ' || c.text FROM chunks c"
                " WHERE c.base_id = %s AND c.id = %s"
            ),
            (self._base, chunk),
        )
        return as_written(stem, found[0][0]) if found else stem

    def _first(self, connection: Connection, stem: str) -> int | None:
        from knowbase.store.postgres.wordlists import WordLists

        found = ids_of(connection, self._base, [key_of(stem)])
        lists = WordLists(connection, self._base).of_words([word for word, _ in found.values()])
        chunks = [int(one.chunks[0]) for one in lists.values() if one.having]
        return min(chunks, default=None)
