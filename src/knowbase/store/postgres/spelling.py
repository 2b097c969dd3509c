"""Words that no chunk has, and those that are written nearly so."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.connection import Connected, Connections
from knowbase.store.postgres.words import key_of
from knowbase.text.analysis import Word, stem_of
from knowbase.text.spelling import ALIKE, MOST_ALIKE, as_written
from knowbase.text.spelling import nearest as nearest_stems

if TYPE_CHECKING:
    from knowbase.store.postgres.wordlists import WordLists


class Spelling(Connected):
    """The words of one base."""

    def __init__(
        self,
        connections: Connections,
        base: int,
        lists: "Callable[[Connection], WordLists]",
    ) -> None:
        self._connections = connections
        self._base = base
        self._lists = lists

    def unknown(self, words: Sequence[Word]) -> list[Word]:
        found = [(word, stem) for word in words if (stem := stem_of(word.surface))]

        def missing(connection: Connection) -> list[Word]:
            lists = self._lists(connection)
            keys = {key_of(stem) for word, stem in found if not word.prefix}
            there = {key for key, (_, having) in lists.known(keys).items() if having}
            return [
                word
                for word, stem in found
                if not (lists.begins(key_of(stem)) if word.prefix else key_of(stem) in there)
            ]

        return self._connections.consistently(missing) if found else []

    def nearest(self, word: Word, limit: int) -> list[str]:
        stem = stem_of(word.surface)
        found = self._connections.consistently(
            lambda connection: self._lists(connection).beginning_with(stem[:ALIKE], MOST_ALIKE)
        )
        return [self._as_written(near) for near in nearest_stems(stem, found, limit)]

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
        lists = self._lists(connection)
        found = lists.of_words([word for word, _ in lists.known([key_of(stem)]).values()])
        chunks = [int(one.chunks[0]) for one in found.values() if one.having]
        return min(chunks, default=None)
