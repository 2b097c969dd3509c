"""A store in plain Python: small, slow and obvious. The other stores are tested against it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from knowbase.errors import ModelMismatch
from knowbase.query.conditions import (
    EVERYTHING,
    AllOf,
    AnyOf,
    Condition,
    Not,
    OneOf,
    Under,
)
from knowbase.query.predicate import passes
from knowbase.query.words import KeywordQuery
from knowbase.store.memory.bm25 import Row, has_word, scores
from knowbase.store.values import FieldWeights, Page
from knowbase.text.analysis import Word, index_terms, stems
from knowbase.text.spelling import as_written, nearest, stem_of
from knowbase.types import (
    Candidate,
    Changes,
    Chunk,
    Counts,
    Document,
    Draft,
    FileRecord,
    Model,
    Passage,
    Source,
    Vector,
    assigned_codes,
    names_of,
    scope_of,
)


class _Stored(NamedTuple):
    """A chunk with what belongs to it."""

    document: str
    position: int
    chunk: Chunk
    row: Row
    vector: Vector | None


class _State(NamedTuple):
    """Everything; a change makes a new one, so that a failure leaves the old."""

    documents: dict[str, Document]
    chunks: dict[int, _Stored]
    files: dict[str, FileRecord]
    sources: dict[str, Source]
    next_seq: int = 1
    next_chunk: int = 1


class MemoryStore:
    """See `knowbase.store.Store` for what each method promises."""

    def __init__(self) -> None:
        self._state = _State({}, {}, {}, {})
        self._model: Model | None = None

    def close(self) -> None:
        """Nothing to close."""

    # writing

    def apply(self, changes: Changes, now: str) -> list[Document]:
        old = self._state
        state = old._replace(
            documents=dict(old.documents),
            chunks=dict(old.chunks),
            files=dict(old.files),
            sources=dict(old.sources),
        )
        for document in changes.removed:
            state = _without(state, document)
        ids: dict[str | None, str] = {}
        for given in changes.drafts:
            draft = _adopted(state, given)
            ids[given.id] = draft.id
            state = _without_rival(state, draft)
            state = _with(state, draft, now, self._model)
        for record in changes.files:
            owner = ids.get(record.document, record.document)
            state.files[record.path] = record._replace(document=owner)
        for path in changes.forgotten:
            state.files.pop(path, None)
        state.sources.update({source.path: source for source in changes.sources})
        for path in changes.dropped_sources:
            state.sources.pop(path, None)
        self._state = state
        return [state.documents[ids[draft.id]] for draft in changes.drafts]

    def use_model(self, model: Model) -> None:
        if self._model not in (None, model):
            raise ModelMismatch("the base was made with another model", field="embed.model")
        self._model = model

    # documents

    def find(self, reference: str) -> Document | None:
        documents = self._state.documents.values()
        by_id = [d for d in documents if d.id == reference]
        by_code = [d for d in documents if d.code.lower() == reference.lower()]
        by_path = [d for d in documents if d.path == reference]
        by_seq = [d for d in documents if str(d.seq) == reference]
        return next(iter([*by_id, *by_code, *by_path, *by_seq]), None)

    def documents(self, condition: Condition, page: Page) -> list[Document]:
        return self._passing(condition)[page.offset : page.offset + page.limit]

    def count(self, condition: Condition) -> int:
        return len(self._passing(condition))

    def chunks(self, document: str) -> list[Passage]:
        found = [
            (s.position, key) for key, s in self._state.chunks.items() if s.document == document
        ]
        return [self._passage(key) for _, key in sorted(found)]

    def codes(self) -> list[str]:
        return [d.code for d in sorted(self._state.documents.values(), key=lambda d: d.seq)]

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        counted = Counter(tag for d in self._passing(condition) for tag in d.tags)
        return sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))

    # retrieval

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        rows = {key: stored.row for key, stored in self._state.chunks.items()}
        return self._best(scores(rows, query, weights), condition, limit)

    def semantic(self, vector: Vector, condition: Condition, limit: int) -> list[Candidate]:
        query = _numbers(vector)
        found = {
            key: sum(a * b for a, b in zip(query, _numbers(stored.vector), strict=True))
            for key, stored in self._state.chunks.items()
            if stored.vector is not None and vector
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
        known = {s for one in stored for field in one.row for s in field if s[:1] == stem[:1]}
        texts = " ".join(
            f"{self._state.documents[one.document].title} {one.chunk.heading} {one.chunk.text}"
            for one in stored
        )
        return [as_written(near, texts) for near in nearest(stem, sorted(known), limit)]

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        allowed = self._allowed(condition)
        found = []
        for document in self._passing(EVERYTHING):
            chunks = [one for one in self.chunks(document.id) if one.chunk_id in allowed]
            found += chunks[:1]
        return found[:limit]

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        return {key: self._passage(key) for key in chunks if key in self._state.chunks}

    # files

    def sources(self) -> list[Source]:
        return sorted(self._state.sources.values())

    def files(self) -> dict[str, FileRecord]:
        return dict(self._state.files)

    def problems(self) -> list[FileRecord]:
        return sorted(r for r in self._state.files.values() if r.problem is not None)

    # vectors and the whole

    def model(self) -> Model | None:
        return self._model

    def vectors(self, hashes: Collection[str]) -> Mapping[str, Vector]:
        return {
            stored.chunk.hash: stored.vector
            for stored in self._state.chunks.values()
            if stored.vector is not None and stored.chunk.hash in hashes
        }

    def counts(self) -> Counts:
        chunks = self._state.chunks.values()
        return Counts(
            documents=len(self._state.documents),
            chunks=len(chunks),
            embedded=sum(stored.vector is not None for stored in chunks),
            tags=len(self.tags(EVERYTHING)),
            by_type=Counter(document.type for document in self._state.documents.values()),
        )

    # inside

    def _passing(self, condition: Condition) -> list[Document]:
        condition = self._resolved(condition)
        found = [d for d in self._state.documents.values() if passes(d, condition)]
        found.sort(key=lambda document: document.seq)
        return sorted(found, key=lambda document: document.updated_at, reverse=True)

    def _best(self, found: dict[int, float], condition: Condition, limit: int) -> list[Candidate]:
        allowed = self._allowed(condition)
        kept = [Candidate(key, score) for key, score in found.items() if key in allowed]
        return sorted(kept, key=lambda c: (-c.score, c.chunk))[: max(limit, 0)]

    def _allowed(self, condition: Condition) -> set[int]:
        """The chunks that pass."""
        condition = self._resolved(condition)
        return {
            key
            for key, stored in self._state.chunks.items()
            if passes(
                self._state.documents[stored.document],
                condition,
                lambda word, row=stored.row: has_word(row, word),  # type: ignore[misc]
            )
        }

    def _resolved(self, condition: Condition) -> Condition:
        """`Under` as the documents that it means now."""
        if isinstance(condition, Under):
            return OneOf("id", tuple(self._below(condition)))
        if isinstance(condition, Not):
            return Not(self._resolved(condition.part))
        if isinstance(condition, AllOf | AnyOf):
            return condition._replace(parts=tuple(map(self._resolved, condition.parts)))
        return condition

    def _below(self, condition: Under) -> set[str]:
        found: set[str] = set()
        names = {name.lower() for name in condition.names}
        while True:
            new = {
                d.id: d
                for d in self._state.documents.values()
                if d.parent is not None and d.parent.lower() in names and d.id not in found
            }
            found |= set(new)
            if not new or condition.direct:
                return found
            names = {n.lower() for d in new.values() for n in (d.code, d.id, d.path) if n}

    def _passage(self, key: int) -> Passage:
        stored = self._state.chunks[key]
        return Passage(key, stored.chunk, self._state.documents[stored.document])


def _adopted(state: _State, draft: Draft) -> Draft:
    known = [d.id for d in state.documents.values() if d.path and d.path == draft.path]
    return draft if draft.id in state.documents or not known else draft._replace(id=known[0])


def _without_rival(state: _State, draft: Draft) -> _State:
    """Without another document at the draft's path: it belongs to the one that moved there."""
    rivals = [
        d.id
        for d in state.documents.values()
        if d.path and d.path == draft.path and d.id != draft.id
    ]
    return _without(state, rivals[0]) if rivals else state


def _without(state: _State, document: str) -> _State:
    state.documents.pop(document, None)
    kept = {key: s for key, s in state.chunks.items() if s.document != document}
    return state._replace(chunks=kept)


def _with(state: _State, draft: Draft, now: str, model: Model | None) -> _State:
    """The state with the draft's document; a chunk that stays keeps its number."""
    old = state.documents.get(draft.id)
    seq = old.seq if old else state.next_seq
    next_seq = state.next_seq if old else seq + 1
    state.documents[draft.id] = _document(state, draft, old, seq, now)
    before = {
        (s.chunk.slug, s.chunk.chunk_index): (key, s)
        for key, s in state.chunks.items()
        if s.document == draft.id
    }
    chunks = {key: s for key, s in state.chunks.items() if s.document != draft.id}
    number = state.next_chunk
    for position, chunk in enumerate(draft.chunks):
        key, stored = before.get((chunk.slug, chunk.chunk_index), (number, None))
        number += stored is None
        vector = draft.vectors[position] if model else None
        if stored is not None and stored.vector is not None and stored.chunk.hash == chunk.hash:
            vector = stored.vector
        chunks[key] = _Stored(
            draft.id, position, chunk, _row(draft, chunk, state.documents[draft.id].code), vector
        )
    return state._replace(chunks=chunks, next_seq=next_seq, next_chunk=number)


def _document(state: _State, draft: Draft, old: Document | None, seq: int, now: str) -> Document:
    reading = draft.reading
    taken = {d.code.lower() for d in state.documents.values() if d.id != draft.id}
    free = (one for one in assigned_codes(seq) if one.lower() not in taken)
    code = old.code if old else next(free)
    if reading.code is not None and reading.code.lower() not in taken:
        code = reading.code
    return Document(
        id=draft.id,
        seq=seq,
        code=code,
        title=reading.title,
        type=reading.type,
        tags=tuple(sorted(set(reading.tags))),
        path=draft.path,
        created_at=old.created_at if old else now,
        updated_at=draft.updated_at,
        parent=reading.parent,
        project=reading.project,
        roles=reading.roles,
        confidence=reading.confidence,
        archived=reading.archived,
        expires_at=reading.expires_at,
        superseded_by=reading.superseded_by,
        valid_until=reading.valid_until,
        scope=scope_of(reading),
        sector=reading.sector,
        tier=reading.tier,
        salience=reading.salience,
        access_count=old.access_count if old else 0,
        last_accessed_at=old.last_accessed_at if old else None,
        metadata=reading.metadata,
    )


def _row(draft: Draft, chunk: Chunk, code: str) -> Row:
    reading = draft.reading
    names = names_of(code, draft.path)
    terms = index_terms(reading.type, names, reading.title, chunk.heading, chunk.text)
    return tuple(map(stems, (reading.title, chunk.heading or "", chunk.text, terms)))


def _numbers(vector: Vector | None) -> Sequence[float]:
    return memoryview(vector or b"").cast("f")
