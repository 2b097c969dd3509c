"""Writing the words of chunks: once for a whole transaction, when its documents are written."""

from collections import Counter

from knowbase.store.postgres.bulk import copy_postings, copy_rows, numbers
from knowbase.store.postgres.record import Recording
from knowbase.store.postgres.words import Counts, ids_of

MANY_CHUNKS = 50  # a transaction that writes so many may want another index or plan


class Postings(Recording):
    """What a transaction changes of the words, and how it ends up in the tables."""

    _next_seq: int
    _next_chunk: int
    _next_word: int
    _unindexed: set[int]  # chunks whose words are to be forgotten
    _indexed: dict[int, tuple[int, dict[str, Counts]]]
    _documents: dict[int, int]  # of chunks that are indexed
    _chunks: int  # how many more there are
    _before: int  # how many there were
    _length: int

    def _write_words(self) -> None:
        """Forget the words of changed chunks, write those of new ones, keep the totals."""
        connection, base = self._connection, self._base
        if self._unindexed:
            gone = (base, list(self._unindexed))
            connection.execute(
                "UPDATE words w SET chunks = w.chunks - g.number FROM (SELECT word, count(*)"
                " AS number FROM postings WHERE base_id = %s AND chunk = ANY(%s) GROUP BY word) g"
                " WHERE w.base_id = %s AND w.id = g.word",
                (*gone, base),
            )
            connection.execute("DELETE FROM postings WHERE base_id = %s AND chunk = ANY(%s)", gone)
        if self._indexed:
            self._write_postings(self._known_words())
        if self._unindexed:
            connection.execute("DELETE FROM words WHERE base_id = %s AND chunks <= 0", (base,))
        connection.execute(
            "UPDATE bases SET next_seq = %s, next_chunk = %s, next_word = %s,"
            " chunks = chunks + %s, length = length + %s WHERE id = %s",
            (
                *(self._next_seq, self._next_chunk, self._next_word),
                *(self._chunks, self._length, base),
            ),
        )

    @property
    def grew(self) -> bool:
        """Whether much was written."""
        return len(self._indexed) >= MANY_CHUNKS

    @property
    def outgrew_plans(self) -> bool:
        """Whether the base has so many more chunks that the planner's view of its tables is out
        of date: when it is four times as large, so that filling a base has few analyses, not one
        a batch."""
        before, now = self._before // MANY_CHUNKS, (self._before + self._chunks) // MANY_CHUNKS
        return (now.bit_length() + 1) // 2 > (before.bit_length() + 1) // 2

    def _known_words(self) -> dict[str, int]:
        """The id of each stem, new ones included; how many chunks have it is kept in step."""
        having = Counter(stem for _, counts in self._indexed.values() for stem in counts)
        known = {
            stem: word for stem, (word, _) in ids_of(self._connection, self._base, having).items()
        }
        self._connection.execute(
            "UPDATE words w SET chunks = w.chunks + n.number"
            " FROM unnest(%s::int[], %s::bigint[]) AS n (id, number)"
            " WHERE w.base_id = %s AND w.id = n.id",
            (numbers(known.values()), numbers(having[stem] for stem in known), self._base),
        )
        new = {
            stem: word
            for word, stem in enumerate((s for s in having if s not in known), self._next_word)
        }
        self._next_word += len(new)
        copy_rows(
            self._connection,
            "words",
            ("base_id", "id", "stem", "chunks"),
            [(self._base, word, stem, having[stem]) for stem, word in new.items()],
        )
        return known | new

    def _write_postings(self, known: dict[str, int]) -> None:
        copy_postings(
            self._connection,
            self._base,
            [
                (known[stem], chunk, length, *where)
                for chunk, (length, counts) in self._indexed.items()
                for stem, where in counts.items()
            ],
            self._documents,
        )
