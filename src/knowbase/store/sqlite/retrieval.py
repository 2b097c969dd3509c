"""The legs of retrieval, and what they refer to."""

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from knowbase.query.conditions import (
    EVERYTHING,
    Condition,
    Not,
    has_text,
    is_everything,
    is_lifecycle,
)
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.compile import Compiled
from knowbase.store.nearest import nearest as nearest_vectors
from knowbase.store.rows import damaged
from knowbase.store.sqlite import rows, schema
from knowbase.store.sqlite.compile import (
    compile_condition,
    compile_for_chunks,
    match_expression,
)
from knowbase.store.sqlite.connection import translated
from knowbase.store.sqlite.vector_tables import stored_vectors, vector_table
from knowbase.store.sqlite.vectors import WithIndex
from knowbase.text.analysis import Word, stems
from knowbase.text.spelling import ALIKE, MOST_ALIKE, as_written, nearest, stem_of
from knowbase.values.documents import Candidate, Passage

if TYPE_CHECKING:
    from knowbase.store.facets import Ages, Counted
    from knowbase.store.sqlite.scan import Among
    from knowbase.store.sqlite.vectors import Propose
    from knowbase.store.sqlite.word_index import InStep as WordsInStep
    from knowbase.values.vectors import Model, Vector

LAST = "\U0010ffff"  # sorts after every word
FEW = 1000  # chunks that are compared each for itself; documents that are listed as failing
MOST_NEIGHBOURS = 4096  # sqlite-vec's own limit for a nearest-neighbour query


class SqliteRetrieval(WithIndex):
    """See `knowbase.store.contract.RetrievalStore` for what each method promises."""

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        query.check_rule()
        if not query.words or limit < 1:
            return []
        with translated(), self._connections.get():  # one state, for who passes and what it has
            if not is_everything(query.among):
                return self._keyword_among(query, condition, limit, weights)
            indexed = self._keyword_by_index(query, condition, limit, weights)
            if indexed is not None:
                return indexed
            # The + keeps FTS5 in the lead: driven by ids, it would match again for each of them.
            where, values = passing = self._passing("+rowid", condition)
            if any(weight != 1 for _, weight in query.weighed):
                return self._keyword_by_weight(query, passing, limit, weights)
            found = self._read(
                "SELECT rowid, -bm25(chunks_fts, ?, ?, ?, ?) AS score FROM chunks_fts"
                f" WHERE chunks_fts MATCH ?{where} ORDER BY score DESC, rowid LIMIT ?",
                (*weights, match_expression(query), *values, limit),
            )
        return _candidates(found)

    def _keyword_by_index(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate] | None:
        """The same by the index of words, where there is one and it can tell."""
        words = self._words()
        if words is None:
            return None
        from knowbase.store.sqlite.word_scores import best

        among = self._among_them(condition)
        found = best(self._connections.get(), words, query, weights, among, limit)
        return None if found is None else [Candidate(*one) for one in found]

    def _keyword_by_weight(
        self, query: KeywordQuery, passing: Compiled, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        from knowbase.store.sqlite.scoring import statement_by_weight

        sql, given = statement_by_weight(query, weights, passing)
        return _candidates(self._read(f"{sql} ORDER BY score DESC, id LIMIT ?", (*given, limit)))

    def matching(self, query: KeywordQuery, condition: Condition) -> int:
        query.check_rule()
        if not query.words:
            return 0
        with translated(), self._connections.get():
            where, values = self._passing("+rowid", condition)
            found = self._read(
                "SELECT count(DISTINCT document) FROM chunks WHERE id IN"
                f" (SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?{where})",
                (match_expression(query), *values),
            )
        return int(found[0][0])

    def frequencies(self, words: Sequence[Word], among: Condition = EVERYTHING) -> Frequencies:
        if not is_everything(among):
            from knowbase.store.sqlite.scoring import counted_among

            with translated():
                return counted_among(self._connections.get(), words, among)
        with translated(), self._connections.get():
            index = self._words()
            having = tuple(self._having(word, index) for word in words)
            rows_there = index.population.rows if index else self._chunks_there()
        return Frequencies(rows_there, having)

    def _chunks_there(self) -> int:
        return int(self._read("SELECT count(*) FROM chunks")[0][0])

    def _having(self, word: Word, index: "WordsInStep | None") -> int:
        """How many chunks have a word; of a plain one, the index knows it."""
        found = stems(word.surface)
        if not found:
            return 0
        if len(found) == 1 and not word.prefix:
            if index is not None:
                return sum(part.having(found[0]) for part in index.parts)
            known = self._vocabulary("SELECT doc FROM temp.words WHERE term = ?", (found[0],))
            return int(known[0][0]) if known else 0
        counted = self._read(
            "SELECT count(*) FROM chunks_fts WHERE chunks_fts MATCH ?",
            (match_expression(KeywordQuery((word,))),),
        )
        return int(counted[0][0])

    def _keyword_among(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        from knowbase.store.sqlite.scoring import scores_among

        with translated():
            scores = scores_among(self._connections.get(), query, weights)
        sql, values = self._for_chunks(condition)
        passing = self._read(
            "SELECT c.id FROM json_each(?) scored CROSS JOIN chunks c ON c.id = scored.value"
            f" WHERE {sql}",
            ("[" + ",".join(map(str, scores)) + "]", *values),
        )
        found = [Candidate(chunk, scores[chunk]) for (chunk,) in passing]
        return sorted(found, key=lambda one: (-one.score, one.chunk))[:limit]

    def semantic(
        self, vector: "Vector", condition: Condition, limit: int, model: "Model | None" = None
    ) -> list[Candidate]:
        if not vector or limit < 1:
            return []
        with translated(), self._connections.with_vectors() as connection:  # one state
            number = self._model_id(connection, model)
            propose = self._proposing(number, vector, condition) if number is not None else None
            found = nearest_vectors(vector, limit, propose) if propose else []
        return found  # noqa: RET504 - within, it would not be a return for type checkers

    def _proposing(self, model: int, vector: "Vector", condition: Condition) -> "Propose":
        indexed = self._indexed(model, vector, lambda: self._among_them(condition))
        if indexed is not None:
            return indexed
        if "numpy" not in sys.modules or not self._all_pass(condition):
            return self._proposing_among(model, vector, condition)
        return self._compared(model, vector)

    def _proposing_among(self, model: int, vector: "Vector", condition: Condition) -> "Propose":
        """Few that pass are each read for itself; else all are compared but those that fail."""
        if self._all_pass(condition):
            return self._by_engine(model, vector, condition)
        few = None if self._failing(condition) else self._few(condition, vector_table(model))
        if few is not None:
            found = self._read(stored_vectors(vector_table(model)), (str(few),))
            return lambda _: found
        if "numpy" not in sys.modules:
            return self._by_engine(model, vector, condition)
        return self._compared(model, vector, self._among_them(condition))

    def _among_them(self, condition: Condition) -> "Among | None":
        """Which chunks pass, or do not, when those are few; None when all of them do. Found once
        for both legs."""
        if self._all_pass(condition):
            return None
        sql, values = self._for_chunks(condition)
        key = (self._connections.state(), sql, *values)
        known = self._connections.passing
        if known is None or known[0] != key:
            known = self._connections.passing = (key, self._find_among(condition))
        among: Among = known[1]
        return among

    def _find_among(self, condition: Condition) -> "Among":
        from knowbase.store.sqlite.scan import Among, numbers_in

        failing = self._failing(condition)
        words = None if failing or has_text(condition) else self._words()
        if words is not None:  # it knows whose each chunk is: five documents are listed for 25
            sql, values = compile_condition(condition)
            listed = self._read(f"SELECT group_concat(d.seq) FROM documents d WHERE {sql}", values)
            return Among(words.chunks_of(numbers_in(listed[0][0])), inverted=False)
        sql, values = failing or self._for_chunks(condition)
        listed = self._read(f"SELECT group_concat(c.id) FROM chunks c WHERE {sql}", values)
        return Among(numbers_in(listed[0][0]), inverted=failing is not None)

    def _compared(self, model: int, vector: "Vector", among: "Among | None" = None) -> "Propose":
        from knowbase.store.sqlite.scan import Compared

        self._connections.map_file()
        return Compared(self._connections.get(), model, vector, among).nearest

    def _by_engine(self, model: int, vector: "Vector", condition: Condition) -> "Propose":
        where, values = self._passing("chunk_id", condition)
        table = vector_table(model)

        def propose(most: int) -> list[tuple[Any, ...]]:
            if most > MOST_NEIGHBOURS:
                sql = (
                    f"SELECT chunk_id, embedding FROM {table} WHERE 1{where}"
                    " ORDER BY vec_distance_cosine(embedding, ?) LIMIT ?"
                )
                return self._read(sql, (*values, vector, most))
            sql = f"SELECT chunk_id, embedding FROM {table} WHERE embedding MATCH ? AND k = ?"
            return self._read(sql + where, (vector, most, *values))

        return propose

    def _few(self, condition: Condition, table: str) -> list[int] | None:
        """The chunks that pass, when they are so few that each is better read for itself: that
        takes as long as a scan over twenty, and adding up without numpy ten times as long."""
        last = self._numbers(f"SELECT coalesce(max(rowid), 0) FROM {table}_rowids LIMIT ?", [])[0]
        most = min(FEW, last // (20 if "numpy" in sys.modules else 200))
        sql, values = self._for_chunks(condition)
        found = self._numbers(f"SELECT c.id FROM chunks c WHERE {sql} LIMIT ?", values)
        return found if len(found) <= most else None

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        """By the places of words: the list of words counts who has each before it says one."""
        found = [(word, stem) for word in words if (stem := stem_of(word.surface))]
        exact = {stem for word, stem in found if not word.prefix}
        known = self._vocabulary(  # a stem has nothing that JSON would escape
            "SELECT s.value FROM json_each(?) s"
            " WHERE EXISTS (SELECT 1 FROM temp.places p WHERE p.term = s.value)",
            ('["' + '","'.join(exact) + '"]',) if exact else ("[]",),
        )
        there = {term for (term,) in known}
        return [
            word
            for word, stem in found
            if not (self._begins(stem) if word.prefix else stem in there)
        ]

    def _begins(self, stem: str) -> bool:
        """Whether a word begins so."""
        sql = "SELECT 1 FROM temp.places WHERE term >= ? AND term < ? LIMIT 1"
        return bool(self._vocabulary(sql, (stem, stem + LAST)))

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        stem = stem_of(word.surface)
        found = self._vocabulary(
            "SELECT term FROM temp.words WHERE term >= ? AND term < ? LIMIT ?",
            (stem[:ALIKE], stem[:ALIKE] + LAST, MOST_ALIKE),
        )
        return [self._as_written(near) for near in nearest(stem, (t for (t,) in found), limit)]

    def _as_written(self, stem: str) -> str:
        found = self._vocabulary(
            "SELECT title || ' ' || coalesce(heading, '') || ' ' || text FROM chunks WHERE id ="
            " (SELECT doc FROM temp.places WHERE term = ? LIMIT 1)",
            (stem,),
        )
        return as_written(stem, found[0][0]) if found else stem

    def _vocabulary(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read the index's own list of words, through a table of this connection alone."""
        with translated():
            connection = self._connections.get()
            connection.execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING"
                " fts5vocab(main, chunks_fts, row);"
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.places USING"
                " fts5vocab(main, chunks_fts, instance)"
            )
            return connection.execute(sql, values).fetchall()

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        sql, values = self._for_chunks(condition)
        found = self._read(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM"
            f" (SELECT c.document, min(c.position) AS position FROM chunks c WHERE {sql}"
            " GROUP BY c.document) first"
            " CROSS JOIN documents d ON d.seq = first.document"
            " CROSS JOIN chunks c ON c.document = d.seq AND c.position = first.position"
            " ORDER BY d.updated_at DESC, d.seq LIMIT ?",
            (*values, limit),
        )
        return [rows.passage(row) for row in found]

    def facets(self, condition: Condition, wanted: Sequence[str], ages: "Ages") -> "Counted":
        from knowbase.store.facets import counted, statement

        sql, values = self._for_chunks(condition)
        matching = (
            "SELECT d.seq, d.type, d.project, d.path, d.updated_at, d.created_at FROM documents d"
            f" WHERE d.seq IN (SELECT c.document FROM chunks c WHERE {sql})"
        )
        tags = "JOIN tags t ON t.document = m.seq"
        found = statement(matching, wanted, tags, ages, "?")
        return counted(self._read(found.sql, (*values, *found.values))) if wanted else {}

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        found = self._read(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM json_each(?) wanted"
            " CROSS JOIN chunks c ON c.id = wanted.value JOIN documents d ON d.seq = c.document",
            ("[" + ",".join(map(str, chunks)) + "]",),
        )
        return {row[0]: rows.passage(row) for row in found}

    def _for_chunks(self, condition: Condition) -> Compiled:
        """The condition over `chunks AS c`."""
        return compile_for_chunks(condition)

    def _passing(self, column: str, condition: Condition) -> Compiled:
        """`AND column IN` the chunks of documents that pass; nothing when all of them do."""
        return Compiled("", []) if self._all_pass(condition) else self._among(column, condition)

    def _among(self, column: str, condition: Condition) -> Compiled:
        """Not those of the documents that fail, when these are few; sqlite-vec knows only IN."""
        failing = None if column == "chunk_id" else self._failing(condition)
        sql, values = failing or self._for_chunks(condition)
        test = "IN" if failing is None else "NOT IN"
        return Compiled(f" AND {column} {test} (SELECT c.id FROM chunks c WHERE {sql})", values)

    def _numbers(self, sql: str, values: Sequence[Any]) -> list[int]:
        """The first of what a query finds, one more than are few."""
        with translated():
            found: Any = self._connections.get().execute(sql, (*values, FEW + 1))
            return [number for (number,) in found]

    def _all_pass(self, condition: Condition) -> bool:
        return is_lifecycle(condition) and (is_everything(condition) or not self._has_lifecycle())

    def _failing(self, condition: Condition) -> Compiled | None:
        """The chunks of the documents that fail, when those are few: they are listed sooner
        than what all others have. Looked for once for both legs."""
        if has_text(condition):
            return None
        sql, values = compile_condition(Not(condition))
        with translated():
            key = (self._connections.state(), sql, *values)
        known = self._connections.failing
        if known is None or known[0] != key:
            query = f"SELECT d.seq FROM documents d WHERE {sql} LIMIT ?"
            known = self._connections.failing = (key, self._numbers(query, values))
        if len(known[1]) > FEW:
            return None
        listed = "[" + ",".join(map(str, known[1])) + "]"
        return Compiled("c.document IN (SELECT value FROM json_each(?))", [listed])

    def _has_lifecycle(self) -> bool:
        """Whether any document could be hidden: one look at a partial index."""
        found = self._read(f"SELECT 1 FROM documents WHERE {schema.HAS_A_LIFECYCLE} LIMIT 1")
        return bool(found)


def _candidates(found: Iterable[tuple[Any, ...]]) -> list[Candidate]:
    """Chunks with their scores; damaged numbers give none."""
    candidates = [Candidate(chunk, score) for chunk, score in found]
    if any(one.score is None for one in candidates):
        raise damaged()
    return candidates
