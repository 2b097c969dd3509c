"""A search from top to bottom: understand → retrieve → rank → present."""

import time

from knowbase.logs import log
from knowbase.ranking.profile import Profile
from knowbase.search.answer import Answer
from knowbase.search.present import present
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.services import Services
from knowbase.search.understand import understand

PHASES = {"ranking_ms": "rrf_ms"}
"""S2-27, S4-18: events and fields have the names of the documents, whichever fusion it is."""


def search(request: SearchRequest, profile: Profile, services: Services, now: str) -> Answer:
    """The answer to a request; no query string can make it fail."""
    started = time.perf_counter()
    project = request.filters.get("project")
    log(
        "info",
        "Hybrid search starting",
        query=request.query[:50],
        mode=request.mode,
        project_id=project,
    )
    inquiry = understand(request, profile, services.language, now)
    outcome = rank_all(inquiry, services, inquiry.profile.candidates(inquiry.top))
    answer = present(outcome, services)
    milliseconds = round((time.perf_counter() - started) * 1000, 3)
    phases = {PHASES.get(name, name): took for name, took in answer.timings.items()}
    if phases:
        log("debug", "Search phases", **phases)
    log(
        "info",
        "Hybrid search complete",
        total=answer.total,
        returned=answer.returned,
        mode=request.mode,
        ms=milliseconds,
        query_time_ms=milliseconds,
        result_count=answer.returned,
        **phases,
    )
    return answer._replace(query_time_ms=milliseconds)
