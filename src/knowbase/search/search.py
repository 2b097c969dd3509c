"""A search from top to bottom: understand → retrieve → rank → present."""

import time

from knowbase.ranking.profile import Profile
from knowbase.search import events
from knowbase.search.answer import Answer
from knowbase.search.paging import reaching, start_of
from knowbase.search.present import present
from knowbase.search.rank import Outcome, rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.services import Services
from knowbase.search.understand import understand
from knowbase.store import partial

PARTIAL = "a worker of the cluster does not answer: what it holds is missing here"


def search(request: SearchRequest, profile: Profile, services: Services, now: str) -> Answer:
    """The answer to a request; no query string can make it fail."""
    started = time.perf_counter()
    events.starting(request)
    with partial.allowed(request.partial) as part:
        answer = _answered(request, profile, services, now)
    took = round((time.perf_counter() - started) * 1000, 3)
    answer = answer._replace(query_time_ms=took, partial=part.is_partial)
    if part.is_partial:
        answer = answer._replace(notices=(*answer.notices, PARTIAL))
    events.complete(request, answer)
    return answer


def _answered(request: SearchRequest, profile: Profile, services: Services, now: str) -> Answer:
    with services.store.one_state():
        inquiry = understand(request, profile, services.language, now)
        outcome = rank_all(inquiry, services, inquiry.profile.candidates(inquiry.top))
        outcome = _complete(reaching(outcome, services), services)
        return present(_looked_at_again(outcome, services), services)


def _looked_at_again(outcome: Outcome, services: Services) -> Outcome:
    """With the first hits in another order, if that is asked for."""
    if not (outcome.inquiry.request.rerank or outcome.is_diverse or services.second):
        return outcome
    from knowbase.search.second import second_look

    return second_look(outcome, services)


def _complete(outcome: Outcome, services: Services) -> Outcome:
    """With relaxed hits, if what the query requires leaves too few."""
    if outcome.inquiry.query.tree is None:  # plain words require nothing
        return outcome
    from knowbase.search.filling_up import filled_up

    inquiry = outcome.inquiry
    return filled_up(outcome, services, start_of(inquiry) + inquiry.top)
