"""Typed knowledge search as plain functions (S0-19), over the profile `typed`.

>>> from knowbase.knowledge import search_knowledge
>>> search_knowledge(base, "SQLite storage", types=["decision", "lesson"])
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.query.conditions import Compare, Condition, OneOf, Visible, both
from knowbase.query.words import KeywordQuery, keyword_query, sanitize_fts_query
from knowbase.ranking.profile import PROFILES
from knowbase.ranking.rank import Ranked, rank
from knowbase.store.values import FieldWeights
from knowbase.types import SCOPES, Candidate, Passage
from knowbase.vectors import normalize_embedding, pack

if TYPE_CHECKING:
    from knowbase.base import Base

__all__ = [
    "TYPE_WEIGHTS",
    "fts_search",
    "hybrid_search",
    "normalize_embedding",
    "sanitize_fts_query",
    "search_knowledge",
    "vector_search",
]

TYPE_WEIGHTS: Mapping[str, float] = PROFILES["typed"].type_weights
HYBRID_LIMIT, SINGLE_LIMIT = 10, 20
DEPTH = 3


class Options(NamedTuple):
    """S0-20: what every function takes."""

    limit: int | None = None
    scope: str | None = None
    types: Sequence[str] = ()
    k: float = PROFILES["typed"].rrf_k


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
    embedding = base.embedder.embed_query(query) if query.strip() and base.store.model() else b""
    return _hybrid(base, query, embedding, options)


def hybrid_search(
    base: "Base",
    query: str,
    embedding: Sequence[float],
    options: Options = DEFAULTS,
) -> list[KnowledgeResult]:
    """Hybrid search with an embedding of your own; either part may be empty."""
    return _hybrid(base, query, _packed(embedding), options)


def fts_search(base: "Base", query: str, options: Options = DEFAULTS) -> list[FtsResult]:
    """Keyword search alone, by BM25; an empty or malformed query finds nothing."""
    found = _keyword(base, query, options, options.limit or SINGLE_LIMIT)
    passages = base.store.passages([one.chunk for one in found])
    return [
        FtsResult(*_common(passages[one.chunk]), -one.score, rank_)
        for rank_, one in enumerate(found, start=1)
    ]


def vector_search(
    base: "Base",
    embedding: Sequence[float],
    options: Options = DEFAULTS,
) -> list[VectorResult]:
    """Semantic search alone; an empty embedding, or a base without vectors, finds nothing."""
    limit = options.limit or SINGLE_LIMIT
    found = base.store.semantic(_packed(embedding), _condition(base, options), limit)
    passages = base.store.passages([one.chunk for one in found])
    return [
        VectorResult(*_common(passages[one.chunk]), 1 - one.score, rank_)
        for rank_, one in enumerate(found, start=1)
    ]


def _hybrid(base: "Base", query: str, vector: bytes, options: Options) -> list[KnowledgeResult]:
    limit = options.limit or HYBRID_LIMIT
    legs = {"keyword": _keyword(base, query, options, limit * DEPTH)}
    if vector:
        condition = _condition(base, options)
        legs["semantic"] = base.store.semantic(vector, condition, limit * DEPTH)
    passages = base.store.passages({one.chunk for found in legs.values() for one in found})
    profile = PROFILES["typed"]._replace(rrf_k=options.k)
    ranked = rank(legs, passages, profile, base.now())
    return [_result(hit, passages[hit.chunk]) for hit in ranked[:limit]]


def _keyword(base: "Base", query: str, options: Options, limit: int) -> list[Candidate]:
    words: KeywordQuery = keyword_query(query, "all")
    return base.store.keyword(words, _condition(base, options), limit, FieldWeights())


def _condition(base: "Base", options: Options) -> Condition:
    parts: list[Condition] = [Visible(base.now())]
    if options.scope is not None:
        if options.scope not in SCOPES:
            raise InvalidInput(
                f"scope cannot be {options.scope!r}",
                field="scope",
                hint="one of " + ", ".join(SCOPES),
            )
        parts.append(Compare("scope", "=", options.scope))
    if options.types:
        parts.append(OneOf("type", tuple(options.types)))
    return both(*parts)


def _packed(embedding: Sequence[float]) -> bytes:
    return pack(normalize_embedding(embedding)) if len(embedding) else b""


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
        sources=tuple("fts" if p.leg == "keyword" else "vec" for p in hit.contributions),
        project=document.project,
    )
