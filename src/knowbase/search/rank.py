"""The candidates in their order: what the legs propose, weighed and ranked."""

import time
from typing import NamedTuple

from knowbase.logs import log
from knowbase.query.conditions import both, is_everything
from knowbase.ranking.rank import Ranked, Traits, rank
from knowbase.search.pointing import lead_on
from knowbase.search.retrieve import Proposals, retrieve
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry


class Outcome(NamedTuple):
    """Every candidate in its order, before it is presented."""

    inquiry: Inquiry
    proposals: Proposals
    trust: dict[str, float]  # in each leg, with this query
    ranked: list[Ranked]
    milliseconds: float = 0.0
    required: tuple[str, ...] = ()  # what the relaxed ones among the hits do not have
    missing: tuple[str, ...] = ()  # of these, when all hits are relaxed ones: what nothing has
    notices: tuple[str, ...] = ()  # of a second look
    relaxed: "Outcome | None" = None  # what is judged instead, when all hits are relaxed ones

    @property
    def is_diverse(self) -> bool:
        """Whether hits that differ from those before them are to come sooner."""
        return self.inquiry.request.diverse or self.inquiry.profile.diverse > 0


def rank_all(inquiry: Inquiry, services: Services, depth: int) -> Outcome:
    """Everything that the legs propose, ranked."""
    if inquiry.query.is_empty:
        return _newest(inquiry, services, depth)
    from knowbase.search.signals import trust
    from knowbase.search.widening import widened

    inquiry = widened(inquiry, services.store)
    proposals = retrieve(inquiry, services, depth)
    factors = trust(inquiry, proposals, services)
    started = time.perf_counter()
    ranked = rank_proposals(inquiry, proposals, factors)
    ranked = lead_on(ranked, inquiry, proposals, services.store)
    took = round((time.perf_counter() - started) * 1000, 3)
    log("debug", "RRF merging complete", results=len(ranked), ms=took)
    return Outcome(inquiry, proposals, factors, ranked, took)


def rank_proposals(inquiry: Inquiry, proposals: Proposals, trust: dict[str, float]) -> list[Ranked]:
    """The proposals as the profile orders them."""
    legs, passages = proposals.legs, proposals.passages
    query = inquiry.query
    traits = Traits(query.intent, trust, query.text)
    return rank(legs, passages, inquiry.profile, inquiry.now, traits)


def _newest(inquiry: Inquiry, services: Services, limit: int) -> Outcome:
    """Filters alone list the newest that pass; nothing at all finds nothing."""
    condition = both(inquiry.filter, inquiry.query.filter)
    if is_everything(condition) and not inquiry.query.include:
        log("debug", "Empty FTS query", original=inquiry.request.query)
        nothing = Proposals({}, {}, ("the query has no words",))
        return Outcome(inquiry, nothing, {}, [])
    newest = services.store.newest(both(inquiry.visible, condition), limit)
    passages = {passage.chunk_id: passage for passage in newest}
    ranked = [Ranked(passage.chunk_id, 0.0) for passage in newest]
    return Outcome(inquiry, Proposals({}, passages), {}, ranked)
