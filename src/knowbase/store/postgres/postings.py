"""Writing the words of chunks: once for a whole transaction, when its documents are written."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from psycopg import Connection

from knowbase.store.postgres.bulk import array, copy_rows, numbers
from knowbase.store.postgres.record import Recording

if TYPE_CHECKING:
    from knowbase.store.postgres.counting import Counted

MANY_CHUNKS = 50  # a transaction that writes so many may want another index or plan


def drop_unused(connection: Connection, base: int, words: Collection[int] | None = None) -> None:
    """Forget those of the words, or of all, that nothing has, nor had."""
    connection.execute(
        "DELETE FROM words w WHERE w.base_id = %s AND (%s::int[] IS NULL OR w.id = ANY(%s::int[]))"
        " AND w.chunks <= 0 AND NOT EXISTS"
        " (SELECT 1 FROM past_postings p WHERE p.base_id = w.base_id AND p.word = w.id)",
        (base, *(2 * (None if words is None else numbers(words),))),
    )


class Postings(Recording):
    """What a transaction changes of the words, and how it ends up in the tables."""

    _is_copy = False  # whether a whole base is being copied
    _next_seq: int
    _next_chunk: int
    _next_word: int
    _unindexed: set[int]  # chunks whose words are to be forgotten
    _lost: Counter[str]  # stems, and how many of those chunks had each
    _indexed: "dict[int, Counted]"  # chunks that are written, and where their words are counted
    _chunks: int  # how many more there are
    _before: int  # how many there were
    _length: int

    def _forget_words(self, chunks: Collection[int]) -> None:
        """Of chunks that change or go, before they do: which they had is counted in their text."""
        written = [one for one in chunks if self._indexed.pop(one, None) is None]
        written = [one for one in written if one not in self._unindexed]
        if not written:
            return
        from knowbase.store.postgres.counting import Counted

        stored = self._connection.execute(
            "SELECT id, title, coalesce(heading, ''), text, terms FROM chunks"
            " WHERE base_id = %s AND id = ANY(%s::bigint[])",
            (self._base, numbers(written)),
        )
        self._lost.update(Counted.of({row[0]: row[1:] for row in stored}).having())
        self._unindexed.update(written)

    def _write_words(self) -> None:
        """Forget the words of changed chunks, write those of new ones, keep the totals."""
        if self._unindexed or self._indexed:
            from knowbase.store.postgres.blocks import Packed, packed
            from knowbase.store.postgres.segments import Segments

            segments = Segments(self._connection, self._base)
            segments.drop(self._unindexed)
            counted = self._counted()
            known = self._known_words(counted)
            new = Packed.joined([packed(one, known) for one in counted])
            segments.add(new, is_copy=self._is_copy)
        self._connection.execute(
            "UPDATE bases SET next_seq = %s, next_chunk = %s, next_word = %s,"
            " chunks = chunks + %s, length = length + %s WHERE id = %s",
            (
                *(self._next_seq, self._next_chunk, self._next_word),
                *(self._chunks, self._length, self._base),
            ),
        )

    def _counted(self) -> "list[Counted]":
        """What is to be indexed, as often as documents were written; mostly once."""
        batches = {id(one): one for one in self._indexed.values()}
        return [
            one.among([chunk for chunk, where in self._indexed.items() if where is one])
            for one in batches.values()
        ]

    @property
    def grew(self) -> bool:
        """Whether much was written."""
        return len(self._indexed) >= MANY_CHUNKS

    @property
    def outgrew_plans(self) -> bool:
        """Whether the base has so many more chunks that the planner's view of its tables is out
        of date: at 400, and each time that it is sixteen times as large, so that filling a base
        has few analyses, not one a batch. How many rows there are, it sees by itself."""
        before, now = self._before // MANY_CHUNKS, (self._before + self._chunks) // MANY_CHUNKS
        return now.bit_length() // 4 > before.bit_length() // 4

    def _known_words(self, counted: "Sequence[Counted]") -> dict[str, int]:
        """The id of each stem, new ones included; how many chunks have it is kept in step."""
        connection, base = self._connection, self._base
        having: Counter[str] = Counter()
        for one in counted:
            having.update(one.having())
        more: Mapping[str, int] = having
        if self._lost:
            stems = having.keys() | self._lost.keys()
            more = {stem: having[stem] - self._lost[stem] for stem in stems}
        known: dict[str, int] = dict(
            connection.execute(
                "UPDATE words w SET chunks = w.chunks + n.number"
                " FROM unnest(%s::text[], %s::bigint[]) AS n (stem, number)"
                " WHERE w.base_id = %s AND w.stem = n.stem RETURNING w.stem, w.id",
                (array(more), numbers(more.values()), base),
            )
        )
        if self._lost:
            drop_unused(connection, base, known.values())
        new = {
            stem: word
            for word, stem in enumerate((s for s in having if s not in known), self._next_word)
        }
        self._next_word += len(new)
        lines = [(base, word, stem, having[stem]) for stem, word in new.items()]
        copy_rows(connection, "words", ("base_id", "id", "stem", "chunks"), lines)
        return known | new
