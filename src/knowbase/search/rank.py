"""The candidates in their order: what the legs propose, weighed and ranked."""

import time
from typing import NamedTuple

from knowbase.logs import log
from knowbase.query.conditions import both, is_everything
from knowbase.ranking.rank import Ranked, rank
from knowbase.search.retrieve import Proposals, retrieve
from knowbase.search.services import Services
from knowbase.search.understand import Question


class Ranking(NamedTuple):
    """Every candidate in its order, before it is presented."""

    question: Question
    proposals: Proposals
    trust: dict[str, float]  # in each leg, with this query
    ranked: list[Ranked]
    milliseconds: float = 0.0


def rank_all(question: Question, services: Services, depth: int) -> Ranking:
    """Everything that the legs propose, ranked."""
    if question.query.is_empty:
        return _newest(question, services, depth)
    from knowbase.search.signals import trust

    proposals = retrieve(question, services, depth)
    factors = trust(question, proposals, services)
    started = time.perf_counter()
    ranked = rank_proposals(question, proposals, factors)
    took = round((time.perf_counter() - started) * 1000, 3)
    log("debug", "ranking complete", results=len(ranked), ms=took)
    return Ranking(question, proposals, factors, ranked, took)


def rank_proposals(
    question: Question, proposals: Proposals, trust: dict[str, float]
) -> list[Ranked]:
    """The proposals as the profile orders them."""
    legs, passages = proposals.legs, proposals.passages
    return rank(legs, passages, question.profile, question.now, question.query.intent, trust)


def _newest(question: Question, services: Services, limit: int) -> Ranking:
    """Filters alone list the newest that pass; nothing at all finds nothing."""
    condition = both(question.filter, question.query.filter)
    if is_everything(condition) and not question.query.include:
        nothing = Proposals({}, {}, ("the query has no words",))
        return Ranking(question, nothing, {}, [])
    newest = services.store.newest(both(question.visible, condition), limit)
    passages = {passage.chunk_id: passage for passage in newest}
    ranked = [Ranked(passage.chunk_id, 0.0) for passage in newest]
    return Ranking(question, Proposals({}, passages), {}, ranked)
