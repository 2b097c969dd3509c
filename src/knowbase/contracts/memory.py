"""The memory service of S2-03, by the base's profile; `memory` has that document's recipe.

>>> from knowbase.contracts.memory import SearchOptions, create_search_service
>>> service = create_search_service(base)
>>> service.search(SearchOptions("frontend stack", project_id="web"))

A memory is a document without a file; a document, here, is one with a file. Each leg can be asked
alone (`search_fts`, `search_vector`), and a score be computed (`compute_score`).
"""

import os
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.base.awaiting import Awaiting, awaited
from knowbase.errors import NotFound
from knowbase.logs import log
from knowbase.memory.sessions import SessionContext, Timeline
from knowbase.query.conditions import EVERYTHING, Compare, Condition, Not, Visible, both
from knowbase.query.query import plain_query
from knowbase.query.words import FieldWeights
from knowbase.ranking.boosts import factors, signals
from knowbase.ranking.custom import limits
from knowbase.ranking.fusion import linear
from knowbase.ranking.profile import PROFILES
from knowbase.ranking.rank import total
from knowbase.search.answer import Hit, Successor
from knowbase.search.request import SearchRequest
from knowbase.text.sections import sections_of
from knowbase.text.snippets import MARK, snippet
from knowbase.values.arguments import checks_arguments, wrong
from knowbase.values.characters import composed
from knowbase.values.documents import Candidate, Document, Passage
from knowbase.values.parameters import Param, build
from knowbase.values.sessions import Session
from knowbase.values.times import timestamp

if TYPE_CHECKING:
    from knowbase.base import Base

__all__ = [
    "DEFAULT_WEIGHTS",
    "AsyncSearchService",
    "FTSResult",
    "Memory",
    "RankingWeights",
    "SearchOptions",
    "SearchResult",
    "SearchService",
    "VectorResult",
    "compute_score",
    "create_async_search_service",
    "create_search_service",
    "search_fts",
    "search_vector",
]

PROFILE = PROFILES["memory"]
CHUNKS_EACH = 4  # how many of a memory may be among the best
LIMITS = limits("memory", os.environ)  # S4-20
FROM_FILES: Condition = Compare("path", "present")


class SearchOptions(NamedTuple):
    """S2-01. `session_id` filters and records; the two can also be asked for apart (C36)."""

    query: str
    project_id: str | None = None
    sector: str | None = None
    tier: str | None = None
    limit: int = LIMITS.default
    min_salience: float = 0.0
    include_documents: bool = False
    include_superseded: bool = False
    session_id: str | None = None
    mode: str = "hybrid"
    session_filter: str | None = None
    session_record: str | None = None


class Memory(Document):
    """S2-29: a document with its whole text."""

    content: str

    @classmethod
    def of(cls, document: Document, content: str) -> "Memory":
        made = cls._make(document)
        made.content = content
        return made

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "content": self.content}


class FTSResult(NamedTuple):
    """S2-05 S2-30: of the keyword leg; a lower rank is better, as BM25 counts in SQLite."""

    memory_id: str
    rank: float
    snippet: str


class VectorResult(NamedTuple):
    """S2-30: of the semantic leg; similarity is 1 - distance."""

    memory_id: str
    distance: float  # cosine: 0 for identical, 2 for opposite
    similarity: float


class RankingWeights(NamedTuple):
    """S2-31: what each part of a score counts."""

    semantic: float = PROFILE.weights["semantic"]
    keyword: float = PROFILE.weights["keyword"]
    salience: float = PROFILE.weights["salience"]
    recency: float = PROFILE.weights["recency"]
    sector_boost: Mapping[str, float] = PROFILE.sector_weights


DEFAULT_WEIGHTS = RankingWeights()


class SearchResult(NamedTuple):
    """S2-02."""

    memory: Memory
    score: float
    match_type: str
    highlights: tuple[str, ...] | None
    source_session: Session | None
    is_superseded: bool
    superseded_by: Successor | None
    related_memory_count: int


@checks_arguments
class SearchService:
    """Search, timelines and session context of one base."""

    def __init__(
        self,
        base: "Base",
    ) -> None:
        self.base = base

    def search(self, options: SearchOptions | str) -> list[SearchResult]:
        """Memories, and documents too if asked; in the profile `memory`, what is returned is
        reinforced (S2-21)."""
        options = SearchOptions(options) if isinstance(options, str) else options
        if not isinstance(options, SearchOptions):
            raise wrong("options", options, "words, or SearchOptions")
        only = EVERYTHING if options.include_documents else Not(FROM_FILES)
        return self._found(options, only)

    def search_documents(
        self, query: str, project_id: str | None = None, limit: int = LIMITS.default
    ) -> list[SearchResult]:
        """The same search over files."""
        return self._found(SearchOptions(query, project_id, limit=limit), FROM_FILES)

    def timeline(self, anchor_id: str, before: int = 5, after: int = 5) -> Timeline:
        """What was made in the same project before and after."""
        return self.base.sessions.timeline(anchor_id, before, after)

    def get_session_context(self, memory_id: str) -> SessionContext | None:
        """The session that a memory took part in last; None when there is none."""
        try:
            document = self.base.whole(memory_id)
        except NotFound:
            return None
        return self.base.sessions.contexts((document.id,)).get(document.id)

    def _found(self, options: SearchOptions, only: Condition) -> list[SearchResult]:
        if not isinstance(options.query, str):
            raise wrong("query", options.query, "it must be text")
        if not options.query.strip():
            log("debug", "Empty FTS query", original=options.query)
            return []
        request = SearchRequest(
            query=options.query,
            syntax="plain",
            include=("superseded",) if options.include_superseded else (),
            filters=_filters(options),
            min_salience=options.min_salience or None,
            top=options.limit,
            mode=options.mode,
            unit="document",
            session=options.session_id,
            session_filter=options.session_filter,
            session_record=options.session_record,
            only=only,
        )
        return [_result(hit, self._content(hit.document)) for hit in self.base.search(request).hits]

    def _content(self, document: Document) -> str:
        sections = sections_of(self.base.store.chunks(document.id), document.code)
        return "".join(section.text for section in sections).strip()

    def search_fts(
        self, query: str, project_id: str | None = None, limit: int = 20
    ) -> list[FTSResult]:
        return search_fts(self.base, query, project_id, limit)

    def search_vector(
        self, query: str, project_id: str | None = None, limit: int = 20
    ) -> list[VectorResult]:
        return search_vector(self.base, query, project_id, limit)


def create_search_service(base: "Base") -> SearchService:
    return SearchService(base)


class AsyncSearchService(Awaiting[SearchService]):
    """The same service, to be awaited."""

    search = awaited(SearchService.search)
    search_documents = awaited(SearchService.search_documents)
    timeline = awaited(SearchService.timeline)
    get_session_context = awaited(SearchService.get_session_context)
    search_fts = awaited(SearchService.search_fts)
    search_vector = awaited(SearchService.search_vector)


def create_async_search_service(base: "Base") -> AsyncSearchService:
    return AsyncSearchService(SearchService(base))


class _LegOptions(NamedTuple):
    """What each leg takes."""

    query: Annotated[str, Param("words")]
    project_id: Annotated[str | None, Param("only of this project")] = None
    limit: Annotated[int, Param("how many", least=1, most=1000)] = 20


def _leg_options(query: str, project_id: str | None, limit: int) -> _LegOptions:
    values = {"query": query, "project_id": project_id, "limit": limit}
    asked: _LegOptions = build(_LegOptions, values)
    return asked


def search_fts(
    base: "Base", query: str, project_id: str | None = None, limit: int = 20
) -> list[FTSResult]:
    """S2-05: the keyword leg alone, by BM25: any of the words, or words that start like them.
    What was superseded is there too; an empty query finds nothing."""
    asked = _leg_options(query, project_id, limit)
    words = plain_query(asked.query, PROFILE.match).keyword
    weights = FieldWeights(**PROFILE.field_weights)
    shown = _shown(base, asked.project_id)
    found = base.store.keyword(words, shown, asked.limit * CHUNKS_EACH, weights)
    return [
        FTSResult(passage.document.id, -one.score, snippet(passage.chunk.text, words.words).text)
        for one, passage in _memories(base, found)[: asked.limit]
    ]


def search_vector(
    base: "Base", query: str, project_id: str | None = None, limit: int = 20
) -> list[VectorResult]:
    """S2-30: the semantic leg alone, with the vectors of the base's model."""
    asked = _leg_options(query, project_id, limit)
    if not asked.query.strip():
        return []
    vector = base.embedder.embed_query(asked.query)
    found = base.store.semantic(vector, _shown(base, asked.project_id), asked.limit * CHUNKS_EACH)
    memories = _memories(base, found)[: asked.limit]
    return [VectorResult(p.document.id, 1 - one.score, one.score) for one, p in memories]


def compute_score(
    memory: Document,
    semantic_sim: float,
    fts_rank: float,
    weights: RankingWeights | None = None,
    now: str | None = None,
) -> float:
    """S2-31: the score that the service gives, from what each leg says of a memory."""
    given = weights or DEFAULT_WEIGHTS
    counts = {name: getattr(given, name) for name in ("semantic", "keyword", "salience", "recency")}
    profile = PROFILE._replace(weights=counts, sector_weights=given.sector_boost)
    moment = now or timestamp(time.time())
    legs = {"semantic": [Candidate(0, semantic_sim)], "keyword": [Candidate(0, fts_rank)]}
    parts = linear(legs, counts, profile.keyword_full_at)[0]
    whole = total((*parts, *signals(memory, profile, moment)), factors(memory, profile, moment))
    return min(1.0, max(0.0, whole))


def _shown(base: "Base", project_id: str | None) -> Condition:
    """Memories, the superseded ones included: what to do with those is for who asks."""
    visible = Visible(base.now(), frozenset(("superseded",)))
    own = EVERYTHING if project_id is None else Compare("project", "=", composed(project_id))
    return both(visible, Not(FROM_FILES), own)


def _memories(base: "Base", found: Sequence[Candidate]) -> list[tuple[Candidate, Passage]]:
    """Each memory once, by its best chunk."""
    passages = base.store.passages([one.chunk for one in found])
    best: dict[str, tuple[Candidate, Passage]] = {}
    for one in found:
        if one.chunk in passages:
            best.setdefault(passages[one.chunk].document.id, (one, passages[one.chunk]))
    return list(best.values())


def _filters(options: SearchOptions) -> dict[str, str]:
    given = {
        "project": options.project_id,
        "sector": options.sector,
        "tier": options.tier,
    }
    return {name: value for name, value in given.items() if value is not None}


def _result(hit: Hit, content: str) -> SearchResult:
    return SearchResult(
        memory=Memory.of(hit.document, content),
        score=hit.score,
        match_type=hit.match_type,
        highlights=(hit.snippet,) if MARK in hit.snippet else None,
        source_session=hit.source_session,
        is_superseded=hit.is_superseded,
        superseded_by=hit.superseded_by,
        related_memory_count=hit.related_count,
    )
