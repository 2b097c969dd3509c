"""The legs of retrieval, and what they refer to.

Words are the same as everywhere (`text/analysis.py`), and BM25 is computed from the same
counts as FTS5 computes it: `postings` has them for each word of each chunk.
"""

from collections.abc import Collection, Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.query.conditions import EVERYTHING, Condition, is_everything, is_lifecycle
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store import partial
from knowbase.store.bm25 import K1, B, Population, idf
from knowbase.store.compile import Compiled
from knowbase.store.facets import Ages, Counted, counted, statement
from knowbase.store.nearest import nearest as nearest_vectors
from knowbase.store.postgres import gathering, rows
from knowbase.store.postgres.cluster import apart, is_distributed
from knowbase.store.postgres.compile import Statement, compile_for_chunks
from knowbase.store.postgres.connection import Connected
from knowbase.store.postgres.spelling import Spelling
from knowbase.store.postgres.vector_tables import (
    as_text,
    lists_of,
    probes_of,
    unpacked,
    vector_table,
)
from knowbase.store.postgres.words import Matches, ids_of, key_of, matches_of
from knowbase.text.analysis import Word, stems
from knowbase.values.documents import Candidate, Passage
from knowbase.values.vectors import Model, Vector

MOST = 2**31 - 1  # as many as there are
EXACT = 20_000  # up to so many vectors that pass are compared one by one
BY_INDEX = "v.embedding <=> %s::vector"
ONE_BY_ONE = f"({BY_INDEX}) + 0"  # an order that no index has
_HAVING_OF_A_CLUSTER = (
    "EXISTS (SELECT 1 FROM postings p WHERE p.base_id = c.base_id AND p.word = %s"
    " AND p.document = c.document AND p.chunk = c.id)"
)
_SPECIAL = "unnest(%s::int[], %s::float8[], %s::bigint[], %s::int[], %s::float8[])"
_BY_CHUNK = {
    "document": SQL(""), "key": SQL("f.chunk"), "special": SQL(f"SELECT * FROM {_SPECIAL}"),
}  # fmt: skip
_BY_DOCUMENT = {
    "document": SQL("p.document, "),
    "key": SQL("f.document, f.chunk"),
    "special": SQL(
        "SELECT s.number, s.idf, c.document, s.chunk, s.length, s.tf"
        f" FROM {_SPECIAL} AS s (number, idf, chunk, length, tf)"
        " JOIN chunks c ON c.id = s.chunk AND c.base_id = %s"
    ),
}
"""What belongs together over a cluster: then each worker finds the best of its own."""
LIFECYCLE = (
    "archived OR expires_at IS NOT NULL OR superseded_by IS NOT NULL"
    " OR valid_until IS NOT NULL OR deleted_at IS NOT NULL"
)


class PostgresRetrieval(Connected):
    """See `knowbase.store.contract.RetrievalStore` for what each method promises."""

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
        limit, weights = asked
        population = self._population(connection, query.among)
        plain, special = self._words(connection, query)
        counts = [weight for _, weight in query.weighed]
        found = [
            (number, counts[number] * idf(population.rows, len(matches)), matches)
            for number, matches in special.items()
            if matches
        ]
        test, values = self._passing(connection, "f.chunk", condition)
        statement = SQL(
            "SELECT f.chunk, sum(f.idf * ((f.tf * {k}) / (f.tf + {k1} *"
            " ({rest} + {b} * f.length / %s))) ORDER BY f.number) AS score FROM ("
            "SELECT w.number, w.idf, {document}p.chunk, p.length,"
            " %s::float8 * p.title + %s::float8 * p.heading + %s::float8 * p.text"
            " + %s::float8 * p.terms AS tf"
            " FROM unnest(%s::int[], %s::int[], %s::float8[]) AS w (number, word, idf)"
            " JOIN postings p ON p.base_id = %s AND p.word = w.word"
            " UNION ALL {special}) AS f WHERE {passing}"
            " GROUP BY {key} HAVING count(*) >= %s ORDER BY score DESC, f.chunk LIMIT %s"
        ).format(
            **(_BY_DOCUMENT if is_distributed(connection) else _BY_CHUNK),
            k=_float(K1 + 1), k1=_float(K1), rest=_float(1 - B), b=_float(B), passing=test,
        )  # fmt: skip
        rows_found = gathering.rows(
            connection,
            statement,
            (
                population.average,
                *weights,
                [number for number, _, _ in plain],
                [word for _, word, _ in plain],
                [counts[number] * idf(population.rows, having) for number, _, having in plain],
                self._base,
                *_columns(found, weights),
                *([self._base] if is_distributed(connection) else ()),
                *values,
                len(query.words) if query.match == "all" else 1,
                limit,
            ),
        )
        return _best(rows_found, limit)

    def _cover_density(
        self, connection: Connection, text: str, condition: Condition, limit: int
    ) -> list[Candidate]:
        """S4-05: every word, as English; scores by how near they stand, divided by length."""
        test, values = self._passing(connection, "e.id", condition)
        statement = SQL(
            "SELECT e.id, ts_rank_cd(e.entry, q.query, 2)::float8 AS score"
            " FROM plainto_tsquery('english', %s) AS q (query) JOIN chunks e"
            " ON e.base_id = %s AND e.entry @@ q.query WHERE {} ORDER BY score DESC, e.id LIMIT %s"
        ).format(test)
        asked = (text.replace("\0", " "), self._base, *values, limit)
        return _best(gathering.rows(connection, statement, asked), limit)

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

    def _words(
        self, connection: Connection, query: KeywordQuery
    ) -> tuple[list[tuple[int, int, int]], dict[int, Matches]]:
        """Plain words as (place, id, chunks that have it); what each other word matches."""
        words = [word for word, _ in query.weighed]
        split = [stems(word.surface) for word in words]
        is_plain = [
            len(one) == 1 and not word.prefix for word, one in zip(words, split, strict=True)
        ]
        known = ids_of(
            connection, self._base, [s[0] for s, p in zip(split, is_plain, strict=True) if p]
        )
        plain = [
            (number, *known[key_of(split[number][0])])
            for number in range(len(split))
            if is_plain[number] and key_of(split[number][0]) in known
        ]
        special = {
            number: matches_of(connection, self._base, word)
            for number, word in enumerate(words)
            if not is_plain[number]
        }
        if not is_everything(query.among):
            plain, special = self._counted_among(connection, plain, special, query.among)
        return plain, special

    def _counted_among(
        self,
        connection: Connection,
        plain: list[tuple[int, int, int]],
        special: dict[int, Matches],
        among: Condition,
    ) -> tuple[list[tuple[int, int, int]], dict[int, Matches]]:
        """The words as a part of the base has them."""
        test, values = self._passing(connection, "p.chunk", among)
        counting = SQL(
            "SELECT p.word, count(*) FROM postings p WHERE p.base_id = %s"
            " AND p.word = ANY(%s) AND {} GROUP BY p.word"
        ).format(test)
        wanted = (self._base, [word for _, word, _ in plain], *values)
        having = dict(gathering.summed(gathering.rows(connection, counting, wanted)))
        matched = list({chunk for matches in special.values() for chunk in matches})
        test, values = self._passing(connection, "p.chunk", among, distributed=False)
        ours = {
            chunk
            for (chunk,) in gathering.rows(
                connection,
                SQL("SELECT p.chunk FROM unnest(%s::bigint[]) AS p (chunk) WHERE {}").format(test),
                (matched, *values),
            )
        }
        return (
            [(number, word, having[word]) for number, word, _ in plain if word in having],
            {
                number: {chunk: one for chunk, one in matches.items() if chunk in ours}
                for number, matches in special.items()
            },
        )

    def frequencies(self, words: Sequence[Word], among: Condition = EVERYTHING) -> Frequencies:
        def count(connection: Connection) -> Frequencies:
            query = KeywordQuery(tuple(words), among=among)
            plain, special = self._words(connection, query)
            having = {number: chunks for number, _, chunks in plain}
            having |= {number: len(matches) for number, matches in special.items()}
            rows_there = self._population(connection, among).rows
            return Frequencies(rows_there, tuple(having.get(n, 0) for n in range(len(words))))

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
        test, values = self._passing(connection, "v.chunk", condition)
        table = vector_table(model.dimensions)
        where = SQL("FROM {} v WHERE v.base_id = %s AND v.model = %s AND {}").format(table, test)
        scope = (self._base, number, *values)
        if gathering.is_partial(connection):
            return gathering.nearest_of_shards(connection, where, scope, (vector, limit))
        few = self._few(connection, where, scope)
        statement = SQL("SELECT v.chunk, v.embedding {} ORDER BY {} LIMIT %s")

        def ordered(order: str, number: int) -> list[tuple[int, Vector]]:
            with connection.cursor(binary=True) as cursor:
                cursor.execute(
                    statement.format(where, SQL(order)), (*scope, as_text(vector), number)
                )
                return [(chunk, unpacked(given)) for chunk, given in cursor]

        def propose(number: int) -> list[tuple[int, Vector]]:
            if not few:
                self._widen(connection, model, number)
                found = ordered(BY_INDEX, number)
                if len(found) >= min(number, EXACT):
                    return found  # else it gave up too early: more than that pass
            return ordered(ONE_BY_ONE, number)

        return nearest_vectors(vector, limit, propose)

    def _few(self, connection: Connection, where: Any, scope: tuple[Any, ...]) -> bool:
        """Whether so few vectors pass that comparing each is exact and fast."""
        statement = SQL("SELECT count(*) FROM (SELECT 1 {} LIMIT %s) few").format(where)
        row = connection.execute(statement, (*scope, EXACT + 1)).fetchone()
        return row is None or row[0] <= EXACT

    def _widen(self, connection: Connection, model: Model, number: int) -> None:
        """Let the index look as far as it must for so many that pass."""
        breadth = min(max(200, 2 * number), 1000)
        if is_distributed(connection):
            connection.execute("SET LOCAL citus.propagate_set_commands = local")
        connection.execute(SQL("SET LOCAL hnsw.ef_search = {}").format(breadth))
        lists = lists_of(connection, model.dimensions)
        if lists:
            connection.execute(SQL("SET LOCAL ivfflat.probes = {}").format(probes_of(lists)))
        if self._vectors_known >= (0, 8):
            connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            connection.execute("SET LOCAL ivfflat.iterative_scan = relaxed_order")

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        return Spelling(self._connections, self._base).unknown(words)

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        return Spelling(self._connections, self._base).nearest(word, limit)

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
        if partial.current() is None:
            found = self._read(statement, values)
        else:
            found = self._connections.run(lambda within: gathering.rows(within, statement, values))
        return {row[0]: rows.passage(row) for row in found}

    # inside

    def _passing(
        self, connection: Connection, column: str, condition: Condition, *, distributed: bool = True
    ) -> Statement:
        """That a column is one of the chunks that pass; true when all of them do. The column may
        be of a table that is distributed as they are, or not."""
        if is_lifecycle(condition) and (
            is_everything(condition) or not self._has_lifecycle(connection)
        ):
            return SQL("true"), []
        test, values = self._for_chunks(connection, condition)
        table = column.partition(".")[0]
        if is_distributed(connection) and distributed:
            passing = SQL(
                "({}.document, {}) IN (SELECT c.document, c.id FROM chunks c"
                " WHERE c.base_id = %s AND {})"
            ).format(SQL(table), SQL(column), test)
        else:
            passing = SQL("{} IN (SELECT c.id FROM chunks c WHERE c.base_id = %s AND {})").format(
                SQL(column), test
            )
        return passing, [self._base, *values]

    def _has_lifecycle(self, connection: Connection) -> bool:
        statement = SQL(f"SELECT 1 FROM documents WHERE base_id = %s AND ({LIFECYCLE}) LIMIT 1")
        return connection.execute(statement, (self._base,)).fetchone() is not None

    def _having(self, connection: Connection) -> Any:
        """Which chunks have a word, as a condition on `chunks AS c`."""

        def having(word: Word) -> Compiled:
            found = stems(word.surface)
            if is_distributed(connection) and len(found) == 1 and not word.prefix:
                number, _ = ids_of(connection, self._base, found).get(key_of(found[0]), (0, 0))
                return Compiled(_HAVING_OF_A_CLUSTER, [number])
            if len(found) == 1 and not word.prefix:
                return Compiled(
                    "EXISTS (SELECT 1 FROM words w JOIN postings p ON p.base_id = w.base_id"
                    " AND p.word = w.id WHERE w.base_id = c.base_id AND w.stem = %s"
                    " AND p.chunk = c.id)",
                    [key_of(found[0])],
                )
            return Compiled("c.id = ANY(%s)", [list(matches_of(connection, self._base, word))])

        return having

    def _for_chunks(self, connection: Connection, condition: Condition) -> Statement:
        """The condition over `chunks AS c`."""
        having = self._having(connection)
        return compile_for_chunks(condition, having, apart(connection, self._base))


def _columns(
    found: Sequence[tuple[int, float, Matches]], weights: FieldWeights
) -> tuple[list[Any], ...]:
    """Phrases and prefixes as columns: place, idf, chunk, length, weighted frequency."""
    lines = [
        (
            number,
            weight,
            chunk,
            length,
            sum(w * count for w, count in zip(weights, counts, strict=True)),
        )
        for number, weight, matches in found
        for chunk, (length, counts) in matches.items()
    ]
    return tuple([line[place] for line in lines] for place in range(5))


def _best(found: Sequence[Sequence[Any]], limit: int) -> list[Candidate]:
    """In one order, wherever they were found."""
    candidates = [Candidate(chunk, score) for chunk, score in found]
    return sorted(candidates, key=lambda one: (-one.score, one.chunk))[:limit]


def _float(number: float) -> Any:
    return SQL("{}::float8").format(number)
