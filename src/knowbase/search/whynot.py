"""Why a document is not among the hits: which stage dropped it, and by how much."""

from typing import Any, NamedTuple

from knowbase.query.conditions import HIDDEN_STATES, Compare, Condition, both, describe
from knowbase.query.query import Query
from knowbase.ranking.rank import Ranked, keys_of
from knowbase.search.pointing import lead_on
from knowbase.search.rank import Outcome, rank_all, rank_proposals
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry
from knowbase.store.contract import RetrievalStore
from knowbase.values.documents import Candidate, Document, is_in
from knowbase.values.plain import as_dict


class LegStanding(NamedTuple):
    """How a document's best chunk did in one leg, against every chunk that passes the filters."""

    leg: str
    rank: int | None  # None: the leg does not find it at all
    raw: float | None
    depth: int  # how many candidates the leg may propose


class WhyNot(NamedTuple):
    """The stage at which a document was lost, or its place among the hits."""

    code: str
    title: str
    query: str
    stage: str  # "hit", "filtered", "hidden", "not matched", "depth", "floor", "threshold", "limit"
    reason: str
    legs: tuple[LegStanding, ...] = ()
    score: float | None = None
    needed: float | None = None
    margin: float | None = None  # how far the score is from what was needed

    def to_dict(self) -> dict[str, Any]:
        """As `kb why-not --json` has it."""
        return as_dict(self)


def why_not(inquiry: Inquiry, services: Services, document: Document) -> WhyNot:
    """Go through the stages of the search in their order and stop where the document is lost."""
    profile = inquiry.profile
    blank = WhyNot(document.code, document.title, inquiry.request.query, "", "")
    lost = _filtered(blank, document, inquiry, services.store)
    if lost is not None:
        return _among_relaxed(blank, document, inquiry, services) or lost
    depth = profile.candidates(inquiry.top)
    everything = rank_all(inquiry, services, max(services.store.counts().chunks, 1))
    legs = tuple(
        _standing(leg, _units(found, everything), document, depth)
        for leg, found in everything.proposals.legs.items()
    )
    blank = blank._replace(legs=legs)
    outcome = _within(everything, services, depth)
    mine = [hit for hit in outcome.ranked if document.id in _shown_by(hit, outcome)]
    if not mine:
        stage, reason = _not_proposed(legs, inquiry.query, profile.min_similarity)
        return blank._replace(stage=stage, reason=reason)
    return _as_copy(_placed(blank, mine[0], outcome), mine[0], outcome, document)


def _among_relaxed(
    blank: WhyNot, document: Document, inquiry: Inquiry, services: Services
) -> WhyNot | None:
    """Its place behind the hits that have what the query requires, if there were too few."""
    from knowbase.search.filling_up import filled_up

    outcome = rank_all(inquiry, services, inquiry.profile.candidates(inquiry.top))
    outcome = filled_up(outcome, services, inquiry.top)
    for hit in outcome.ranked:
        if hit.relaxed and document.id in _shown_by(hit, outcome):
            found = _placed(blank, hit, outcome)
            every = "all of " if len(outcome.required) > 1 else ""
            lacks = f"; it does not have {every}{', '.join(outcome.required)}"
            return found._replace(reason=found.reason + lacks)
    return None


def _units(found: list[Candidate], outcome: Outcome) -> list[tuple[Candidate, set[str]]]:
    """A leg's candidates as the hits that they would be, each with the documents it stands for."""
    profile, passages = outcome.inquiry.profile, outcome.proposals.passages
    places: dict[object, int] = {}
    units: list[tuple[Candidate, set[str]]] = []
    for one in found:
        passage = passages[one.chunk]
        keys = keys_of(passage, profile)
        place = next((places[key] for key in keys if key in places), len(units))
        if place == len(units):
            units.append((one, set()))
        units[place][1].add(passage.document.id)
        places.update(dict.fromkeys(keys, place))
    return units


def _within(everything: Outcome, services: Services, depth: int) -> Outcome:
    """The search as it runs: each leg cut to its depth, nothing asked or embedded again."""
    legs = {}
    for leg, found in everything.proposals.legs.items():
        units = _units(found, everything)
        last = units[depth][0] if len(units) > depth else None
        legs[leg] = found[: found.index(last)] if last is not None else found
    if not legs:
        return everything
    proposals = everything.proposals._replace(legs=legs)
    ranked = rank_proposals(everything.inquiry, proposals, everything.trust)
    ranked = lead_on(ranked, everything.inquiry, proposals, services.store)
    return everything._replace(proposals=proposals, ranked=ranked)


def _filtered(
    blank: WhyNot, document: Document, inquiry: Inquiry, store: RetrievalStore
) -> WhyNot | None:
    for state in HIDDEN_STATES:
        if state not in inquiry.visible.include and is_in(document, state, inquiry.now):
            reason = f"it is {state}; --include {state} would show it"
            return blank._replace(stage="hidden", reason=reason)
    only = Compare("id", "=", document.id)
    for name, condition in inquiry.filters.items():
        if not store.newest(both(only, condition), 1):
            reason = f"the filter {name} leaves it out: {_difference(name, document, condition)}"
            return blank._replace(stage="filtered", reason=reason)
    if not store.newest(both(only, inquiry.query.filter), 1):
        reason = "what the query itself requires or excludes leaves it out"
        return blank._replace(stage="filtered", reason=reason)
    return None


def _difference(name: str, document: Document, condition: Condition) -> str:
    """What the document has of the field that a filter asks for, and what is wanted."""
    from knowbase.query.operators import field_of

    has = getattr(document, field_of(name), None) or "none"
    has = ", ".join(has) if isinstance(has, tuple) else has
    return f"it has {has}, wanted is {describe(condition)}"


def _standing(
    leg: str, units: list[tuple[Candidate, set[str]]], document: Document, depth: int
) -> LegStanding:
    for rank_, (candidate, documents) in enumerate(units, start=1):
        if document.id in documents:
            return LegStanding(leg, rank_, candidate.score, depth)
    return LegStanding(leg, None, None, depth)


def _not_proposed(legs: tuple[LegStanding, ...], query: Query, floor: float) -> tuple[str, str]:
    """Why no leg proposed it, when no filter left it out."""
    placed = [leg for leg in legs if leg.rank is not None]
    if not legs:
        return "not matched", "the query has no words, and there is no filter"
    if not placed:
        return "not matched", " and ".join(_unmatched(leg.leg, query) for leg in legs)
    low = [leg for leg in placed if leg.leg == "semantic" and (leg.raw or 0.0) < floor]
    if low and len(low) == len(placed):
        return "floor", f"its similarity {low[0].raw:.4f} is under the profile's floor {floor:g}"
    told_ = "; ".join(f"{leg.leg}: rank {leg.rank}, the first {leg.depth} count" for leg in placed)
    return "depth", f"no leg proposes it within its depth ({told_})"


def _unmatched(leg: str, query: Query) -> str:
    if leg == "semantic":
        return "it has no vector"
    if leg == "graph":
        named = " or ".join(one.document.code for one in query.related)
        return f"no walk of {query.hops} links from {named} leads to it, nor do shared tags"
    if query.keyword.match == "all":
        return "it does not have all of the words that were looked for"
    return "it has none of the words that were looked for"


def _placed(blank: WhyNot, hit: Ranked, outcome: Outcome) -> WhyNot:
    inquiry = outcome.inquiry
    threshold, top = inquiry.request.threshold, inquiry.top
    place = outcome.ranked.index(hit) + 1
    how = "the newest are listed, as the query has no words; " if inquiry.query.is_empty else ""
    known = blank._replace(score=hit.score)
    if threshold is not None and hit.score < threshold:
        return known._replace(
            stage="threshold",
            reason=f"its score {hit.score:.4f} is under the threshold {threshold:g}",
            needed=threshold,
            margin=threshold - hit.score,
        )
    if place > top:
        needed = outcome.ranked[top - 1].score
        return known._replace(
            stage="limit",
            reason=f"{how}it is number {place}; the first {top} are shown",
            needed=needed,
            margin=needed - hit.score,
        )
    return known._replace(stage="hit", reason=f"it is there: hit number {place}")


def _shown_by(hit: Ranked, outcome: Outcome) -> list[str]:
    """The ids of the documents that a hit shows: its own, then those with the same text."""
    passages = outcome.proposals.passages
    return [passages[chunk].document.id for chunk in (hit.chunk, *hit.copies)]


def _as_copy(known: WhyNot, hit: Ranked, outcome: Outcome, document: Document) -> WhyNot:
    """A document that another one stands for is not shown itself, only named."""
    first = outcome.proposals.passages[hit.chunk].document
    if first.id == document.id:
        return known
    stands = f"{first.code} has exactly the same text and stands for it"
    named = ", which names it as a copy" if known.stage == "hit" else ""
    return known._replace(reason=f"{known.reason}; {stands}{named}")
