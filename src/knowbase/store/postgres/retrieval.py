"""The legs of retrieval, and what they refer to.

Words are the same as everywhere (`text/analysis.py`), and BM25 is computed from the same
counts as FTS5 computes it (`scores.py`): `word_blocks` has them for each word of each chunk.
"""

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL, Composable

from knowbase.query.conditions import EVERYTHING, Condition, is_everything
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store import partial as part
from knowbase.store.bm25 import Population, idf
from knowbase.store.compile import Compiled
from knowbase.store.facets import Ages, Counted, counted, statement
from knowbase.store.nearest import nearest as nearest_vectors
from knowbase.store.postgres import gathering, rows
from knowbase.store.postgres.bulk import numbers
from knowbase.store.postgres.cluster import apart, is_distributed
from knowbase.store.postgres.compile import Statement, compile_for_chunks
from knowbase.store.postgres.connection import Connected
from knowbase.store.postgres.english import ENTRY
from knowbase.store.postgres.filtering import Filtered
from knowbase.store.postgres.spelling import Spelling
from knowbase.store.postgres.vector_tables import (
    as_text,
    is_of_halves,
    lists_of,
    probes_of,
    unpacked,
    vector_table,
)
from knowbase.store.postgres.words import key_of
from knowbase.text.analysis import Word, stems
from knowbase.values.documents import Candidate, Passage
from knowbase.values.vectors import Model, Vector

if TYPE_CHECKING:
    from knowbase.store.postgres.blocks import Postings
    from knowbase.store.postgres.wordlists import WordLists

MOST = 2**31 - 1  # as many as there are
EXACT = 20_000  # up to so many vectors that pass are compared one by one
BY_INDEX = SQL("v.embedding <=> %s::vector")
BY_HALVES = "v.embedding::halfvec({size}) <=> %s::halfvec({size})"
ONE_BY_ONE = SQL("(v.embedding <=> %s::vector) + 0")  # an order that no index has


class PostgresRetrieval(Connected):
    """See `knowbase.store.contract.RetrievalStore` for what each method promises."""

    def one_state(self) -> AbstractContextManager[None]:
        return nullcontext()

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        if not query.words or limit < 1:
            return []
        if query.rule == "ts_rank_cd":
            return self._connections.consistently(
                lambda connection: self._cover_density(connection, query.text, condition, limit)
            )
        return self._connections.consistently(
            lambda connection: self._keyword(connection, query, condition, (limit, weights))
        )

    def matching(self, query: KeywordQuery, condition: Condition) -> int:
        found = self.keyword(query, condition, MOST, FieldWeights())
        statement = SQL(
            "SELECT count(DISTINCT document) FROM chunks WHERE base_id = %s AND id = ANY(%s)"
        )
        return int(self._read(statement, (self._base, [one.chunk for one in found]))[0][0])

    def _keyword(
        self,
        connection: Connection,
        query: KeywordQuery,
        condition: Condition,
        asked: tuple[int, FieldWeights],
    ) -> list[Candidate]:
        from knowbase.store.postgres.scores import Scoring, Term

        limit, weights = asked
        population = self._population(connection, query.among)
        terms = [
            Term(weight * idf(population.rows, counted.having), counted.having, counted.read)
            for counted, (_, weight) in zip(
                self._counted(connection, query), query.weighed, strict=True
            )
            if counted.having
        ]
        scoring = Scoring(terms, population.average, weights)
        least = len(query.words) if query.match == "all" else 1
        filtered = self._filtered(connection, condition)
        return filtered.best(limit, partial(scoring.best, least=least), EXACT)

    def _cover_density(
        self, connection: Connection, text: str, condition: Condition, limit: int
    ) -> list[Candidate]:
        """S4-05: every word, as English; scores by how near they stand, divided by length."""
        test, values = self._filtered(connection, condition).of(SQL("e.id"))
        entry = ENTRY.format("e")
        statement = SQL(
            f"SELECT e.id, ts_rank_cd({entry}, q.query, 2)::float8 AS score"
            " FROM plainto_tsquery('english', %s) AS q (query) JOIN chunks e"
            f" ON e.base_id = %s AND {entry} @@ q.query WHERE"
            " {} ORDER BY score DESC, e.id LIMIT %s"
        ).format(test)
        asked = (text.replace("\0", " "), self._base, *values, limit)
        found = gathering.rows(connection, statement, asked)
        found.sort(key=lambda row: (-row[1], row[0]))
        return [Candidate(chunk, score) for chunk, score in found[:limit]]

    def _population(self, connection: Connection, among: Condition) -> Population:
        """How many chunks there are in this part, and how many words they have together."""
        if is_everything(among):
            found = connection.execute(
                "SELECT chunks, length FROM bases WHERE id = %s", (self._base,)
            ).fetchall()
        else:
            test, values = self._for_chunks(connection, among)
            statement = SQL(
                "SELECT count(*), coalesce(sum(c.length), 0) FROM chunks c"
                " WHERE c.base_id = %s AND {}"
            ).format(test)
            found = gathering.rows(connection, statement, (self._base, *values))
        return Population(sum(int(row[0]) for row in found), sum(int(row[1]) for row in found))

    def _counted(self, connection: Connection, query: KeywordQuery) -> "list[_Counted]":
        """Each word of a query: how many chunks have it, and how it is found out which."""
        lists = self._lists(connection)
        words = [word for word, _ in query.weighed]
        split = [stems(word.surface) for word in words]
        plain = [
            key_of(one[0]) if len(one) == 1 and not word.prefix else None
            for word, one in zip(words, split, strict=True)
        ]
        known = lists.known({key for key in plain if key is not None})
        found = []
        for word, key in zip(words, plain, strict=True):
            if key is None:
                postings = lists.of(word)
                found.append(_Counted(postings.having, partial(_given, postings)))
            else:
                number, having = known.get(key, (0, 0))
                found.append(_Counted(having, partial(lists.of_word, number)))
        if is_everything(query.among):
            return found
        passing = self._filtered(connection, query.among).all()
        return [one.among(passing) for one in found]

    def frequencies(self, words: Sequence[Word], among: Condition = EVERYTHING) -> Frequencies:
        def count(connection: Connection) -> Frequencies:
            query = KeywordQuery(tuple(words), among=among)
            having = [one.having for one in self._counted(connection, query)]
            return Frequencies(self._population(connection, among).rows, tuple(having))

        return self._connections.consistently(count)

    def semantic(
        self, vector: Vector, condition: Condition, limit: int, model: Model | None = None
    ) -> list[Candidate]:
        known = self._model(model) if vector and limit > 0 else None
        if known is None:
            return []
        self._check_vectors()
        return self._connections.consistently(
            lambda connection: self._nearest(connection, known, (vector, condition, limit))
        )

    def _nearest(
        self,
        connection: Connection,
        known: tuple[int, Model],
        asked: tuple[Vector, Condition, int],
    ) -> list[Candidate]:
        vector, condition, limit = asked
        number, model = known
        filtered = self._filtered(connection, condition)
        few = None if filtered.passes_all else filtered.few(EXACT)
        if gathering.is_partial(connection):
            test, values = _named(few) if few is not None else filtered.of(SQL("v.chunk"))
            where = SQL("FROM {} v WHERE v.base_id = %s AND v.model = %s AND {} AND {}").format(
                vector_table(model.dimensions), self._that_hold(), test
            )
            scope = (self._base, number, *values)
            return gathering.nearest_of_shards(connection, where, scope, (vector, limit))
        by_index = few is None and self._has_many(connection, known)
        statement = SQL(
            "SELECT v.chunk, v.embedding FROM {} v WHERE v.base_id = %s AND v.model = %s AND {}"
            " AND {} ORDER BY {} LIMIT %s"
        )

        def ordered(test: Statement, order: Composable, most: int) -> list[tuple[int, Vector]]:
            table = vector_table(model.dimensions)
            whole = statement.format(table, self._that_hold(), test[0], order)
            with connection.cursor(binary=True) as cursor:
                cursor.execute(whole, (self._base, number, *test[1], as_text(vector), most))
                return [(chunk, unpacked(given)) for chunk, given in cursor]

        def propose(most: int) -> list[tuple[int, Vector]]:
            if by_index:
                order = self._widened(connection, model, most)
                found = ordered(filtered.of(SQL("v.chunk")), order, most)
                if len(found) >= min(most, EXACT):
                    return found  # else it gave up too early: more than that pass
            if filtered.passes_all:
                return ordered((SQL("true"), []), ONE_BY_ONE, most)
            return ordered(_named(filtered.all() if few is None else few), ONE_BY_ONE, most)

        return nearest_vectors(vector, limit, propose)

    def _that_hold(self) -> Composable:
        """Which of the vectors are of what the chunks say."""
        return SQL("true")

    def _has_many(self, connection: Connection, known: tuple[int, Model]) -> bool:
        """Whether there are so many vectors that comparing each takes long."""
        number, model = known
        statement = SQL(
            "SELECT count(*) FROM (SELECT 1 FROM {} v WHERE v.base_id = %s AND v.model = %s"
            " LIMIT %s) many"
        ).format(vector_table(model.dimensions))
        row = connection.execute(statement, (self._base, number, EXACT + 1)).fetchone()
        return row is not None and row[0] > EXACT

    def _widened(self, connection: Connection, model: Model, number: int) -> Composable:
        """The order that an index has, which is to look as far as it must for so many."""
        breadth = min(max(400, 4 * number), 1000)
        if is_distributed(connection):
            connection.execute("SET LOCAL citus.propagate_set_commands = local")
        connection.execute(SQL("SET LOCAL hnsw.ef_search = {}").format(breadth))
        lists = lists_of(connection, model.dimensions)
        if lists:
            connection.execute(SQL("SET LOCAL ivfflat.probes = {}").format(probes_of(lists)))
        if self._vectors_known >= (0, 8):
            connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            connection.execute("SET LOCAL ivfflat.iterative_scan = relaxed_order")
        size = model.dimensions
        return SQL(BY_HALVES).format(size=size) if is_of_halves(connection, size) else BY_INDEX

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        return Spelling(self._connections, self._base, self._lists).unknown(words)

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        return Spelling(self._connections, self._base, self._lists).nearest(word, limit)

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        return self._connections.consistently(
            lambda connection: self._newest(connection, condition, limit)
        )

    def _newest(self, connection: Connection, condition: Condition, limit: int) -> list[Passage]:
        test, values = self._for_chunks(connection, condition)
        statement = SQL(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM"
            " (SELECT DISTINCT ON (c.document) c.base_id, c.id, c.document FROM chunks c"
            " WHERE c.base_id = %s AND {} ORDER BY c.document, c.position) first"
            " JOIN chunks c ON c.base_id = first.base_id AND c.id = first.id"
            " AND c.document = first.document"
            " JOIN documents d ON d.base_id = c.base_id AND d.seq = c.document"
            " ORDER BY d.updated_at DESC, d.seq LIMIT %s"
        ).format(test)
        found = gathering.rows(connection, statement, (self._base, *values, limit))
        passages = [rows.passage(row) for row in found]
        passages.sort(key=lambda one: one.document.seq)
        passages.sort(key=lambda one: one.document.updated_at, reverse=True)
        return passages[:limit]

    def facets(self, condition: Condition, wanted: Sequence[str], ages: Ages) -> Counted:
        def count(connection: Connection) -> Counted:
            test, values = self._for_chunks(connection, condition)
            matching = (
                "SELECT d.type, d.tags, d.project, d.path, d.updated_at, d.created_at"
                " FROM documents d"
                " WHERE d.base_id = %s AND d.seq IN"
                " (SELECT c.document FROM chunks c WHERE c.base_id = %s AND {})"
            )
            tags = "CROSS JOIN LATERAL unnest(m.tags) AS t (name)"
            found = statement(matching, wanted, tags, ages, "%s")
            query = SQL(found.sql).format(test)
            own = (self._base, self._base, *values, *found.values)
            return counted(gathering.summed(gathering.rows(connection, query, own)))

        return self._connections.consistently(count) if wanted else {}

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        statement = SQL(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM chunks c JOIN documents d"
            " ON d.base_id = c.base_id AND d.seq = c.document"
            " WHERE c.base_id = %s AND c.id = ANY(%s)"
        )
        values = (self._base, list(chunks))
        if part.current() is None:
            found = self._read(statement, values)
        else:
            found = self._connections.run(lambda within: gathering.rows(within, statement, values))
        return {row[0]: rows.passage(row) for row in found}

    # inside

    def _lists(self, connection: Connection) -> "WordLists":
        from knowbase.store.postgres.wordlists import WordLists

        return WordLists(connection, self._base)

    def _having(self, connection: Connection) -> Any:
        """Which chunks have a word, as a condition on `chunks AS c`."""

        def having(word: Word) -> Compiled:
            found = self._lists(connection).of(word).chunks
            return Compiled("c.id = ANY(%s::bigint[])", [numbers(found.tolist())])

        return having

    def _for_chunks(self, connection: Connection, condition: Condition) -> Statement:
        """The condition over `chunks AS c`."""
        having = self._having(connection)
        return compile_for_chunks(condition, having, apart(connection, self._base))

    def _filtered(self, connection: Connection, condition: Condition) -> Filtered:
        return Filtered(connection, self._base, condition, self._having(connection))


class _Counted(NamedTuple):
    """A word: how many chunks have it, and who says which."""

    having: int
    read: "Callable[[], Postings]"

    def among(self, chunks: Sequence[int]) -> "_Counted":
        """The same, as a part of the base has it."""
        import numpy as np

        from knowbase.store.postgres.blocks import places

        postings = self.read()
        at = places(np.array(chunks, "i8"), postings.chunks)
        postings = postings.taken(np.flatnonzero(at >= 0))
        return _Counted(postings.having, partial(_given, postings))


def _named(chunks: Sequence[int]) -> Statement:
    """That a vector is one of these chunks'."""
    return SQL("v.chunk = ANY(%s::bigint[])"), [numbers(chunks)]


def _given(postings: "Postings") -> "Postings":
    return postings
