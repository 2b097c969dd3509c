"""The legs of retrieval, and what they refer to."""

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from contextlib import AbstractContextManager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from knowbase.query.conditions import (
    EVERYTHING,
    Condition,
    Contains,
    both,
    has_text,
    is_everything,
)
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.compile import Compiled
from knowbase.store.halves import whole
from knowbase.store.nearest import nearest as nearest_vectors
from knowbase.store.rows import damaged
from knowbase.store.sqlite import rows
from knowbase.store.sqlite.compile import by_column, match_expression
from knowbase.store.sqlite.connection import translated
from knowbase.store.sqlite.passing import WithPassing, flattened
from knowbase.store.sqlite.vector_tables import stored_vectors
from knowbase.text.analysis import Word, stem_of, stems
from knowbase.values.documents import Candidate, Passage

if TYPE_CHECKING:
    from knowbase.store.facets import Ages, Counted
    from knowbase.store.sqlite.scan import Among
    from knowbase.store.sqlite.vectors import Propose
    from knowbase.store.sqlite.word_index import InStep as WordsInStep
    from knowbase.values.documents import Document
    from knowbase.values.vectors import Model, Vector

Key = TypeVar("Key")
Value = TypeVar("Value")
Read: TypeAlias = Callable[[Set[Key]], dict[Key, Value]]
MANY = 2_000  # documents that have a word: more are not put in order for a few of them
ROWID = "+rowid"  # keeps FTS5 in the lead: driven by ids, it would match again for each of them
LAST = "\U0010ffff"  # sorts after every word
MOST_READ = 2_000  # documents and words that are kept when they were read: some 5 MB
MOST_PASSAGES = 10_000  # a base with more keeps none: 12 MB
WITHOUT_NUMPY = 2_000  # vectors that are compared sooner than numpy is loaded


class SqliteRetrieval(WithPassing):
    """See `knowbase.store.contract.RetrievalStore` for what each method promises."""

    def one_state(self) -> AbstractContextManager[None]:
        with translated():  # a thread that asks first connects
            return self._connections.reading()

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        query.check_rule()
        if not query.words or limit < 1:
            return []
        with self._connections.reading():  # one state, for who passes and what it has
            if not is_everything(query.among):
                return self._keyword_among(query, condition, limit, weights)
            indexed = self._keyword_by_index(query, condition, limit, weights)
            if indexed is not None:
                return indexed
            where, values = passing = self._passing(ROWID, condition)
            if any(weight != 1 for _, weight in query.weighed):
                return self._keyword_by_weight(query, passing, limit, weights)
            found = self._read(
                "SELECT rowid, -bm25(chunks_fts, ?, ?, ?, ?) AS score FROM chunks_fts"
                f" WHERE chunks_fts MATCH ?{where} ORDER BY score DESC, rowid LIMIT ?",
                (*by_column(weights), match_expression(query), *values, limit),
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
            words = self._words()
            stem = _only_stem(query)
            if words is not None and stem and not has_text(condition):
                return len(set(words.having(stem, self._among_them(condition))[1].tolist()))
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
            plain = (stem for word in words if not word.prefix for stem in stems(word.surface))
            counts = self._counted(set(plain)) if index is None else {}
            having = tuple(self._having(word, index, counts) for word in words)
            rows_there = index.population.rows if index else self._chunks_there()
        return Frequencies(rows_there, having)

    def _counted(self, wanted: Set[str]) -> Mapping[str, int]:
        """How many chunks have each stem, by the index's own list."""

        def read(missing: Set[str]) -> dict[str, int]:
            found = self._vocabulary(
                "SELECT w.term, w.doc FROM json_each(?) s"
                " CROSS JOIN temp.words w ON w.term = s.value",
                (_listed(missing),),
            )
            return dict.fromkeys(missing, 0) | dict(found)

        return self._known("counted", wanted, read)

    def _having(self, word: Word, index: "WordsInStep | None", counts: Mapping[str, int]) -> int:
        """How many chunks have a word; of a plain one, the index knows it."""
        found = stems(word.surface)
        if not found:
            return 0
        if len(found) == 1 and not word.prefix:
            if index is not None:
                return sum(part.having(found[0]) for part in index.parts)
            return counts.get(found[0], 0)
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
        with translated(), self._connections.get() as connection:  # one state
            number = self._model_id(connection, model)
            propose = self._proposing(number, vector, condition) if number is not None else None
            found = nearest_vectors(vector, limit, propose) if propose else []
        return found  # noqa: RET504 - within, it would not be a return for type checkers

    def _proposing(self, model: int, vector: "Vector", condition: Condition) -> "Propose":
        """Few are compared sooner than numpy is loaded; else the index chooses, or all are."""
        if "numpy" not in sys.modules:
            few = self._few(model, condition)
            if few is not None:
                return lambda _: few
        among = self._among_them(condition)
        return self._indexed(model, vector, among) or self._compared(model, vector, among)

    def _few(self, model: int, condition: Condition) -> "list[tuple[int, Vector]] | None":
        """The vectors that pass, when there are not many."""
        where, values = self._for_chunks(condition)
        sql = f"SELECT c.id FROM chunks c WHERE {where} LIMIT {WITHOUT_NUMPY + 1}"
        chunks = [chunk for (chunk,) in self._read(sql, values)]
        if len(chunks) > WITHOUT_NUMPY:
            return None
        found = self._read(stored_vectors(model), (str(chunks),))
        return [(chunk, whole(half)) for chunk, half in found]

    def _compared(self, model: int, vector: "Vector", among: "Among | None") -> "Propose":
        from knowbase.store.sqlite.in_memory import InMemory
        from knowbase.store.sqlite.scan import Compared

        self._connections.map_file()
        connection, kept = self._connections.get(), self._connections.found
        in_memory = InMemory(connection, model, kept)
        return Compared(connection, model, vector, among, in_memory).nearest

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        found = [(word, stem) for word in words if (stem := stem_of(word.surface))]
        there = self._there({stem for word, stem in found if not word.prefix})
        begun = self._known(
            "begun",
            {stem for word, stem in found if word.prefix},
            lambda missing: {stem: self._begins(stem) for stem in missing},
        )
        return [word for word, stem in found if not (begun if word.prefix else there)[stem]]

    def _there(self, wanted: Set[str]) -> Mapping[str, object]:
        """Whether there are words: by their number in a small base, which the verdict asks for
        anyway; else by their places, as to count takes its time."""
        if self._is_small():
            return self._counted(wanted)

        def read(missing: Set[str]) -> dict[str, bool]:
            there = self._vocabulary(
                "SELECT s.value FROM json_each(?) s"
                " WHERE EXISTS (SELECT 1 FROM temp.places p WHERE p.term = s.value)",
                (_listed(missing),),
            )
            return dict.fromkeys(missing, False) | {term: True for (term,) in there}

        return self._known("there", wanted, read)

    def _begins(self, stem: str) -> bool:
        """Whether a word begins so."""
        sql = "SELECT 1 FROM temp.places WHERE term >= ? AND term < ? LIMIT 1"
        return bool(self._vocabulary(sql, (stem, stem + LAST)))

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        from knowbase.text.spelling import ALIKE, MOST_ALIKE, nearest

        stem = stem_of(word.surface)
        found = self._vocabulary(
            "SELECT term FROM temp.words WHERE term >= ? AND term < ? LIMIT ?",
            (stem[:ALIKE], stem[:ALIKE] + LAST, MOST_ALIKE),
        )
        return [self._as_written(near) for near in nearest(stem, (t for (t,) in found), limit)]

    def _as_written(self, stem: str) -> str:
        from knowbase.text.spelling import as_written

        found = self._vocabulary(
            "SELECT title || ' ' || coalesce(heading, '') || ' ' || plain(text) FROM chunks WHERE"
            " id = (SELECT doc FROM temp.places WHERE term = ? LIMIT 1)",
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
        with translated(), self._connections.get():
            passing = self._newest_of_many(condition, limit) or self._for_chunks(condition)
            found = self._newest(passing, limit)
        return found  # noqa: RET504 - within, it would not be a return for type checkers

    def _newest_of_many(self, condition: Condition, limit: int) -> Compiled | None:
        """The chunks that pass of the newest documents alone, where so many have a word that to
        order them all would take longer than to go over documents from the newest on."""
        parts = flattened(condition)
        asked = [part.word for part in parts if isinstance(part, Contains)]
        rest = [part for part in parts if not isinstance(part, Contains)]
        words = self._words() if len(asked) == 1 and not any(map(has_text, rest)) else None
        stem = _only_stem(KeywordQuery(tuple(asked))) if words is not None else None
        if words is None or stem is None:
            return None
        chunks, documents = words.having(stem, self._among_them(both(*rest)))
        having = set(documents.tolist())
        if len(having) <= MANY:
            return None
        rows: Any = self._connections.get().execute(
            "SELECT seq FROM documents ORDER BY updated_at DESC, seq"
        )
        first = list(islice((seq for (seq,) in rows if seq in having), limit))
        listed = [c for seq in first for c in chunks[documents == seq].tolist()]
        return Compiled("c.id IN (SELECT value FROM json_each(?))", [str(listed)])

    def _newest(self, passing: Compiled, limit: int) -> list[Passage]:
        sql, values = passing
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
        with self._connections.reading():  # one state
            if not self._is_small():
                return self._read_passages(chunks)
            known = self._known("passages", set(chunks), self._read_passages, MOST_PASSAGES)
        return {number: known[number] for number in chunks if number in known}

    def _is_small(self) -> bool:
        """Whether one search finds much of what the one before found."""
        return self._kept("last chunk", self._last_chunk) <= MOST_PASSAGES

    def _last_chunk(self) -> int:
        return int(self._read("SELECT coalesce(max(id), 0) FROM chunks")[0][0])

    def _read_passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        found = self._read(
            f"SELECT c.id, c.document, {rows.CHUNK} FROM json_each(?) wanted"
            " CROSS JOIN chunks c ON c.id = wanted.value",
            ("[" + ",".join(map(str, chunks)) + "]",),
        )
        documents = self._known("documents", {row[1] for row in found}, self._read_documents)
        return {
            number: Passage(number, rows.chunk(columns), documents[document])
            for number, document, *columns in found
            if document in documents
        }

    def _read_documents(self, numbers: Set[int]) -> "dict[int, Document]":
        found = self._read(
            f"SELECT {rows.DOCUMENT} FROM json_each(?) wanted CROSS JOIN documents d"
            " ON d.seq = wanted.value",
            ("[" + ",".join(map(str, numbers)) + "]",),
        )
        return {one.seq: one for one in map(rows.document, found)}

    def _known(
        self, name: str, keys: Set[Key], read: "Read[Key, Value]", most: int = MOST_READ
    ) -> "Mapping[Key, Value]":
        """What belongs to keys, and to some that were asked for before: until somebody writes, only
        what is missing is read."""
        kept = self._connections.found
        known: dict[Key, Value] | None = kept.get(name)
        if known is None or len(known) > most:
            known = kept.keep(name, {})
        missing = {key for key in keys if key not in known}
        if missing:
            known.update(read(missing))
        return known


def _only_stem(query: KeywordQuery) -> str | None:
    """What is looked for, when that is one plain word."""
    found = [(word, stems(word.surface)) for word, _ in query.weighed]
    if len(found) != 1 or found[0][0].prefix or len(found[0][1]) != 1:
        return None
    return found[0][1][0]


def _listed(stems: Collection[str]) -> str:
    """As JSON; a stem has nothing that JSON would escape."""
    return '["' + '","'.join(stems) + '"]' if stems else "[]"


def _candidates(found: Iterable[tuple[Any, ...]]) -> list[Candidate]:
    """Chunks with their scores; damaged numbers give none."""
    candidates = [Candidate(chunk, score) for chunk, score in found]
    if any(one.score is None for one in candidates):
        raise damaged()
    return candidates
