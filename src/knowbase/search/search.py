"""A search from top to bottom: understand → retrieve → rank → present."""

import time

from knowbase.ranking.profile import Profile
from knowbase.search import events
from knowbase.search.answer import Answer
from knowbase.search.present import present
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.services import Services
from knowbase.search.understand import understand


def search(request: SearchRequest, profile: Profile, services: Services, now: str) -> Answer:
    """The answer to a request; no query string can make it fail."""
    started = time.perf_counter()
    events.starting(request)
    inquiry = understand(request, profile, services.language, now)
    outcome = rank_all(inquiry, services, inquiry.profile.candidates(inquiry.top))
    answer = present(outcome, services)
    took = round((time.perf_counter() - started) * 1000, 3)
    answer = answer._replace(query_time_ms=took)
    events.complete(request, answer)
    return answer
