"""Writing the words of chunks: once for a whole transaction, when its documents are written."""

from collections import Counter

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
    def doubled(self) -> bool:
        """Whether the base has so many more chunks that the planner's view of its tables is out
        of date: at each doubling, so that filling a base has few analyses, not one a batch."""
        before, now = self._before // MANY_CHUNKS, (self._before + self._chunks) // MANY_CHUNKS
        return now.bit_length() > before.bit_length()

    def _known_words(self) -> dict[str, int]:
        """The id of each stem, new ones included; how many chunks have it is kept in step."""
        having = Counter(stem for _, counts in self._indexed.values() for stem in counts)
        known = {
            stem: word for stem, (word, _) in ids_of(self._connection, self._base, having).items()
        }
        for stem in having:
            if stem not in known:
                known[stem] = self._next_word
                self._next_word += 1
        self._connection.execute(
            "INSERT INTO words (base_id, id, stem, chunks) SELECT %s, * FROM"
            " unnest(%s::int[], %s::text[], %s::bigint[]) ON CONFLICT (base_id, stem)"
            " DO UPDATE SET chunks = words.chunks + excluded.chunks",
            (self._base, [known[stem] for stem in having], list(having), list(having.values())),
        )
        return known

    def _write_postings(self, known: dict[str, int]) -> None:
        columns = "base_id, word, chunk, length, title, heading, text, terms"
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY postings ({columns}) FROM STDIN") as copy,
        ):
            for chunk, (length, counts) in self._indexed.items():
                for stem, numbers in counts.items():
                    copy.write_row((self._base, known[stem], chunk, length, *numbers))
