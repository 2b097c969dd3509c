"""The legs of retrieval in the plain store, and what they refer to."""

from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import AbstractContextManager, nullcontext

from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.query.predicate import passes
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.bm25 import has_word, scores
from knowbase.store.facets import Ages, Counted, counted, values_of
from knowbase.store.nearest import nearest as nearest_vectors
from knowbase.store.plain.documents import PlainDocuments
from knowbase.store.plain.filtering import resolved
from knowbase.text.analysis import Word, stem_of
from knowbase.text.spelling import ALIKE, MOST_ALIKE, as_written, nearest
from knowbase.values.documents import ALL, Candidate, Passage
from knowbase.values.vectors import Model, Vector


class PlainRetrieval(PlainDocuments):
    """See `knowbase.store.contract.RetrievalStore` for what each method promises."""

    def one_state(self) -> AbstractContextManager[None]:
        return nullcontext()

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        query.check_rule()
        counted = {document.id for document in self._passing(query.among)}
        stored = self._state.chunks.items()
        rows = {key: one.row for key, one in stored if one.document in counted}
        return self._best(scores(rows, query, weights), condition, limit)

    def matching(self, query: KeywordQuery, condition: Condition) -> int:
        found = self.keyword(query, condition, len(self._state.chunks), FieldWeights())
        return len({self._state.chunks[one.chunk].document for one in found})

    def frequencies(self, words: Sequence[Word], among: Condition = EVERYTHING) -> Frequencies:
        ours = {document.id for document in self._passing(among)}
        rows = [one.row for one in self._state.chunks.values() if one.document in ours]
        return Frequencies(
            len(rows), tuple(sum(has_word(row, word) for row in rows) for word in words)
        )

    def semantic(
        self, vector: Vector, condition: Condition, limit: int, model: Model | None = None
    ) -> list[Candidate]:
        known = self._vectors(model)
        found = {
            one.chunk: one.score
            for one in nearest_vectors(vector, len(known), lambda _: known.items())
            if vector and known
        }
        return self._best(found, condition, limit)

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        rows = [stored.row for stored in self._state.chunks.values()]
        return [
            word
            for word in words
            if stem_of(word.surface) and not any(has_word(row, word) for row in rows)
        ]

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        stem = stem_of(word.surface)
        stored = self._state.chunks.values()
        begun = stem[:ALIKE]
        known = {s for one in stored for field in one.row for s in field if s.startswith(begun)}
        some = sorted(known)[:MOST_ALIKE]
        texts = " ".join(
            f"{self._state.documents[one.document].title} {one.chunk.heading} {one.chunk.text}"
            for one in stored
        )
        return [as_written(near, texts) for near in nearest(stem, some, limit)]

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        allowed = self._allowed(condition)
        found = []
        for document in self._passing(EVERYTHING):
            chunks = [one for one in self.chunks(document.id) if one.chunk_id in allowed]
            found += chunks[:1]
        return found[:limit]

    def facets(self, condition: Condition, wanted: Sequence[str], ages: Ages) -> Counted:
        found = [one.document for one in self.newest(condition, ALL.limit)]
        numbers = {
            one: Counter(v for d in found for v in values_of(d, one, ages)) for one in wanted
        }
        return counted((one, *pair) for one in wanted for pair in numbers[one].items())

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        return {key: self._passage(key) for key in chunks if key in self._state.chunks}

    def _best(self, found: dict[int, float], condition: Condition, limit: int) -> list[Candidate]:
        allowed = self._allowed(condition)
        kept = [Candidate(key, score) for key, score in found.items() if key in allowed]
        return sorted(kept, key=lambda c: (-c.score, c.chunk))[: max(limit, 0)]

    def _allowed(self, condition: Condition) -> set[int]:
        """The chunks that pass."""
        condition = resolved(self._state, condition)
        return {
            key
            for key, stored in self._state.chunks.items()
            if passes(
                self._state.documents[stored.document],
                condition,
                lambda word, row=stored.row: has_word(row, word),  # type: ignore[misc]
            )
        }
