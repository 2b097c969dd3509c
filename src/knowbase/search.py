"""A search from top to bottom: words → both legs, filtered → ranking → hits."""

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
from knowbase.ranking.profile import Profile
from knowbase.ranking.rank import Ranked, best_possible, rank
from knowbase.store.values import FieldWeights
from knowbase.text.snippets import snippet
from knowbase.types import Candidate, Passage, Vector

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.embed import Embedder
    from knowbase.ranking.boosts import Factor
    from knowbase.ranking.fusion import Contribution
    from knowbase.store import Store

MODES = ("hybrid", "keyword", "semantic")
LEGS = {"hybrid": ("keyword", "semantic"), "keyword": ("keyword",), "semantic": ("semantic",)}
SOURCE_NAMES = {"keyword": "fts", "semantic": "vec", "graph": "graph"}


class SearchRequest(NamedTuple):
    """What is asked. None means what the profile says."""

    query: str
    tags: tuple[str, ...] = ()
    tags_match: str | None = None
    types: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    top: int | None = None
    threshold: float | None = None
    mode: str = "hybrid"
    unit: str | None = None
    profile: str | None = None
    explain: bool = False


class Explanation(NamedTuple):
    """How a score came about: the sum of the gains times the factors."""

    contributions: "tuple[Contribution, ...]"
    factors: "tuple[Factor, ...]"
    sum: float
    score: float
    clamped: bool


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
    explanation: Explanation | None = None


class Answer(NamedTuple):
    """What was found, how, and what should be known about it."""

    query: str
    profile: str
    hits: tuple[Hit, ...]
    returned: int
    total: int  # what the legs proposed and the threshold kept, before the cut to `top`
    search_modes_used: tuple[str, ...]
    fallback_mode: bool
    query_time_ms: float
    filters: dict[str, Any]
    notices: tuple[str, ...]


class Found(NamedTuple):
    """A search before it is presented: every candidate in its order, and what it refers to."""

    query: PlainQuery
    legs: dict[str, list[Candidate]]
    passages: dict[int, Passage]
    ranked: list[Ranked]
    notices: tuple[str, ...]


class Searcher(NamedTuple):
    """The parts that a search needs; the embedder is made only when a leg asks for it."""

    store: "Store"
    embedder: "Callable[[], Embedder]"
    profile: Profile

    def search(self, request: SearchRequest, now: str) -> Answer:
        """The answer to a request; no query string can make it fail."""
        started = time.perf_counter()
        check(request, self.profile)
        profile = self.profile._replace(unit=request.unit or self.profile.unit)
        top = request.top or profile.default_top
        found = self._replace(profile=profile).find(request, now, profile.candidates(top))
        kept = [hit for hit in found.ranked if hit.score >= _threshold(request, found)]
        hits = tuple(_hit(hit, found, profile, request.explain) for hit in kept[:top])
        return Answer(
            query=request.query,
            profile=profile.name,
            hits=hits,
            returned=len(hits),
            total=len(kept),
            search_modes_used=tuple(found.legs),
            fallback_mode=bool(found.query.text) and len(found.legs) < len(LEGS[request.mode]),
            query_time_ms=round((time.perf_counter() - started) * 1000, 3),
            filters=_filters_applied(request, top, profile),
            notices=(*found.notices, *_threshold_notices(request, profile, found)),
        )

    def find(self, request: SearchRequest, now: str, depth: int) -> Found:
        """Everything that the legs propose, ranked."""
        query = query_text.parse(request.query, self.profile.match)
        condition = both(
            Visible(now, frozenset(request.include)), condition_of(request, self.profile)
        )
        if not query.text:
            return self._newest(request, query, condition, depth)
        passages: dict[int, Passage] = {}
        legs, notices = self._legs(query, request.mode, condition, depth, passages)
        proposed = {one.chunk for leg in legs.values() for one in leg}
        passages.update(self.store.passages(proposed - passages.keys()))
        ranked = rank(legs, passages, self.profile, now)
        return Found(query, legs, passages, ranked, (*query.notices, *notices))

    def _legs(
        self,
        query: PlainQuery,
        mode: str,
        condition: Condition,
        depth: int,
        passages: dict[int, Passage],
    ) -> tuple[dict[str, list[Candidate]], list[str]]:
        """What each leg proposes; a leg that could not run is named in the notices."""
        legs: dict[str, list[Candidate]] = {}
        notices = []
        if "keyword" in LEGS[mode]:
            legs["keyword"] = self._deep_enough(
                lambda limit: self.store.keyword(query.keyword, condition, limit, FieldWeights()),
                depth,
                passages,
            )
        if "semantic" in LEGS[mode]:
            try:
                vector = self._embedded(query.text)
                legs["semantic"] = self._deep_enough(
                    lambda limit: self.store.semantic(vector, condition, limit), depth, passages
                )
            except EmbeddingError as error:
                if mode == "semantic":
                    raise
                notices.append(f"semantic search did not run: {error.message}")
        return legs, notices

    def _deep_enough(
        self,
        leg: "Callable[[int], list[Candidate]]",
        depth: int,
        passages: dict[int, Passage],
    ) -> list[Candidate]:
        """`depth` candidates; when the unit is documents, candidates of `depth` documents.

        However many chunks the best document has, the next one is not lost.
        """
        limit = depth
        while True:
            found = leg(limit)
            if self.profile.unit == "chunk":
                return found
            passages.update(self.store.passages({one.chunk for one in found} - passages.keys()))
            first = _first_documents(found, passages, depth)
            if len(found) < limit or len(first) < len(found):
                return first
            limit *= 3

    def _embedded(self, text: str) -> Vector:
        """The query's vector; none when the base has no vectors to compare it with."""
        stored = self.store.model()
        if stored is None:
            return b""
        embedder = self.embedder()
        if embedder.model != stored:
            raise ModelMismatch(
                f"the base was made with the model {stored.name} ({stored.revision}),"
                f" not {embedder.model.name} ({embedder.model.revision})",
                field="embed.model",
                hint="make a new base with this model: kb init --base PATH, then kb add",
            )
        return embedder.embed_query(text)

    def _newest(
        self, request: SearchRequest, query: PlainQuery, condition: Condition, limit: int
    ) -> Found:
        """An empty query with filters lists the newest that pass; without, it finds nothing."""
        if is_everything(condition_of(request, self.profile)):
            return Found(query, {}, {}, [], ("the query has no words",))
        newest = self.store.newest(condition, limit)
        ranked = [Ranked(passage.chunk_id, 0.0) for passage in newest]
        return Found(query, {}, {passage.chunk_id: passage for passage in newest}, ranked, ())


def _first_documents(
    found: list[Candidate], passages: dict[int, Passage], most: int
) -> list[Candidate]:
    """The candidates up to the first one of a document too many."""
    seen: set[int] = set()
    for place, one in enumerate(found):
        if one.chunk in passages:
            seen.add(passages[one.chunk].document.seq)
        if len(seen) > most:
            return found[:place]
    return found


def check(request: SearchRequest, profile: Profile) -> None:
    """Refuse what has no meaning, naming the field and what it may be."""
    if request.top is not None and not 1 <= request.top <= profile.max_top:
        raise InvalidInput(
            f"top cannot be {request.top}", field="top", hint=f"from 1 to {profile.max_top}"
        )
    for field, value, allowed in (
        ("mode", request.mode, MODES),
        ("tags_match", request.tags_match or "all", ("all", "any")),
        ("unit", request.unit or "chunk", ("chunk", "document")),
        *(("include", state, HIDDEN_STATES) for state in request.include),
    ):
        if value not in allowed:
            raise InvalidInput(
                f"{field} cannot be {value!r}", field=field, hint="one of " + ", ".join(allowed)
            )


def condition_of(request: SearchRequest, profile: Profile) -> Condition:
    """The request's filters as a condition on documents."""
    return both(*filters_of(request, profile).values())


def filters_of(request: SearchRequest, profile: Profile) -> dict[str, Condition]:
    """Each filter by its name."""
    filters: dict[str, Condition] = {}
    if request.tags:
        match = request.tags_match or profile.tags_match
        tags = tuple(clean_tag(tag) for tag in request.tags)
        filters["tags"] = Tagged(tags, "any" if match == "any" else "all")
    if request.types:
        filters["type"] = OneOf("type", request.types)
    return filters


def clean_tag(tag: str) -> str:
    """Tags are stored without the leading # and in lower case."""
    return tag.strip().lstrip("#").lower()


def _threshold(request: SearchRequest, found: Found) -> float:
    if request.threshold is None or not found.query.text:
        return float("-inf")
    return request.threshold


def _threshold_notices(request: SearchRequest, profile: Profile, found: Found) -> list[str]:
    """C7: a threshold that no score of this search could reach is said."""
    best = best_possible(tuple(found.legs), profile)
    if not found.legs or _threshold(request, found) <= best:
        return []
    return [
        f"no score can reach the threshold {request.threshold:g} here:"
        f" first place in {' and '.join(found.legs)} scores {best:.4f}"
    ]


def _filters_applied(request: SearchRequest, top: int, profile: Profile) -> dict[str, Any]:
    return {
        "tags": [clean_tag(tag) for tag in request.tags],
        "tags_match": request.tags_match or profile.tags_match,
        "types": list(request.types),
        "include": list(request.include),
        "threshold": request.threshold,
        "top": top,
        "mode": request.mode,
        "unit": profile.unit,
    }


def _hit(ranked: Ranked, found: Found, profile: Profile, explain: bool) -> Hit:
    document, chunk = found.passages[ranked.chunk].document, found.passages[ranked.chunk].chunk
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
        snippet=snippet(chunk.text, found.query.keyword.words),
        score=ranked.score,
        sources=tuple(
            SOURCE_NAMES[part.leg] for part in ranked.contributions if part.leg in SOURCE_NAMES
        ),
        more=ranked.more,
        explanation=_explanation(ranked, profile) if explain else None,
    )


def _explanation(ranked: Ranked, profile: Profile) -> Explanation:
    return Explanation(
        contributions=ranked.contributions,
        factors=ranked.factors,
        sum=sum(part.gain for part in ranked.contributions),
        score=ranked.score,
        clamped=profile.clamp,
    )
