"""A search from top to bottom: query → both legs, filtered → ranking → hits."""

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.logs import log
from knowbase.query.conditions import (
    EVERYTHING,
    HIDDEN_STATES,
    Condition,
    Contains,
    OneOf,
    Tagged,
    Visible,
    both,
    is_everything,
)
from knowbase.query.query import Query, is_plain, plain_query
from knowbase.ranking.profile import Profile
from knowbase.ranking.rank import Ranked, best_possible, rank, total
from knowbase.search.answer import Answer, Explanation, Hit, Suggestion
from knowbase.search.request import MODES, SearchRequest
from knowbase.search.retrieve import Finder, Tools
from knowbase.search.surroundings import surroundings
from knowbase.text.analysis import Word
from knowbase.text.snippets import snippet
from knowbase.values.documents import Candidate, Passage, is_superseded

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.embed import Embedder
    from knowbase.query.operators import Context
    from knowbase.store.contract import Store
    from knowbase.values.documents import Document

LEGS = {"hybrid": ("keyword", "semantic"), "keyword": ("keyword",), "semantic": ("semantic",)}
SOURCE_NAMES = {"keyword": "fts", "semantic": "vec", "graph": "graph"}
SIMILAR_TOP = 15  # S3-25: hits of similar: and like: when nothing is asked
SIMILAR_FLOOR = 0.5  # S3-26: their least cosine similarity, unless the profile has its own
MOST_CHECKED = 16  # words that are looked up in the vocabulary


class Found(NamedTuple):
    """A search before it is presented: every candidate in its order, and what it refers to."""

    query: Query
    legs: dict[str, list[Candidate]]
    passages: dict[int, Passage]
    ranked: list[Ranked]
    trust: dict[str, float] = {}  # noqa: RUF012 - a value, never changed
    notices: tuple[str, ...] = ()
    fallback: bool = False
    timings: dict[str, float] = {}  # noqa: RUF012 - a value, never changed


class Language(NamedTuple):
    """What the query language needs to know of the base."""

    types: tuple[str, ...]
    find: "Callable[[str], Document | None]"
    nearest: "Callable[[str], str]"
    has_session: "Callable[[str], bool]"


class Searcher(NamedTuple):
    """The parts that a search needs; the embedder is made only when a leg asks for it."""

    store: "Store"
    embedder: "Callable[[], Embedder]"
    profile: Profile
    language: Language

    def search(self, request: SearchRequest, now: str) -> Answer:
        """The answer to a request; no query string can make it fail."""
        started = time.perf_counter()
        project = dict(request.filters).get("project")
        log("info", "search starting", query=request.query[:50], mode=request.mode, project=project)
        query, searcher = self.prepared(request, now)
        profile = searcher.profile
        top = request.top or min(profile.default_top, profile.max_top)
        found = searcher.find(query, request, now, profile.candidates(top))
        kept = [hit for hit in found.ranked if hit.score >= _threshold(request, found)]
        hits = searcher.hits(kept[:top], found, request.explain, now)
        answer = Answer(
            query=request.query,
            profile=profile.name,
            hits=hits,
            returned=len(hits),
            total=len(kept),
            search_modes_used=tuple(found.legs),
            fallback_mode=found.fallback,
            semantic_coverage=round(self.store.semantic_coverage(), 4),
            query_time_ms=round((time.perf_counter() - started) * 1000, 3),
            filters=_filters_applied(request, top, profile),
            notices=(
                *(f"{problem.message}; {problem.instead}" for problem in query.problems),
                *found.notices,
                *_threshold_notices(request, profile, found),
                *(searcher.unknown_names(request, query, now) if not found.ranked else ()),
            ),
            timings=dict(found.timings),
            problems=query.problems,
            suggestions=searcher.suggestions(found, now),
        )
        facts: dict[str, Any] = {
            "total": answer.total,
            "returned": answer.returned,
            "mode": request.mode,
            "ms": answer.query_time_ms,
        }
        log("info", "search complete", **facts, **answer.timings)
        return answer

    def hits(self, shown: list[Ranked], found: Found, explain: bool, now: str) -> tuple[Hit, ...]:
        """The hits with what surrounds them, in a number of queries that is the same for all."""
        documents = {hit.chunk: found.passages[hit.chunk].document for hit in shown}
        around = surroundings(self.store, list(documents.values()), now)
        return tuple(
            _hit(hit, found, self.profile, explain)._replace(
                is_superseded=is_superseded(documents[hit.chunk], now),
                superseded_by=around.successors.get(documents[hit.chunk].id),
                source_session=around.sessions.get(documents[hit.chunk].id),
                related_count=around.related.get(documents[hit.chunk].id, 0),
            )
            for hit in shown
        )

    def prepared(self, request: SearchRequest, now: str) -> "tuple[Query, Searcher]":
        """The query's meaning, and the searcher with the profile as the query changes it."""
        check(request, self.profile)
        profile = self.profile._replace(unit=request.unit or self.profile.unit)
        query = self._understood(request.query, profile.match, now)
        if request.strict and query.problems:
            problem = query.problems[0]
            raise InvalidInput(
                f"{problem.message}, at {problem.at + 1}",
                field="query",
                hint=f"without strict, {problem.instead}",
            )
        if query.weights is not None:
            weights = {**profile.weights, **query.weights._asdict()}
            profile = profile._replace(weights=weights, intents={})
        elif query.related and "graph" not in profile.weights:
            counts = max(profile.weights.get(leg, 0.0) for leg in LEGS["hybrid"])
            profile = profile._replace(weights={**profile.weights, "graph": counts})
        if query.similar or query.like:
            floor = profile.min_similarity if profile.min_similarity > -1 else SIMILAR_FLOOR
            profile = profile._replace(min_similarity=floor, default_top=SIMILAR_TOP)
        return query, self._replace(profile=profile)

    def _understood(self, text: str, match: str, now: str) -> Query:
        """What the text means; a plain one needs no parser, which takes milliseconds to load."""
        if is_plain(text) and match != "boolean":
            return plain_query(text, match)
        from knowbase.query.meaning import understand

        return understand(text, match, self.context(now))

    def context(self, now: str) -> "Context":
        """What the meaning of an operator depends on."""
        from knowbase.query.operators import Context

        return Context(now, *self.language)

    def find(self, query: Query, request: SearchRequest, now: str, depth: int) -> Found:
        """Everything that the legs propose, ranked."""
        asked = both(*self.filters_of(request, now).values())
        visible = Visible(now, frozenset(request.include) | query.include)
        if query.is_empty:
            return self._newest(query, both(asked, query.filter), visible, depth)
        tools = Tools(self.store, self.embedder, self.profile)
        finder = Finder(tools, query, visible, asked, depth)
        legs = finder.legs(LEGS[request.mode])
        trust = self._trust(query, legs, finder.passages)
        started = time.perf_counter()
        ranked = rank(legs, finder.passages, self.profile, now, query.intent, trust)
        took = round((time.perf_counter() - started) * 1000, 3)
        log("debug", "ranking complete", results=len(ranked), ms=took)
        return Found(
            query=query,
            legs=legs,
            passages=finder.passages,
            ranked=ranked,
            trust=trust,
            notices=tuple(finder.notices),
            fallback=bool(finder.notices),
            timings={**finder.timings, "ranking_ms": took},
        )

    def _trust(
        self, query: Query, legs: dict[str, list[Candidate]], passages: dict[int, Passage]
    ) -> dict[str, float]:
        """How far each leg can be trusted with this query, where the profile asks for that."""
        profile = self.profile
        if profile.fusion != "lift":
            return {}
        from knowbase.ranking.trust import COARSE, coverage, fluency

        trust = {}
        first = next((passages.get(one.chunk) for one in legs.get("keyword", ())), None)
        if first is not None and query.keyword.match == "any":
            trust["keyword"] = coverage(query.keyword.words, first)
        text = " ".join(query.similar) or ("" if query.like else query.text)
        if legs.get("semantic") and text and profile.foreign_at:
            embedder = self.embedder()
            tokens, size = len(embedder.token_spans(text)), len(text.encode())
            known = fluency(tokens, size, profile.fluent_at, profile.foreign_at)
            trust["semantic"] = known * COARSE.get(embedder.model.name, 1.0)
        return trust

    def _newest(self, query: Query, condition: Condition, visible: Visible, limit: int) -> Found:
        """Filters alone list the newest that pass; nothing at all finds nothing."""
        if is_everything(condition) and not query.include:
            return Found(query, {}, {}, [], notices=("the query has no words",))
        newest = self.store.newest(both(visible, condition), limit)
        ranked = [Ranked(passage.chunk_id, 0.0) for passage in newest]
        return Found(query, {}, {passage.chunk_id: passage for passage in newest}, ranked)

    def filters_of(self, request: SearchRequest, now: str) -> dict[str, Condition]:
        """Each filter of the request by its name; a value without meaning is an error."""
        filters: dict[str, Condition] = {}
        if request.tags:
            match = request.tags_match or self.profile.tags_match
            tags = tuple(clean_tag(tag) for tag in request.tags)
            filters["tags"] = Tagged(tags, "any" if match == "any" else "all")
        if request.types:
            filters["type"] = OneOf("type", request.types)
        if request.filters:
            from knowbase.query.operators import Mistake, meaning_of
        for name, value in request.filters:
            meaning = meaning_of(name, value, self.context(now))
            if isinstance(meaning, Mistake):
                raise InvalidInput(meaning.message, field=name)
            # Only filters have flags; the same one said twice binds twice.
            filters[name] = both(filters.get(name, EVERYTHING), meaning)  # type: ignore[arg-type]
        if not is_everything(request.only):
            filters["only"] = request.only
        return filters

    def unknown_names(self, request: SearchRequest, query: Query, now: str) -> list[str]:
        """Tags and projects that were asked for and that no document has which is shown."""
        from knowbase.query.named import named, unknown

        asked = list(
            dict.fromkeys(named(both(*self.filters_of(request, now).values(), query.filter)))
        )
        visible = Visible(now, frozenset(request.include) | query.include)
        lists = {"tag": self.store.tags, "project": self.store.projects}
        known = {kind: [name for name, _ in lists[kind](visible)] for kind in dict(asked)}
        missing = [one for one in asked if one[1] not in known[one[0]]]
        return [unknown(kind, name, known[kind]) for kind, name in missing[:MOST_CHECKED]]

    def suggestions(self, found: Found, now: str) -> tuple[Suggestion, ...]:
        """Words that the base does not have, and what is spelled like them."""
        if "keyword" not in found.legs:
            return ()
        text = found.query.text.lower()  # what a profile adds to the words was not typed
        words = found.query.keyword.words
        typed = [word for word in words if word.surface.isalpha() and word.surface.lower() in text]
        unknown = self.store.unknown_words(typed[:MOST_CHECKED])
        near = {
            word.surface: [
                one for one in self.store.nearest_words(word, 3) if self._is_shown(one, now)
            ]
            for word in unknown
        }
        return tuple(Suggestion(word, tuple(words)) for word, words in near.items() if words)

    def _is_shown(self, word: str, now: str) -> bool:
        """Whether a document that may be shown has the word: no other one's is told."""
        return bool(self.store.newest(both(Visible(now), Contains(Word(word))), 1))


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


def clean_tag(tag: str) -> str:
    """Tags are stored without the leading # and in lower case."""
    return tag.strip().lstrip("#").lower()


def _threshold(request: SearchRequest, found: Found) -> float:
    if request.threshold is None or found.query.is_empty:
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
        **dict(request.filters),
        "threshold": request.threshold,
        "top": top,
        "mode": request.mode,
        "unit": profile.unit,
    }


def _hit(ranked: Ranked, found: Found, profile: Profile, explain: bool) -> Hit:
    document, chunk = found.passages[ranked.chunk].document, found.passages[ranked.chunk].chunk
    shown = snippet(chunk.text, found.query.keyword.words)
    return Hit(
        id=document.id,
        code=document.code,
        title=document.title,
        type=document.type,
        tags=document.tags,
        path=document.path,
        section=f"{document.code}:{chunk.slug}",
        heading=chunk.heading,
        line=chunk.line + shown.line,
        page=chunk.page,
        snippet=shown.text,
        score=ranked.score,
        sources=tuple(
            SOURCE_NAMES[part.leg] for part in ranked.contributions if part.leg in SOURCE_NAMES
        ),
        created_at=document.created_at,
        match_type=_match_type(ranked),
        more=ranked.more,
        explanation=_explanation(ranked, profile) if explain else None,
    )


def _match_type(ranked: Ranked) -> str:
    """S2-15: which legs proposed it, whatever their scores."""
    proposed = {part.leg for part in ranked.contributions}
    legs = proposed & {"keyword", "semantic"} or proposed & {"graph"}
    return "both" if len(legs) > 1 else "".join(legs)


def _explanation(ranked: Ranked, profile: Profile) -> Explanation:
    return Explanation(
        contributions=ranked.contributions,
        factors=ranked.factors,
        sum=sum(part.gain for part in ranked.contributions),
        score=ranked.score,
        clamped=profile.clamp and total(ranked.contributions, ranked.factors) != ranked.score,
    )
