"""A SQLite base as it was after a change: the same store, on connections that see it so.

Documents, tags, links and counts are read as ever, from views in place of the tables (`then.py`).
What is asked of the indexes of words and vectors is asked of both: of those of today, but for what
is not as it was, and of those of what was replaced.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw

from knowbase.query.conditions import (
    EVERYTHING,
    FORGOTTEN,
    Condition,
    Not,
    both,
    is_everything,
)
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.asked_of_the_past import refused
from knowbase.store.compile import Compiled
from knowbase.store.halves import whole
from knowbase.store.sqlite import then, then_words
from knowbase.store.sqlite.compile import compile_condition
from knowbase.store.sqlite.connection import as_json, translated
from knowbase.store.sqlite.parts import SqliteParts
from knowbase.store.sqlite.schema import HAS_A_LIFECYCLE
from knowbase.store.sqlite.then_connections import Moments, PastConnections
from knowbase.store.sqlite.vector_tables import stored_by_hash
from knowbase.text.analysis import Word, stem_of, stems
from knowbase.text.spelling import ALIKE, MOST_ALIKE, as_written, nearest
from knowbase.values.documents import Candidate, Document

if TYPE_CHECKING:
    from knowbase.store.contract import HistoryStore, Present, Store
    from knowbase.store.sqlite.scan import Among, Integers
    from knowbase.store.sqlite.vectors import Propose
    from knowbase.store.sqlite.word_index import InStep as WordsInStep
    from knowbase.store.sqlite.word_index import Loaded as LoadedWords
    from knowbase.values.edges import Edge, Wiring
    from knowbase.values.reading import Link
    from knowbase.values.vectors import Model, Vector

LAST = "\U0010ffff"  # sorts after every word
MAY_BE_HIDDEN = (
    f"SELECT seq FROM main.documents WHERE {HAS_A_LIFECYCLE}"
    f" UNION SELECT seq FROM temp.was_there WHERE flags & {then.MAY_BE_HIDDEN}"
)


class SqliteAsOf(SqliteParts):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(
        self,
        store: SqliteParts,
        present: "Present",
        moments: Moments,
        number: int,
    ) -> None:
        self._present = present
        self.path = store.path
        self._index_after = store._index_after
        if self._index_after:  # they are the same for all moments
            self._index, self._word_index = store._index, store._word_index
        self._moments, self._number = moments, number

    @property
    def _connections(self) -> PastConnections:  # type: ignore[override]
        return self._moments.at(self._number)

    def history(self) -> "HistoryStore":
        return self._present.history()

    def as_of(self, number: int) -> "Store":
        return self._present.as_of(number)

    def close(self) -> None:
        """The connections are the base's: it closes them."""

    def apply(self, *_: Any, **__: Any) -> list[Document]:
        raise refused()

    def link_similar(self, *_: Any, **__: Any) -> int:
        return 0

    def renew_index(self, **_: Any) -> bool:
        return False

    def lease(self, *_: Any) -> bool:
        return False

    @contextmanager
    def _one_state(self) -> Iterator[apsw.Connection]:
        """All that is read meanwhile is of one state of the base."""
        with translated(), self._connections.get():
            yield self._connections.get()

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._one_state() as connection:
            return connection.execute(sql, values).fetchall()

    def find(self, reference: str) -> Document | None:
        with self._one_state():
            return super().find(reference)

    def _covered(self, condition: Condition) -> tuple[int, int]:
        if not is_everything(condition):
            return super()._covered(condition)
        with self._one_state() as connection:
            model = self._model_id(connection)
            self._words()  # where there is an index, it has counted them
            chunks = then_words.population(self._connections).rows
            return chunks, 0 if model is None else self._connections.embedded(model, chunks)

    # words

    def _for_chunks(self, condition: Condition) -> Compiled:
        return then_words.compiler(self._connections.next_chunk).for_chunks(condition)

    def _words_in_step(
        self, connection: apsw.Connection, loaded: "LoadedWords"
    ) -> "WordsInStep | None":
        from knowbase.store.sqlite.then_index import in_step

        return in_step(self._connections, connection, self._word_index, loaded)

    def _all_pass(self, condition: Condition) -> bool:
        self._connections.get()
        return super()._all_pass(condition)

    def _has_lifecycle(self) -> bool:
        """Whether any document could be hidden, of today or of then."""
        return bool(self._read(f"{MAY_BE_HIDDEN} LIMIT 1"))

    def _hidden(self, lifecycle: Condition) -> "Integers":
        """Looked for among those alone that may be. Kept: `now` is always the same."""
        kept, key = self._connections.found, ("hidden", lifecycle)
        found: Integers | None = kept.get(key)
        if found is None:
            from knowbase.store.sqlite.scan import numbers_in

            sql, values = compile_condition(Not(lifecycle))
            listed = self._read(
                f"SELECT group_concat(d.seq) FROM ({MAY_BE_HIDDEN}) m"
                f" CROSS JOIN documents d ON d.seq = m.seq WHERE {sql}",
                values,
            )
            found = kept.keep(key, numbers_in(listed[0][0]))
        return found

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        query.check_rule()
        if not query.words or limit < 1:
            return []
        with self._one_state():
            if is_everything(query.among):
                indexed = self._keyword_by_index(query, condition, limit, weights)
                if indexed is not None:
                    return indexed
            allowed = self._passing("+rowid", condition)
            scores = then_words.scores(self._connections, query, weights, allowed, limit)
            sql, values = self._for_chunks(condition)
            passing = self._read(
                "SELECT c.id FROM json_each(?) scored CROSS JOIN chunks c ON c.id = scored.value"
                f" WHERE {sql}",
                ("[" + ",".join(map(str, scores)) + "]", *values),
            )
        found = [Candidate(chunk, scores[chunk]) for (chunk,) in passing]
        return sorted(found, key=lambda one: (-one.score, one.chunk))[:limit]

    def matching(self, query: KeywordQuery, condition: Condition) -> int:
        query.check_rule()
        if not query.words:
            return 0
        self._connections.get()
        any_of = then_words.matching(query, self._connections.next_chunk)
        sql, values = self._for_chunks(condition)
        found = self._read(
            f"SELECT count(DISTINCT c.document) FROM chunks c WHERE c.id IN ({any_of.sql})"
            f" AND {sql}",
            (*any_of.values, *values),
        )
        return int(found[0][0])

    def frequencies(self, words: Sequence[Word], among: Condition = EVERYTHING) -> Frequencies:
        with self._one_state():
            rows, index = then_words.population(self._connections, among).rows, self._words()
            return Frequencies(rows, tuple(self._count(word, index, among) for word in words))

    def _count(self, word: Word, index: "WordsInStep | None", among: Condition = EVERYTHING) -> int:
        """How many chunks had a word."""
        if not stems(word.surface):
            return 0
        if is_everything(among) and index is not None and _is_one_stem(word):
            from knowbase.store.sqlite.then_index import having as having_by_index

            return having_by_index(index, stems(word.surface)[0], word)
        having = then_words.matching(KeywordQuery((word,)), self._connections.next_chunk)
        if is_everything(among):
            return int(self._read(f"SELECT count(*) FROM ({having.sql})", having.values)[0][0])
        sql, values = self._for_chunks(among)
        found = self._read(
            f"SELECT count(*) FROM chunks c WHERE c.id IN ({having.sql}) AND {sql}",
            (*having.values, *values),
        )
        return int(found[0][0])

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        with self._one_state():
            index = self._words()
            return [one for one in words if stem_of(one.surface) and not self._has(one, index)]

    def _has(self, word: Word, index: "WordsInStep | None") -> bool:
        """Whether any chunk had a word."""
        if index is None or not _is_one_stem(word):
            return bool(self._count(word, index))
        from knowbase.store.sqlite.then_index import has

        return has(index, stems(word.surface)[0], word)

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        stem = stem_of(word.surface)
        start = stem[:ALIKE]
        with self._one_state() as connection:
            having = then_words.having_terms(self._connections.next_chunk)
            found: Any = connection.execute(
                f"SELECT DISTINCT term FROM ({having}) WHERE term >= ?1 AND term < ?2"
                " ORDER BY term LIMIT ?3",
                (start, start + LAST, MOST_ALIKE),
            ).fetchall()
            near = nearest(stem, (term for (term,) in found), limit)
            return [self._spelt(connection, having, one) for one in near]

    def _spelt(self, connection: apsw.Connection, having: str, stem: str) -> str:
        found: Any = connection.execute(
            "SELECT title || ' ' || coalesce(heading, '') || ' ' || plain(text) FROM chunks WHERE"
            f" id = (SELECT chunk FROM ({having}) WHERE term = ? LIMIT 1)",
            (stem,),
        ).get
        return as_written(stem, found) if found else stem

    # vectors

    def _passing(self, column: str, condition: Condition) -> Compiled:
        """Of the entries of today, those that are of what was said then."""
        sql, values = super()._passing(column, condition)
        then = then_words.as_they_are(self._connections.next_chunk, column)
        return Compiled(f" AND {then}{sql}", values)

    def _proposing(self, model: int, vector: "Vector", condition: Condition) -> "Propose":
        """The best of what is as it was, and of what was replaced since."""
        from knowbase.store.sqlite.scan import best_of

        among = self._among_them(condition)
        holding = self._as_they_are(among)
        now = self._indexed(model, vector, holding) or self._compared(model, vector, holding)
        past = self._connections.past_vectors(model)
        return lambda most: [*now(most), *best_of(past, vector, most, among)]

    def vectors(
        self, hashes: Collection[str], model: "Model | None" = None
    ) -> "Mapping[str, Vector]":
        """By the text alone, whenever it was there."""
        with self._one_state() as connection:
            number = self._model_id(connection, model)
            if number is None:
                return {}
            past: Any = connection.execute(
                "SELECT hash, embedding FROM main.past_vectors WHERE model = ?"
                " AND hash IN (SELECT value FROM json_each(?))",
                (number, as_json(hashes)),
            ).fetchall()
            now: Any = connection.execute(stored_by_hash(number), (as_json(hashes), number))
            return {digest: whole(half) for digest, half in (*past, *now.fetchall())}

    def _as_they_are(self, among: "Among | None") -> "Among":
        """Without the chunks whose vectors are of what they said later."""
        from knowbase.store.sqlite.scan import Among

        kept, key = self._connections.found, "as they are"
        as_they_are: Among | None = kept.get(key)
        if as_they_are is None:
            stale, end = self._connections.chosen().stale, self._connections.next_chunk
            as_they_are = kept.keep(key, Among.before(end, stale))
        if among is None:
            return as_they_are
        passing: Among | None = kept.get((key, among))
        return passing or kept.keep((key, among), among.and_(as_they_are))

    # relations and the graph

    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        """Counted here: to count a view, SQLite would read it whole."""
        sql, values = compile_condition(shown)
        way = (
            "SELECT o.id FROM json_each(?) wanted CROSS JOIN documents o ON o.id = wanted.value"
            " CROSS JOIN relations r ON r.{} = o.seq CROSS JOIN documents d ON d.seq = r.{}"
            f" WHERE {sql}"
        )
        found = [
            identity
            for ends in (("source", "target"), ("target", "source"))
            for (identity,) in self._read(way.format(*ends), (as_json(documents), *values))
        ]
        return dict(Counter(found))

    def _with_graph(self) -> None:
        with translated():
            self._connections.with_graph()

    def edges(self, condition: Condition) -> "list[Edge]":
        self._with_graph()
        return super().edges(condition)

    def wiring(self, condition: Condition) -> "Wiring":
        self._with_graph()
        return super().wiring(condition)

    def unresolved_in(self, documents: Collection[str]) -> "dict[str, list[Link]]":
        self._with_graph()
        return super().unresolved_in(documents)

    def dead_links(self) -> list[tuple[str, int]]:
        self._with_graph()
        return super().dead_links()

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> "list[Edge]":
        """Hop by hop: within a recursive query, a view would be read whole."""
        from knowbase.store.sqlite.graph import EDGE
        from knowbase.values.edges import Edge

        sql, values = compile_condition(both(Not(FORGOTTEN), condition))
        with self._one_state():
            self._connections.with_graph()
            starts = self._read(
                "SELECT d.seq FROM documents d WHERE d.deleted_at IS NULL"
                f" AND d.id IN ({', '.join('?' * len(documents))})",
                tuple(documents),
            )
            hops = dict.fromkeys((seq for (seq,) in starts), 0)
            for hop in range(1, depth + 1):
                here = _listed(seq for seq, at in hops.items() if at == hop - 1)
                reached = self._read(
                    "SELECT d.seq FROM json_each(?) w CROSS JOIN edges e ON e.source = w.value"
                    f" CROSS JOIN documents d ON d.seq = e.target WHERE {sql}"
                    " UNION SELECT d.seq FROM json_each(?) w CROSS JOIN edges e ON e.target ="
                    f" w.value CROSS JOIN documents d ON d.seq = e.source WHERE {sql}",
                    (here, *values, here, *values),
                )
                hops = {**{seq: hop for (seq,) in reached}, **hops}
            near = _listed(seq for seq, at in hops.items() if at < depth)
            found = self._read(
                f"SELECT s.seq, t.seq, {EDGE} FROM json_each(?) w CROSS JOIN edges e"
                " ON e.source = w.value CROSS JOIN documents s ON s.seq = e.source"
                " CROSS JOIN documents t ON t.seq = e.target"
                f" UNION SELECT s.seq, t.seq, {EDGE} FROM json_each(?) w CROSS JOIN edges e"
                " ON e.target = w.value CROSS JOIN documents s ON s.seq = e.source"
                " CROSS JOIN documents t ON t.seq = e.target",
                (near, near),
            )
        kept = [row for row in found if row[0] in hops and row[1] in hops]
        kept.sort(key=lambda row: (row[0], row[1], row[4]))
        return [Edge(*row[2:]) for row in kept]


def _is_one_stem(word: Word) -> bool:
    return len(stems(word.surface)) == 1 and not word.prefix


def _listed(numbers: Iterator[int]) -> str:
    return "[" + ",".join(map(str, numbers)) + "]"
