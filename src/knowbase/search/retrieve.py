"""Retrieval: what each leg proposes for a query, filters included."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import EmbeddingError, ModelMismatch, VectorsUnavailable
from knowbase.logs import log
from knowbase.query.conditions import OneOf, both
from knowbase.query.words import FieldWeights
from knowbase.ranking.rank import keys_of
from knowbase.search import events
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry
from knowbase.values.documents import Candidate, Passage

if TYPE_CHECKING:
    from knowbase.embed import Embedder
    from knowbase.query.query import Query
    from knowbase.values.vectors import Model, Vector

BATCH = 1000  # documents that are asked for by name at once
AT_FIRST = {"chunk": 1.25, "document": 2.0}
"""How many candidates a leg is asked for, for each hit of the depth: some fall together."""


class Proposals(NamedTuple):
    """What the legs propose, and what it refers to."""

    legs: dict[str, list[Candidate]]
    passages: dict[int, Passage]
    notices: tuple[str, ...] = ()  # what could not run, and why
    timings: Mapping[str, float] = {}  # milliseconds of each leg


def retrieve(inquiry: Inquiry, services: Services, depth: int) -> Proposals:
    """Run the legs, filters included; each proposes candidates for `depth` different hits."""
    run = _Retrieval(inquiry, services, depth)
    return Proposals(run.legs(inquiry.legs), run.passages, tuple(run.notices), run.timings)


class _Retrieval:
    """Runs the legs for one inquiry; what could not run is in the notices."""

    def __init__(self, inquiry: Inquiry, services: Services, depth: int) -> None:
        self._services = services
        self._store = services.store
        self._query = inquiry.query
        self._profile = inquiry.profile
        self._visible = inquiry.visible
        self._passing = both(inquiry.visible, inquiry.filter)
        self._depth = depth
        self._project = inquiry.request.filters.get("project")
        self.passages: dict[int, Passage] = {}
        self.notices: list[str] = []
        self.timings: dict[str, float] = {}

    def legs(self, wanted: tuple[str, ...]) -> dict[str, list[Candidate]]:
        """What each leg proposes, and in `passages` what that refers to."""
        query = self._query
        found: dict[str, list[Candidate]] = {}
        if "keyword" in wanted and (query.text or query.open_ended):
            found["keyword"] = self._timed("keyword", self._keyword)
        if "semantic" in wanted and (query.text or query.similar or query.like):
            try:
                found["semantic"] = self._timed("semantic", self._semantic)
            except EmbeddingError as error:
                if wanted == ("semantic",):
                    raise
                events.semantic_failed(error)
                self._note(error)
        elif (query.similar or query.like) and not self._services.has_vectors:
            self._note(VectorsUnavailable.switched_off())
        if query.related:
            found["graph"] = self._timed("graph", self._graph)
        return found

    def _note(self, error: EmbeddingError) -> None:
        hint = f" ({error.hint})" if error.hint else ""
        self.notices.append(f"semantic search did not run: {error.message}{hint}")

    def _timed(self, leg: str, run: Callable[[], list[Candidate]]) -> list[Candidate]:
        started = time.perf_counter()
        found = run()
        took = round((time.perf_counter() - started) * 1000, 3)
        self.timings[f"{leg}_ms"] = took
        events.leg_complete(leg, len(found), took)
        return found

    def _keyword(self) -> list[Candidate]:
        store, query = self._store, self._query
        events.keyword_starting(query, self._project, self._depth)
        condition = both(self._passing, query.keyword_filter)
        weights = FieldWeights(**self._profile.field_weights)
        asked = query.keyword._replace(rule=self._profile.keyword, text=query.text)
        found = self._deep_enough(lambda limit: store.keyword(asked, condition, limit, weights))
        if query.open_ended and len(found) < self._depth:
            known = {one.chunk for one in found}
            more = store.newest(condition, self._depth)
            found += [Candidate(p.chunk_id, 0.0) for p in more if p.chunk_id not in known]
            self._fetch(found)
        return found

    def _semantic(self) -> list[Candidate]:
        events.semantic_starting(self._query, self._project, self._depth)
        if not self._services.has_vectors:
            raise VectorsUnavailable.switched_off()
        store = self._store
        model = store.model()
        if model is None:
            if store.semantic_coverage() < 1:
                raise VectorsUnavailable("no text here has a vector yet", hint="kb embed")
            return []
        store.vectors((), model)  # a database that cannot compare them says so first
        vector = self._vector(model)
        condition = both(self._passing, self._query.filter)
        return self._deep_enough(lambda limit: store.semantic(vector, condition, limit, model))

    def _graph(self) -> list[Candidate]:
        """The nearest documents by links, each by its first chunk that passes.

        A walk goes through whatever is visible; the filters choose among what it reaches.
        """
        near = self._near()
        ordered = sorted(near, key=lambda document: (-near[document], document))
        found: list[Passage] = []
        for start in range(0, len(ordered), BATCH):
            # Equal ones are all looked at: no accident of their ids decides (C29).
            last = found[self._depth - 1] if len(found) >= self._depth else None
            if last is not None and near[ordered[start]] < near[last.document.id]:
                break
            some = OneOf("id", tuple(ordered[start : start + BATCH]))
            found += self._store.newest(both(self._passing, self._query.filter, some), BATCH)
            found.sort(key=lambda one: one.document.seq)
            found.sort(key=lambda one: one.document.updated_at, reverse=True)
            found.sort(key=lambda one: near[one.document.id], reverse=True)
        kept = found[: self._depth]
        self.passages.update({passage.chunk_id: passage for passage in kept})
        return [Candidate(passage.chunk_id, near[passage.document.id]) for passage in kept]

    def _near(self) -> dict[str, float]:
        from knowbase.ranking.proximity import LEAST_SHARED_TAGS, proximities, with_tags

        store, query = self._store, self._query
        starts = [one.document for one in query.related]
        ids = {document.id for document in starts}
        self._services.link()
        edges = store.edges_around(ids, query.hops, self._visible)
        near = proximities(ids, edges, query.hops)
        for document in starts:
            shared = store.sharing_tags(document.id, LEAST_SHARED_TAGS, self._visible)
            others = [one for one in shared if one[0] not in ids]
            near = with_tags(near, others, len(document.tags))
        return near

    def _deep_enough(self, leg: Callable[[int], list[Candidate]]) -> list[Candidate]:
        """Candidates for `depth` different hits: however often the best one matches, the
        next is not lost."""
        limit = int(self._depth * AT_FIRST[self._profile.unit])
        while True:
            found = leg(limit)
            self._fetch(found)
            first, different = self._first_different(found)
            if len(found) < limit or different >= self._depth:
                return first
            limit *= 3

    def _first_different(self, found: list[Candidate]) -> tuple[list[Candidate], int]:
        """The candidates up to the first one that would be a hit too many, and how many hits
        they make."""
        seen: set[object] = set()
        different = 0
        for place, one in enumerate(found):
            if one.chunk not in self.passages:
                continue
            keys = keys_of(self.passages[one.chunk], self._profile)
            if seen.isdisjoint(keys):
                if different == self._depth:
                    return found[:place], different
                different += 1
            seen.update(keys)
        return found, different

    def _fetch(self, found: list[Candidate]) -> None:
        new = {one.chunk for one in found} - self.passages.keys()
        if new:
            self.passages.update(self._store.passages(new))

    def _vector(self, stored: "Model") -> "Vector":
        """What the semantic leg compares with, made by the model of the stored vectors."""
        query = self._query
        likes = [like.document.id for like in query.like]
        vectors = [vector for like in likes for vector in self._vectors_of(like, stored)]
        if texts := texts_to_embed(query):
            embedder = self._services.embedder()
            if embedder.model != stored:
                raise ModelMismatch.between(stored, embedder.model)
            vectors += self._embedded(embedder, texts)
        return vectors[0] if len(vectors) == 1 else _between(vectors)

    def _embedded(self, embedder: "Embedder", texts: Sequence[str]) -> "list[Vector]":
        started = time.perf_counter()
        made = [embedder.embed_query(text) for text in texts]
        took = round((time.perf_counter() - started) * 1000, 3)
        self.timings["embedding_ms"] = took
        log("debug", "Query embedded", model=embedder.model.name, ms=took)
        return made

    def _vectors_of(self, document: str, model: "Model") -> "list[Vector]":
        """S3-11: a document's own vectors; nothing is embedded."""
        hashes = [passage.chunk.hash for passage in self._store.chunks(document)]
        return list(self._store.vectors(hashes, model).values())


def texts_to_embed(query: "Query") -> list[str]:
    """What a model reads of a query."""
    texts = query.similar or (() if query.like or not query.text else (query.text,))
    return [_calmly(text) for text in texts]


def _calmly(text: str) -> str:
    """A question in capitals in small letters: models know little that is written so. A single
    word may be a name."""
    return text.lower() if text.isupper() and len(text.split()) > 1 else text


def _between(vectors: "Sequence[Vector]") -> "Vector":
    from knowbase.values.vectors import mean  # a search by words loads nothing of vectors

    return mean(vectors)
