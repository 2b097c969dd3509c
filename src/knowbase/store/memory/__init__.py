"""A store in plain Python: small, slow and obvious. The other stores are tested against it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from knowbase.changes import Changes, Link
from knowbase.edges import Edge
from knowbase.errors import ModelMismatch
from knowbase.query.conditions import (
    EVERYTHING,
    FORGOTTEN,
    AllOf,
    AnyOf,
    Condition,
    InSession,
    Not,
    OneOf,
    Under,
)
from knowbase.query.predicate import passes
from knowbase.query.words import KeywordQuery
from knowbase.store.bm25 import has_word, scores
from knowbase.store.memory import graph
from knowbase.store.memory.record import record
from knowbase.store.memory.state import State, adopted, remove, remove_rival, write
from knowbase.store.nearest import nearest as nearest_vectors
from knowbase.store.values import FieldWeights, Page
from knowbase.text.analysis import Word
from knowbase.text.spelling import as_written, nearest, stem_of
from knowbase.types import (
    Candidate,
    Counts,
    Document,
    FileRecord,
    Model,
    Passage,
    Relation,
    Session,
    Source,
    Use,
    Vector,
)


class MemoryStore:
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(self) -> None:
        self._state = State()
        self._model: Model | None = None
        self._similar: list[Edge] = []

    def close(self) -> None:
        """Nothing to close."""

    # writing

    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:  # noqa: ARG002
        state = self._state.copied()
        for document in changes.removed:
            remove(state, document)
        ids: dict[str | None, str] = {}
        for given in changes.drafts:
            draft = adopted(state, given)
            ids[given.id] = draft.id
            remove_rival(state, draft)
            write(state, draft, now, self._model)
        for file in changes.files:
            owner = ids.get(file.document, file.document)
            state.files[file.path] = file._replace(document=owner)
        for path in changes.forgotten:
            state.files.pop(path, None)
        state.sources.update({source.path: source for source in changes.sources})
        for path in changes.dropped_sources:
            state.sources.pop(path, None)
        record(state, changes, now)
        self._state = state
        return [self._state.documents[ids[draft.id]] for draft in changes.drafts]

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
            if last is not None and following is None and last.id != start:
                found[start] = last
        return found

    def _next(self, document: Document) -> Document | None:
        name = document.superseded_by
        known = [d for d in self._state.documents.values() if d.deleted_at is None and name]
        by_id = [d for d in known if d.id == name]
        by_code = [d for d in known if d.code.lower() == (name or "").lower()]
        by_path = [d for d in known if d.path == name]
        return next(iter([*by_id, *by_code, *by_path]), None)

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
        found = {
            one.chunk: one.score
            for one in nearest_vectors(vector, len(self._state.chunks), lambda _: self._vectors())
            if vector
        }
        return self._best(found, condition, limit)

    def _vectors(self) -> list[tuple[int, Vector]]:
        return [(key, s.vector) for key, s in self._state.chunks.items() if s.vector is not None]

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

    def related_counts(self, documents: Collection[str]) -> dict[str, int]:
        ends = Counter(
            end
            for r in self._state.relations
            for end, other in ((r.source, r.target), (r.target, r.source))
            if self._alive(other)
        )
        return {one: ends[one] for one in documents if ends[one]}

    def _alive(self, document: str) -> bool:
        return self._state.documents[document].deleted_at is None

    # the graph

    def edges(self, condition: Condition) -> list[Edge]:
        passing = {d.id for d in self._passing(condition) if d.deleted_at is None}
        found = graph.resolved(self._state) + self._similar
        seq = {one.id: one.seq for one in self._state.documents.values()}
        kept = [edge for edge in found if passing.issuperset(edge[:2])]
        return sorted(kept, key=lambda e: (seq[e.source], seq[e.target], e.relation))

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        passing = {d.id for d in self._passing(condition) if d.deleted_at is None}
        starts = {one for one in documents if one in self._state.documents and self._alive(one)}
        return graph.around(self.edges(EVERYTHING), starts, passing, depth)

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
        self._similar = graph.similar(self._state, threshold)
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

    def vectors(self, hashes: Collection[str]) -> Mapping[str, Vector]:
        return {
            stored.chunk.hash: stored.vector
            for stored in self._state.chunks.values()
            if stored.vector is not None and stored.chunk.hash in hashes
        }

    def counts(self) -> Counts:
        chunks = self._state.chunks.values()
        shown = self._passing(Not(FORGOTTEN))
        return Counts(
            documents=len(shown),
            chunks=len(chunks),
            embedded=sum(stored.vector is not None for stored in chunks),
            tags=len(self.tags(Not(FORGOTTEN))),
            types=Counter(document.type for document in shown),
            forgotten=self.count(FORGOTTEN),
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
        """`Under` and `InSession` as the documents that they mean now."""
        if isinstance(condition, Under):
            return OneOf("id", tuple(self._below(condition)))
        if isinstance(condition, InSession):
            used = (u.document for u in self._state.uses if u.session == condition.session)
            return OneOf("id", tuple(used))
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
