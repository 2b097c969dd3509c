"""Typed knowledge search as plain functions (S0-19), ranked by the base's profile; `typed` has
that document's recipe: type weights, use, places fused with `k`.

>>> from knowbase.contracts.knowledge import Options, search_knowledge
>>> search_knowledge(base, "SQLite storage", Options(types=("decision", "lesson")))
"""

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import InvalidInput, VectorsUnavailable
from knowbase.query.conditions import Condition, both
from knowbase.query.query import Query, plain_query
from knowbase.query.words import FieldWeights, sanitize_fts_query
from knowbase.ranking.custom import limits
from knowbase.ranking.profile import PROFILES, TYPE_WEIGHTS, Profile
from knowbase.ranking.rank import Ranked
from knowbase.search.fitting import fitting
from knowbase.search.present import SOURCE_NAMES
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry, understand, understand_query
from knowbase.values.documents import Candidate, Passage
from knowbase.values.vectors import Model, Vector, normalize_embedding, pack

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.embed import Embedder

__all__ = [
    "TYPE_WEIGHTS",
    "Options",
    "fts_search",
    "hybrid_search",
    "normalize_embedding",
    "sanitize_fts_query",
    "search_knowledge",
    "search_knowledge_async",
    "vector_search",
]

RECIPE = PROFILES["typed"]
LIMITS = limits("typed", os.environ)  # S4-20
SINGLE_LIMIT = 20  # S0-20: of one leg alone


class Options(NamedTuple):
    """S0-20: what every function takes."""

    limit: int | None = None
    scope: str | None = None
    types: Sequence[str] = ()
    k: float = RECIPE.rrf_k  # of a profile that fuses by places


DEFAULTS = Options()


class FtsResult(NamedTuple):
    """S0-01: a lower, more negative score is better; ranks from 1."""

    id: str
    content: str
    type: str
    scope: str
    bm25_score: float
    fts_rank: int


class VectorResult(NamedTuple):
    """S0-08: cosine distance, 0 for identical, 2 for opposite; ranks from 1."""

    id: str
    content: str
    type: str
    scope: str
    vec_distance: float
    vec_rank: int


class KnowledgeResult(NamedTuple):
    """S0-21."""

    id: str
    content: str
    type: str
    scope: str
    access_count: int
    created_at: str
    metadata: Mapping[str, object]
    rrf_score: float
    type_weight: float
    access_boost: float
    final_score: float
    sources: tuple[str, ...]
    project: str | None = None


def search_knowledge(
    base: "Base", query: str, options: Options = DEFAULTS
) -> list[KnowledgeResult]:
    """Hybrid search; the query is embedded with the base's own model."""
    return _hybrid(base, _query(base, query), lambda: base.embedder, options)


async def search_knowledge_async(
    base: "Base", query: str, options: Options = DEFAULTS
) -> list[KnowledgeResult]:
    """S0-19: the same, to be awaited; the event loop goes on meanwhile."""
    import asyncio

    return await asyncio.to_thread(search_knowledge, base, query, options)


def hybrid_search(
    base: "Base", query: str, embedding: Sequence[float], options: Options = DEFAULTS
) -> list[KnowledgeResult]:
    """Hybrid search with an embedding of your own; either part may be empty."""
    given = _query(base, query)
    if not len(embedding):
        return _hybrid(base, given, None, options)
    similar = given._replace(similar=("the given embedding",))
    own = _Given(base, embedding)
    return _hybrid(base, similar, lambda: own, options)


def fts_search(base: "Base", query: str, options: Options = DEFAULTS) -> list[FtsResult]:
    """Keyword search alone, by BM25; an empty or malformed query finds nothing."""
    limit = _limit(options, SINGLE_LIMIT)
    words = plain_query(query, "all").keyword
    found = base.store.keyword(words, _condition(base, options), limit, FieldWeights())
    return [
        FtsResult(*_common(passage), -one.score, rank)
        for rank, (one, passage) in enumerate(_with_passages(base, found), start=1)
    ]


def vector_search(
    base: "Base", embedding: Sequence[float], options: Options = DEFAULTS
) -> list[VectorResult]:
    """Semantic search alone; an empty embedding, or a base without vectors, finds nothing."""
    limit = _limit(options, SINGLE_LIMIT)
    try:
        found = _nearest(base, embedding, options, limit)
    except VectorsUnavailable:
        return []
    return [
        VectorResult(*_common(passage), 1 - one.score, rank)
        for rank, (one, passage) in enumerate(_with_passages(base, found), start=1)
    ]


def _nearest(
    base: "Base", embedding: Sequence[float], options: Options, limit: int
) -> list[Candidate]:
    if not base.settings.embed_vectors:
        return []
    vector = _Given(base, embedding).embed_query("") if len(embedding) else b""
    return base.store.semantic(vector, _condition(base, options), limit)


class _Given:
    """An embedder that has one vector to give: the caller's own."""

    def __init__(self, base: "Base", embedding: Sequence[float]) -> None:
        self.model = base.store.model() or Model("none", "", len(embedding))
        self._vector = pack(normalize_embedding(embedding))
        length = math.fsum(number * number for number in embedding)
        if len(embedding) != self.model.dimensions or not 0 < length < math.inf:
            raise InvalidInput(
                f"the embedding has {len(embedding)} numbers",
                field="embedding",
                hint=f"{self.model.dimensions} finite numbers, not all zero",
            )

    max_tokens = 512

    def token_spans(self, text: str) -> Sequence[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        return (self._vector for _ in texts)

    def embed_query(self, text: str) -> Vector:  # noqa: ARG002 - the interface's
        return self._vector


def _hybrid(
    base: "Base", query: Query, embedder: "Callable[[], Embedder] | None", options: Options
) -> list[KnowledgeResult]:
    if query.is_empty:
        return []
    limit = _limit(options, base.profile_for().default_top)
    known = base.search_services
    mode = "hybrid" if embedder is not None and known.has_vectors else "keyword"
    asked = _understand(base, options, mode)
    inquiry = asked._replace(query=query, profile=fitting(_own_recipe(base, options), query))
    services = Services(known.store, embedder or known.embedder, known.language)
    outcome = rank_all(inquiry, services, inquiry.profile.candidates(limit))
    passages = outcome.proposals.passages
    return [_result(hit, passages[hit.chunk]) for hit in outcome.ranked[:limit]]


def _understand(base: "Base", options: Options, mode: str = "hybrid") -> Inquiry:
    """What the options ask for; the query is put in by who asks."""
    base.check_types(options.types)
    filters = {"scope": options.scope} if options.scope is not None else {}
    request = SearchRequest(type=tuple(options.types), filters=filters, mode=mode)
    return understand(
        request, _own_recipe(base, options), base.search_services.language, base.now()
    )


def _own_recipe(base: "Base", options: Options) -> Profile:
    return _profile(base)._replace(rrf_k=options.k)


def _profile(base: "Base") -> Profile:
    """The base's own, by documents: what is known is an entry, not a piece of one."""
    return base.profile_for()._replace(unit="document")


def _query(base: "Base", text: str) -> Query:
    """Words and nothing else, as the profile matches them."""
    request = SearchRequest(text, syntax="plain")
    language = base.search_services.language
    return understand_query(request, base.profile_for().match, language, base.now())


def _limit(options: Options, default: int) -> int:
    limit = min(default, LIMITS.most) if options.limit is None else options.limit
    if not 1 <= limit <= LIMITS.most:
        raise InvalidInput(
            f"limit cannot be {limit}", field="limit", hint=f"from 1 to {LIMITS.most}"
        )
    return limit


def _condition(base: "Base", options: Options) -> Condition:
    inquiry = _understand(base, options)
    return both(inquiry.visible, inquiry.filter)


def _with_passages(base: "Base", found: Sequence[Candidate]) -> list[tuple[Candidate, Passage]]:
    """Each candidate with its passage, unless another process has just removed it."""
    passages = base.store.passages([one.chunk for one in found])
    return [(one, passages[one.chunk]) for one in found if one.chunk in passages]


def _common(passage: Passage) -> tuple[str, str, str, str]:
    document = passage.document
    return document.id, passage.chunk.text, document.type, document.scope


def _result(hit: Ranked, passage: Passage) -> KnowledgeResult:
    document = passage.document
    boosts = {factor.name: factor.value for factor in hit.factors}
    return KnowledgeResult(
        *_common(passage),
        access_count=document.access_count,
        created_at=document.created_at,
        metadata=document.metadata,
        rrf_score=sum(part.gain for part in hit.contributions),
        type_weight=boosts.get("type", 1.0),
        access_boost=boosts.get("access", 1.0),
        final_score=hit.score,
        sources=tuple(
            SOURCE_NAMES[part.leg] for part in hit.contributions if part.leg in SOURCE_NAMES
        ),
        project=document.project,
    )
