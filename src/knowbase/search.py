"""A search from top to bottom: words → both legs, filtered → fusion → hits."""

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.errors import EmbeddingError, InvalidInput, ModelMismatch
from knowbase.query import words as query_text
from knowbase.query.conditions import (
    HIDDEN_STATES,
    Condition,
    OneOf,
    Tagged,
    Visible,
    both,
    is_everything,
)
from knowbase.query.words import PlainQuery
from knowbase.ranking.fusion import best_possible
from knowbase.ranking.profile import Profile
from knowbase.ranking.rank import Ranked, rank
from knowbase.store.values import FieldWeights
from knowbase.text.snippets import snippet
from knowbase.types import Candidate, Passage

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.embed import Embedder
    from knowbase.store import Store

MODES = ("hybrid", "keyword", "semantic")
LEGS = {"hybrid": ("keyword", "semantic"), "keyword": ("keyword",), "semantic": ("semantic",)}
SOURCE_NAMES = {"keyword": "fts", "semantic": "vec"}
MAX_TOP = 1000


class SearchRequest(NamedTuple):
    """What is asked. `top` of None means the setting `search.default_top`."""

    query: str
    tags: tuple[str, ...] = ()
    tags_match: str = "all"
    types: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    top: int | None = None
    threshold: float | None = None
    mode: str = "hybrid"
    unit: str | None = None


class Hit(NamedTuple):
    """One line of the answer."""

    id: str
    code: str
    title: str
    type: str
    tags: tuple[str, ...]
    path: str | None
    section: str  # CODE:slug
    heading: str | None
    line: int
    page: int | None
    snippet: str  # plain text with <mark> around matched words
    score: float
    sources: tuple[str, ...]  # "fts", "vec"
    more: int = 0  # further matching chunks of this document, when the unit is documents


class Answer(NamedTuple):
    """What was found, how, and what should be known about it."""

    query: str
    hits: tuple[Hit, ...]
    returned: int
    total: int  # what the legs proposed and the threshold kept, before the cut to `top`
    search_modes_used: tuple[str, ...]
    fallback_mode: bool
    query_time_ms: float
    filters: dict[str, Any]
    notices: tuple[str, ...]


class _Legs(NamedTuple):
    """What each leg proposed; a leg that could not run is named in the notices."""

    candidates: dict[str, list[Candidate]]
    notices: tuple[str, ...] = ()


class Searcher(NamedTuple):
    """The parts that a search needs; the embedder is made only when a leg asks for it."""

    store: "Store"
    embedder: "Callable[[], Embedder]"
    profile: Profile
    default_top: int

    def search(self, request: SearchRequest, now: str) -> Answer:
        """The answer to a request; no query string can make it fail."""
        started = time.perf_counter()
        check(request)
        query = query_text.parse(request.query)
        condition = both(Visible(now, frozenset(request.include)), condition_of(request))
        top = request.top or self.default_top
        profile = self.profile._replace(unit=request.unit or self.profile.unit)
        if query.text:
            found = self._find(query, request.mode, condition, top * profile.depth)
            proposed = {one.chunk for leg in found.candidates.values() for one in leg}
            passages = self.store.passages(proposed)
            ranked = rank(found.candidates, passages, profile)
        else:
            found, passages, ranked = self._newest(request, condition, top)
        notices = [*query.notices, *found.notices]
        if request.threshold is not None and query.text:
            notices += _threshold_notices(request, profile, len(found.candidates))
            ranked = [hit for hit in ranked if hit.score >= request.threshold]
        hits = tuple(_hit(hit, passages[hit.chunk], query) for hit in ranked[:top])
        return Answer(
            query=request.query,
            hits=hits,
            returned=len(hits),
            total=len(ranked),
            search_modes_used=tuple(found.candidates),
            fallback_mode=bool(query.text) and len(found.candidates) < len(LEGS[request.mode]),
            query_time_ms=round((time.perf_counter() - started) * 1000, 3),
            filters=_filters_applied(request, top, profile),
            notices=tuple(notices),
        )

    def _find(self, query: PlainQuery, mode: str, condition: Condition, depth: int) -> _Legs:
        candidates: dict[str, list[Candidate]] = {}
        notices = []
        if "keyword" in LEGS[mode]:
            candidates["keyword"] = self.store.keyword(
                query.words, condition, depth, FieldWeights()
            )
        if "semantic" in LEGS[mode]:
            try:
                candidates["semantic"] = self._semantic(query.text, condition, depth)
            except EmbeddingError as error:
                if mode == "semantic":
                    raise
                notices.append(f"semantic search did not run: {error.message}")
        return _Legs(candidates, tuple(notices))

    def _semantic(self, text: str, condition: Condition, depth: int) -> list[Candidate]:
        stored = self.store.model()
        if stored is None:
            return []
        embedder = self.embedder()
        if embedder.model != stored:
            raise ModelMismatch(
                f"the base was made with the model {stored.name} ({stored.revision}),"
                f" not {embedder.model.name} ({embedder.model.revision})",
                field="embed.model",
                hint="make a new base with this model: kb init --base PATH, then kb add",
            )
        return self.store.semantic(embedder.embed_query(text), condition, depth)

    def _newest(
        self, request: SearchRequest, condition: Condition, top: int
    ) -> tuple[_Legs, dict[int, Passage], list[Ranked]]:
        """An empty query with filters lists the newest that pass; without, it finds nothing."""
        if is_everything(condition_of(request)):
            return _Legs({}, ("the query has no words",)), {}, []
        newest = self.store.newest(condition, top)
        ranked = [Ranked(passage.chunk_id, 0.0, ()) for passage in newest]
        return _Legs({}), {passage.chunk_id: passage for passage in newest}, ranked


def check(request: SearchRequest) -> None:
    """Refuse what has no meaning, naming the field and what it may be."""
    if request.top is not None and not 1 <= request.top <= MAX_TOP:
        raise InvalidInput(f"top cannot be {request.top}", field="top", hint=f"from 1 to {MAX_TOP}")
    for field, value, allowed in (
        ("mode", request.mode, MODES),
        ("tags_match", request.tags_match, ("all", "any")),
        ("unit", request.unit or "chunk", ("chunk", "document")),
        *(("include", state, HIDDEN_STATES) for state in request.include),
    ):
        if value not in allowed:
            raise InvalidInput(
                f"{field} cannot be {value!r}", field=field, hint="one of " + ", ".join(allowed)
            )


def condition_of(request: SearchRequest) -> Condition:
    """The request's filters as a condition on documents."""
    parts: list[Condition] = []
    if request.tags:
        match = "any" if request.tags_match == "any" else "all"
        parts.append(Tagged(tuple(clean_tag(tag) for tag in request.tags), match))  # type: ignore[arg-type]
    if request.types:
        parts.append(OneOf("type", request.types))
    return both(*parts)


def clean_tag(tag: str) -> str:
    """Tags are stored without the leading # and in lower case."""
    return tag.strip().lstrip("#").lower()


def _threshold_notices(request: SearchRequest, profile: Profile, legs: int) -> list[str]:
    best = best_possible(legs, profile.rrf_k)
    if request.threshold is None or request.threshold <= best or not legs:
        return []
    return [
        f"no {request.mode} score can reach the threshold {request.threshold:g}:"
        f" first place in {'both legs' if legs > 1 else 'its one leg'} scores {best:.4f}"
    ]


def _filters_applied(request: SearchRequest, top: int, profile: Profile) -> dict[str, Any]:
    return {
        "tags": [clean_tag(tag) for tag in request.tags],
        "tags_match": request.tags_match,
        "types": list(request.types),
        "include": list(request.include),
        "threshold": request.threshold,
        "top": top,
        "mode": request.mode,
        "unit": profile.unit,
    }


def _hit(ranked: Ranked, passage: Passage, query: PlainQuery) -> Hit:
    document, chunk = passage.document, passage.chunk
    return Hit(
        id=document.id,
        code=document.code,
        title=document.title,
        type=document.type,
        tags=document.tags,
        path=document.path,
        section=f"{document.code}:{chunk.slug}",
        heading=chunk.heading,
        line=chunk.line,
        page=chunk.page,
        snippet=snippet(chunk.text, query.words),
        score=ranked.score,
        sources=tuple(SOURCE_NAMES[gain.leg] for gain in ranked.contributions),
        more=ranked.more,
    )
