"""Which chunks have a word, a beginning, or several words in a row: read in one transaction."""

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.bm25 import occurrences
from knowbase.store.postgres import gathering
from knowbase.store.postgres.blocks import (
    Block,
    Details,
    Integers,
    Packed,
    Postings,
    listed,
    summed,
)
from knowbase.store.postgres.bulk import numbers
from knowbase.store.postgres.words import LAST, LONGEST, ids_of, key_of
from knowbase.text.analysis import Word, stems


class _Segment(NamedTuple):
    """What is known of a part of the base beside its blocks."""

    gone: Integers  # chunks whose postings in it hold no longer
    fresh: Packed | None


class WordLists:
    """The postings of one base, in one state of it."""

    def __init__(self, connection: Connection, base: int) -> None:
        self._connection = connection
        self._base = base

    def of(self, word: Word) -> Postings:
        """The chunks that have a word, a prefix, or several words in a row."""
        phrase = stems(word.surface)
        if len(phrase) > 1:
            return self._with_phrase(phrase, word.prefix)
        if not phrase:
            return Details.nothing()
        ids = self._beginning(phrase[0]) if word.prefix else self._exactly([key_of(phrase[0])])
        found = self.of_words(ids)
        return found[ids[0]] if len(ids) == 1 else summed([*found.values()])

    def known(self, keys: Collection[str]) -> dict[str, tuple[int, int]]:
        """Of stems, by their keys: the id of each, and how many chunks have it."""
        return ids_of(self._connection, self._base, keys)

    def begins(self, key: str) -> bool:
        """Whether a word begins so."""
        statement = (
            "SELECT 1 FROM words WHERE base_id = %s AND stem >= %s AND stem < %s"
            " AND chunks > 0 LIMIT 1"
        )
        given = (self._base, key, key + LAST)
        return self._connection.execute(statement, given).fetchone() is not None

    def beginning_with(self, key: str, limit: int) -> list[str]:
        """The first of the stems that begin so."""
        rows = self._connection.execute(
            "SELECT stem FROM words WHERE base_id = %s AND stem >= %s AND stem < %s"
            " AND chunks > 0 ORDER BY stem LIMIT %s",
            (self._base, key, key + LAST, limit),
        )
        return [stem for (stem,) in rows]

    def _exactly(self, keys: Collection[str]) -> list[int]:
        return [word for word, _ in ids_of(self._connection, self._base, keys).values()]

    def _beginning(self, stem: str) -> list[int]:
        rows = self._connection.execute(
            "SELECT id FROM words WHERE base_id = %s AND stem >= %s AND stem < %s",
            (self._base, stem[:LONGEST], stem[:LONGEST] + LAST),
        )
        return [word for (word,) in rows]

    def of_word(self, number: int) -> Postings:
        return self.of_words([number])[number]

    def of_words(self, ids: Sequence[int]) -> dict[int, Postings]:
        """By the ids of words."""
        lists: dict[int, list[Block]] = {word: [] for word in ids}
        for word, segment, narrow, wide in self._blocks(ids) if ids else ():
            lists[word].append(Block(narrow, wide, self._segments[segment].gone))
        for part in self._segments.values():
            if part.fresh is not None:
                for word, narrow, wide in part.fresh.of_words(ids).by_word():
                    lists[word].append(Block(narrow, wide, part.gone))
        return {word: listed(blocks) for word, blocks in lists.items()}

    def _blocks(self, ids: Sequence[int]) -> Iterator[tuple[int, int, bytes, bytes]]:
        with self._connection.cursor(binary=True) as cursor:
            cursor.execute(
                SQL(
                    "SELECT word, segment, narrow, wide FROM word_blocks"
                    " WHERE base_id = %s AND segment = ANY(%s::int[]) AND word = ANY(%s::int[])"
                ),
                (self._base, numbers(self._segments), numbers(ids)),
            )
            yield from cursor

    @cached_property
    def _segments(self) -> dict[int, _Segment]:
        """By their numbers, in their order."""
        with self._connection.cursor(binary=True) as cursor:
            cursor.execute(
                "SELECT id, gone, fresh, wide FROM word_segments WHERE base_id = %s ORDER BY id",
                (self._base,),
            )
            return {
                number: _Segment(
                    np.array(gone, "i8"), None if fresh is None else Packed.read(fresh, wide)
                )
                for number, gone, fresh, wide in cursor
            }

    def _with_phrase(self, phrase: list[str], prefix: bool) -> Details:
        """Candidates have all of the words; that they stand in a row is looked up in the text."""
        exact = {key_of(stem) for stem in (phrase[:-1] if prefix else phrase)}
        ids = self._exactly(exact)
        if len(ids) < len(exact):
            return Details.nothing()
        lists = sorted((one.chunks for one in self.of_words(ids).values()), key=len)
        candidates = lists[0]
        for other in lists[1:]:
            candidates = np.intersect1d(candidates, other, assume_unique=True)
        rows = gathering.rows(
            self._connection,
            SQL(
                "SELECT c.id, c.title, coalesce(c.heading, ''), c.text, c.terms FROM chunks c"
                " WHERE c.base_id = %s AND c.id = ANY(%s::bigint[]) ORDER BY c.id"
            ),
            (self._base, numbers(candidates.tolist())),
        )
        found = []
        for chunk, *fields in sorted(rows):
            split = [stems(field) for field in fields]
            counts = [occurrences(field, phrase, prefix) for field in split]
            if any(counts):
                found.append((chunk, sum(map(len, split)), *counts))
        if not found:
            return Details.nothing()
        columns = np.array(found, "i8").T
        return Details(columns[0], columns[1], columns[2:])
