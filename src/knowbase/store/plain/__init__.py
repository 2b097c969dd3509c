"""A store in plain Python: small, slow and obvious. The other stores are tested against it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from knowbase.errors import ModelMismatch
from knowbase.query.conditions import (
    EVERYTHING,
    FORGOTTEN,
    Condition,
    Not,
)
from knowbase.query.predicate import passes
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.bm25 import has_word, scores
from knowbase.store.nearest import nearest as nearest_vectors
from knowbase.store.plain import graph
from knowbase.store.plain.copying import PlainCopying
from knowbase.store.plain.counting import Counting
from knowbase.store.plain.filtering import passing, resolved
from knowbase.store.plain.record import record
from knowbase.store.plain.saved import Saved
from knowbase.store.plain.state import State, adopted, remove, remove_rival, write
from knowbase.store.rules import check_chain, known_text
from knowbase.text.analysis import Word
from knowbase.text.spelling import as_written, nearest, stem_of
from knowbase.values.changes import Changes, renamed
from knowbase.values.documents import Candidate, Counts, Document, Page, Passage
from knowbase.values.edges import Edge, Relation
from knowbase.values.files import FileRecord, Source
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, StoredModel, Vector


class PlainStore(Saved, Counting):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(self) -> None:
        self._state = State()
        self._model: Model | None = None
        self._sources: dict[Model, str] = {}  # of every model, in order of arrival
        self._similar: list[Edge] = []

    def close(self) -> None:
        """Nothing to close."""

    # writing

    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:  # noqa: ARG002
        for edit in changes.edits:
            check_chain(edit, self.find)
        state = self._state.copied()
        for document in changes.removed:
            remove(state, document)
        ids: dict[str, str] = {}
        for given in changes.drafts:
            known = [d for d in _by_seq(state) if given.once and passes(d, known_text(given, now))]
            if known:
                ids[given.id] = known[0].id
                continue
            draft = adopted(state, given)
            ids[given.id] = draft.id
            remove_rival(state, draft)
            model = changes.model or self._model
            write(state, draft, now, model if model in self._sources else None)
        for file in changes.files:
            owner = ids.get(file.document or "", file.document)
            state.files[file.path] = file._replace(document=owner)
        for path in changes.forgotten:
            state.files.pop(path, None)
        state.sources.update({source.path: source for source in changes.sources})
        for path in changes.dropped_sources:
            state.sources.pop(path, None)
        record(state, renamed(changes, ids), now)
        self._state = state
        return [self._state.documents[ids[draft.id]] for draft in changes.drafts]

    # documents

    def find(self, reference: str) -> Document | None:
        documents = self._state.documents.values()
        by_id = [d for d in documents if d.id == reference]
        by_code = [d for d in documents if d.code.lower() == reference.lower()]
        by_path = [d for d in documents if d.path == reference]
        by_seq = [d for d in documents if str(d.seq) == reference]
        return next(iter([*by_id, *by_code, *by_path, *by_seq]), None)

    def documents(self, condition: Condition, page: Page) -> list[Document]:
        found = self._passing(condition)
        if page.order != "newest":
            clock = "expires_at" if page.order == "expires" else "created_at"
            backwards = page.order == "created last"
            found.sort(key=lambda d: (getattr(d, clock), d.seq), reverse=backwards)
        return found[page.offset : page.offset + page.limit]

    def count(self, condition: Condition) -> int:
        return len(self._passing(condition))

    def chunks(self, document: str) -> list[Passage]:
        found = [
            (s.position, key) for key, s in self._state.chunks.items() if s.document == document
        ]
        return [self._passage(key) for _, key in sorted(found)]

    def codes(self) -> list[str]:
        kept = [d for d in self._state.documents.values() if d.deleted_at is None]
        return [d.code for d in sorted(kept, key=lambda d: d.seq)]

    def openings(self, documents: Collection[str]) -> dict[str, str]:
        known = [one for one in documents if one in self._state.documents]
        first = {one: self.chunks(one)[:1] for one in known}
        return {one: "".join(passage.chunk.text for passage in first[one]) for one in known}

    def heads(self, documents: Collection[str]) -> dict[str, Document]:
        found = {}
        for start in documents:
            seen, last = {start}, self._state.documents.get(start)
            following = last and self._next(last)
            while following is not None and following.id not in seen:
                seen.add(following.id)
                last, following = following, self._next(following)
            ended = last is not None and following is None and last.id != start
            if last is not None and ended and last.deleted_at is None:
                found[start] = last
        return found

    def _next(self, document: Document) -> Document | None:
        name = document.superseded_by
        known = [d for d in self._state.documents.values() if name]
        by_id = [d for d in known if d.id == name]
        by_code = [d for d in known if d.code.lower() == (name or "").lower()]
        by_path = [d for d in known if d.path == name]
        return next(iter([*by_id, *by_code, *by_path]), None)

    # retrieval

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        query.check_rule()
        rows = {key: stored.row for key, stored in self._state.chunks.items()}
        return self._best(scores(rows, query, weights), condition, limit)

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

    # sessions and relations

    def sessions(self, ids: Collection[str]) -> dict[str, Session]:
        number = Counter(u.session for u in self._state.uses if self._alive(u.document))
        known = self._state.sessions
        return {one: known[one]._replace(uses=number[one]) for one in ids if one in known}

    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        found = [s for s in self._state.sessions.values() if project in (None, s.project)]
        found.sort(key=lambda session: session.id)
        found.sort(key=lambda session: session.started_at, reverse=True)
        ids = [session.id for session in found[page.offset : page.offset + page.limit]]
        return list(self.sessions(ids).values())

    def uses_in(self, session: str) -> list[Use]:
        found = [u for u in self._state.uses if u.session == session and self._alive(u.document)]
        return sorted(found, key=lambda use: use.used_at)

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        wanted = [use for use in self._state.uses if usage in (None, use.usage)]
        wanted.sort(key=lambda use: use.used_at)
        return {use.document: use for use in wanted if use.document in documents}

    def relations(self, document: str) -> list[Relation]:
        found = [
            r
            for r in self._state.relations
            if document in (r.source, r.target) and self._alive(r.source) and self._alive(r.target)
        ]
        seq = {one.id: one.seq for one in self._state.documents.values()}
        return sorted(found, key=lambda r: (r.created_at, seq[r.source], seq[r.target], r.relation))

    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        visible = {document.id for document in self._passing(shown)}
        ends = Counter(
            end
            for r in self._state.relations
            for end, other in ((r.source, r.target), (r.target, r.source))
            if other in visible
        )
        return {one: ends[one] for one in documents if ends[one]}

    def _alive(self, document: str) -> bool:
        return self._state.documents[document].deleted_at is None

    # the graph

    def edges(self, condition: Condition) -> list[Edge]:
        allowed = {d.id for d in self._passing(condition) if d.deleted_at is None}
        found = graph.resolved(self._state) + self._similar
        seq = {one.id: one.seq for one in self._state.documents.values()}
        kept = [edge for edge in found if allowed.issuperset(edge[:2])]
        return sorted(kept, key=lambda e: (seq[e.source], seq[e.target], e.relation))

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        allowed = {d.id for d in self._passing(condition) if d.deleted_at is None}
        starts = {one for one in documents if one in self._state.documents and self._alive(one)}
        return graph.around(self.edges(EVERYTHING), starts, allowed, depth)

    def unresolved(self, document: str) -> list[Link]:
        return graph.unresolved(self._state, document)

    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        own = set(self._state.documents[document].tags) if document in self._state.documents else ()
        others = [d for d in self._passing(condition) if d.id != document and d.deleted_at is None]
        shared = [(d.seq, d.id, len(set(own) & set(d.tags))) for d in others]
        kept = [one for one in shared if one[2] >= least]
        kept.sort(key=lambda one: (-one[2], one[0]))
        return [(identity, number) for _, identity, number in kept]

    def link_similar(self, threshold: float) -> int:
        self._similar = graph.similar(self._state, self._model, threshold)
        return len(self._state.documents)

    def relink(self) -> None:
        self._similar = []

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

    def models(self) -> list[StoredModel]:
        known = [
            StoredModel(model, source, len(self._vectors(model)), model == self._model)
            for model, source in self._sources.items()
        ]
        return sorted(known, key=lambda one: not one.active)

    def use_model(self, model: Model, source: str = "") -> None:
        if self._model is not None and self._model != model:
            raise ModelMismatch.between(self._model, model)
        if self._model is None:
            self._register(model, source)
        self._model = model

    def put_vectors(self, model: Model, source: str, vectors: Mapping[str, Vector]) -> None:
        self._register(model, source)
        for key, stored in self._state.chunks.items():
            if stored.chunk.hash in vectors and model not in stored.vectors:
                given = {**stored.vectors, model: vectors[stored.chunk.hash]}
                self._state.chunks[key] = stored._replace(vectors=given)

    def _register(self, model: Model, source: str) -> None:
        if any(one[:2] == model[:2] and one != model for one in self._sources):
            raise ModelMismatch("the model has other dimensions here", field="embed.model")
        self._sources[model] = source

    def unembedded(self, model: Model, after: int, limit: int) -> list[Passage]:
        missing = [k for k, one in self._state.chunks.items() if model not in one.vectors]
        return [self._passage(key) for key in sorted(missing) if key > after][:limit]

    def switch_model(self, model: Model) -> bool:
        if model not in self._sources or self.unembedded(model, 0, 1):
            return False
        self._model = model
        return True

    def drop_model(self, model: Model) -> None:
        if model == self._model:
            raise ModelMismatch(f"{model.name} is the model in use", field="embed.model")
        self._sources.pop(model, None)
        for key, stored in self._state.chunks.items():
            kept = {one: vector for one, vector in stored.vectors.items() if one != model}
            self._state.chunks[key] = stored._replace(vectors=kept)

    def vectors(self, hashes: Collection[str], model: Model | None = None) -> Mapping[str, Vector]:
        of_model = self._vectors(model)
        return {
            stored.chunk.hash: of_model[key]
            for key, stored in self._state.chunks.items()
            if key in of_model and stored.chunk.hash in hashes
        }

    def semantic_coverage(self) -> float:
        chunks = self._state.chunks
        return len(self._vectors(self._model)) / len(chunks) if chunks else 1.0

    def _vectors(self, model: Model | None) -> dict[int, Vector]:
        """Each chunk's vector of the model, or of the active one."""
        wanted = model or self._model
        chunks = self._state.chunks.items()
        return {k: one.vectors[wanted] for k, one in chunks if wanted and wanted in one.vectors}

    def counts(self) -> Counts:
        chunks = self._state.chunks.values()
        shown = self._passing(Not(FORGOTTEN))
        return Counts(
            documents=len(shown),
            chunks=len(chunks),
            embedded=len(self._vectors(self._model)),
            tags=len(self.tags(Not(FORGOTTEN))),
            types=Counter(document.type for document in shown),
            forgotten=self.count(FORGOTTEN),
        )

    def copying(self) -> PlainCopying:
        return PlainCopying(self)

    # inside

    def _passing(self, condition: Condition) -> list[Document]:
        return passing(self._state, condition)

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

    def _passage(self, key: int) -> Passage:
        stored = self._state.chunks[key]
        return Passage(key, stored.chunk, self._state.documents[stored.document])


def _by_seq(state: State) -> list[Document]:
    return sorted(state.documents.values(), key=lambda document: document.seq)
