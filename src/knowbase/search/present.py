"""An answer for whoever asked: hits with their snippets, and what should be known about them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from knowbase.query.conditions import has_text
from knowbase.ranking.kinds import kind_of
from knowbase.ranking.rank import Ranked, total
from knowbase.search.answer import Answer, Copy, Explanation, FacetCount, Hit, Widening
from knowbase.search.evidence import Judged, judged
from knowbase.search.paging import cursor_at, is_cut, start_of
from knowbase.search.rank import Outcome
from knowbase.search.services import Services
from knowbase.search.surroundings import Surroundings, surroundings
from knowbase.search.understand import Inquiry
from knowbase.text.analysis import Word
from knowbase.text.snippets import snippet
from knowbase.values.documents import Passage, is_in
from knowbase.values.kinds import clean_tags

if TYPE_CHECKING:
    from knowbase.query.words import Also
    from knowbase.search.clusters import Clusters
    from knowbase.store.contract import RetrievalStore, Store

SOURCE_NAMES = {"keyword": "fts", "semantic": "vec", "graph": "graph"}
MOST_COPIES = 20  # of a hit that are named
MOST_CHECKED = 16  # names that are looked up
PREFIX = "meta."
COMMUNITIES = "communities"


def present(outcome: Outcome, services: Services) -> Answer:
    """The hits that are shown, and how they came about."""
    inquiry, proposals = outcome.inquiry, outcome.proposals
    request, query, profile = inquiry.request, inquiry.query, inquiry.profile
    kept = [hit for hit in outcome.ranked if hit.score >= _threshold(inquiry)]
    start = start_of(inquiry)
    hits = _hits(kept[start : start + inquiry.top], outcome, services.store)
    is_searched = not query.is_empty
    grouped = _clusters(inquiry, services) if asks_for_communities(inquiry) else None
    widening = inquiry.widening or Widening()
    verdict, said = judged(outcome, services) if kept else Judged()
    return Answer(
        query=request.query,
        profile=profile.name,
        hits=hits,
        returned=len(hits),
        total=len(kept),
        search_modes_used=tuple(proposals.legs),
        fallback_mode=is_searched and bool(proposals.notices),
        semantic_coverage=round(services.store.semantic_coverage(), 4),
        query_time_ms=0.0,
        filters=_filters_applied(inquiry),
        notices=(
            *(f"{problem.message}; {problem.instead}" for problem in query.problems),
            *proposals.notices,
            *outcome.notices,
            *widening.notices,
            *_threshold_notices(outcome),
            *(grouped.notices if grouped else ()),
            *_relaxed(outcome),
            *_refused(outcome, services),
            *_left_out(outcome, services.store),
            *_unknown_names(outcome, services.store),
            *said,
        ),
        timings={**proposals.timings, "ranking_ms": outcome.milliseconds} if is_searched else {},
        problems=query.problems,
        suggestions=widening.suggestions,
        communities=grouped.communities if grouped else None,
        offset=start,
        next_cursor=_next(outcome, len(kept), start + len(hits)) if hits else None,
        facets=_facets(inquiry, services.store) if request.facets else {},
        verdict=verdict,
    )


def asks_for_communities(inquiry: Inquiry) -> bool:
    """Whether that word is the whole query, but for filters; quoted, it is a word like others."""
    query = inquiry.query
    return (
        query.text.strip().lower() == COMMUNITIES
        and inquiry.request.syntax == "query"
        and query.intent == "keyword"
        and not has_text(query.filter)
    )


def _clusters(inquiry: Inquiry, services: Services) -> "Clusters":
    from knowbase.search.clusters import clusters

    return clusters(inquiry, services)


def _hits(shown: Sequence[Ranked], outcome: Outcome, store: "Store") -> tuple[Hit, ...]:
    """The hits with what surrounds them, in a number of queries that is the same for all."""
    inquiry, passages = outcome.inquiry, outcome.proposals.passages
    documents = [passages[hit.chunk].document for hit in shown]
    around = surroundings(store, documents, inquiry.now)
    words = [word for word, _ in inquiry.query.keyword.weighed]
    return tuple(_hit(hit, outcome, around, words) for hit in shown)


def _next(outcome: Outcome, kept: int, end: int) -> str | None:
    """What asks for the hits behind these: known ones, or ones that a deeper look might find."""
    inquiry, is_first = outcome.inquiry, end <= outcome.inquiry.top  # later ones looked far enough
    depth = inquiry.profile.candidates(inquiry.top)
    may_be_more = is_first and kept == len(outcome.ranked) and is_cut(outcome, depth)
    return cursor_at(inquiry, end) if kept > end or may_be_more else None


def _facets(inquiry: Inquiry, store: "RetrievalStore") -> "Mapping[str, tuple[FacetCount, ...]]":
    from knowbase.search.facets import facets

    return facets(inquiry, store)


def _hit(ranked: Ranked, outcome: Outcome, around: Surroundings, words: Sequence[Word]) -> Hit:
    inquiry, passages = outcome.inquiry, outcome.proposals.passages
    passage = passages[ranked.chunk]
    document, chunk = passage.document, passage.chunk
    text = chunk.text  # unpacked each time that it is asked for
    is_page = kind_of(document) is None
    shown = snippet(text, words, is_code=document.type == "code", is_page=is_page)
    legs = [part.leg for part in ranked.contributions if part.leg in SOURCE_NAMES]
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
        snippet_lines=shown.code,
        score=ranked.score,
        sources=tuple(SOURCE_NAMES[leg] for leg in legs),
        document=document,
        created_at=document.created_at,
        match_type=_match_type(set(legs)),
        is_superseded=is_in(document, "superseded", inquiry.now),
        superseded_by=around.successors.get(document.id),
        source_session=around.sessions.get(document.id),
        related_count=around.related.get(document.id, 0),
        more=ranked.more,
        copies=tuple(_copy(passages[one]) for one in ranked.copies[:MOST_COPIES]),
        is_relaxed=ranked.relaxed,
        text=text,
        explanation=_explanation(ranked, passage, inquiry) if inquiry.request.explain else None,
    )


def _copy(passage: Passage) -> Copy:
    document, chunk = passage.document, passage.chunk
    section = f"{document.code}:{chunk.slug}"
    return Copy(document.code, section, document.path, document.project, chunk.line)


def _match_type(proposed: set[str]) -> str:
    """S2-15: which legs proposed it, whatever their scores."""
    legs = proposed & {"keyword", "semantic"} or proposed & {"graph"}
    return "both" if len(legs) > 1 else "".join(legs)


def _explanation(ranked: Ranked, passage: Passage, inquiry: Inquiry) -> Explanation:
    profile = inquiry.profile
    return Explanation(
        contributions=ranked.contributions,
        factors=ranked.factors,
        sum=sum(part.gain for part in ranked.contributions),
        score=ranked.score,
        clamped=profile.clamp and total(ranked.contributions, ranked.factors) != ranked.score,
        beside=_beside(passage, inquiry.query.keyword.also),
    )


def _beside(passage: Passage, also: "Sequence[Also]") -> tuple[str, ...]:
    """What a chunk has that was looked for beside the words, and how much that counts."""
    if not also:
        return ()
    from knowbase.ranking.trust import has_words

    return tuple(str(one) for one in also if has_words(passage, one.word))


def _threshold(inquiry: Inquiry) -> float:
    threshold = inquiry.request.threshold
    return float("-inf") if threshold is None or inquiry.query.is_empty else threshold


def _threshold_notices(outcome: Outcome) -> list[str]:
    """C7: a threshold that cannot mean anything on the profile's scale is said."""
    inquiry, legs = outcome.inquiry, tuple(outcome.proposals.legs)
    if inquiry.request.threshold is None or inquiry.query.is_empty or not legs:
        return []
    from knowbase.ranking.scale import about_threshold

    profile, scores = inquiry.profile, [hit.score for hit in outcome.ranked]
    depth = profile.candidates(inquiry.top)
    said = about_threshold(inquiry.request.threshold, legs, profile, depth, scores)
    return [said] if said else []


def _relaxed(outcome: Outcome) -> list[str]:
    """What some of the hits do not have, although the query requires it."""
    if not outcome.required:
        return []
    strict = sum(not hit.relaxed for hit in outcome.ranked)
    if not strict:
        return [f"{_lacking(outcome)}: these hits were found by its words"]
    have = f"{strict} hits have" if strict > 1 else "one hit has"
    as_required = " as required" if len(outcome.required) > 1 else ""
    named = ", ".join(outcome.required) + as_required
    return [f"{have} {named}; those behind were found by its words"]


def _lacking(outcome: Outcome) -> str:
    """What nothing has, or nothing that the filters let through, or not all of it."""
    if outcome.missing:
        return f"nothing has {' or '.join(outcome.missing)}"
    if len(outcome.required) == 1:
        return f"nothing that passes the filters has {outcome.required[0]}"
    return f"nothing has {_all_of(outcome.required)}"


def _all_of(required: Iterable[str]) -> str:
    names = list(required)
    return ("all of " if len(names) > 1 else "") + ", ".join(names)


def _refused(outcome: Outcome, services: Services) -> list[str]:
    """What keeps all hits away from who would have nothing but it."""
    inquiry = outcome.inquiry
    if outcome.ranked or not inquiry.request.strict or inquiry.query.tree is None:
        return []
    from knowbase.search.understand import softened

    softer = softened(inquiry, services.language)
    if softer is None:
        return []
    named = _all_of(softer.required)
    return [f"nothing has {named}; without strict, hits that have its words are shown"]


def _left_out(outcome: Outcome, store: "RetrievalStore") -> tuple[str, ...]:
    """Only words can be required or excluded: without a tree there is nothing to look for, and
    what is required left nothing out when it was relaxed."""
    inquiry = outcome.inquiry
    if outcome.required or not has_text(inquiry.query.filter):
        return ()
    from knowbase.search.left_out import left_out

    return left_out(inquiry, store)


def _unknown_names(outcome: Outcome, store: "Store") -> list[str]:
    """A key that nobody has is a mistake, whatever it lets through; the rest, if it is nothing."""
    request = outcome.inquiry.request
    if outcome.ranked and not request.where and PREFIX not in request.query.lower():
        return []
    from knowbase.search.unknown import unknown_names

    return unknown_names(outcome.inquiry, store, keys_alone=bool(outcome.ranked))


def _filters_applied(inquiry: Inquiry) -> dict[str, Any]:
    request, profile = inquiry.request, inquiry.profile
    return {
        "tags": list(clean_tags(request.tags)),
        "tags_match": request.tags_match or profile.tags_match,
        "types": list(request.type),
        "include": list(request.include),
        **dict(request.operators()),
        "threshold": request.threshold,
        "top": inquiry.top,
        "mode": request.mode,
        "unit": profile.unit,
    }
