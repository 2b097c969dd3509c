"""What a search logs. Events and fields have the names of the documents (S2-27, S4-18)."""

from typing import TYPE_CHECKING

from knowbase.errors import EmbeddingError, ServiceUnavailable, VectorsUnavailable
from knowbase.logs import log

if TYPE_CHECKING:
    from knowbase.query.query import Query
    from knowbase.search.answer import Answer
    from knowbase.search.request import SearchRequest

FALLBACK = "OpenAI API unavailable, using keyword-only fallback"
"""S4-08: the words of the warning, whichever service it is."""
LEGS = {"keyword": "FTS", "semantic": "Vector", "graph": "Graph"}
PHASES = {"ranking_ms": "rrf_ms"}  # whichever fusion it is


def starting(request: "SearchRequest") -> None:
    log(
        "info",
        "Hybrid search starting",
        query=request.query[:50],
        mode=request.mode,
        project_id=request.filters.get("project"),
    )


def complete(request: "SearchRequest", answer: "Answer") -> None:
    phases = {PHASES.get(name, name): took for name, took in answer.timings.items()}
    if phases:
        log("debug", "Search phases", **phases)
    log(
        "info",
        "Hybrid search complete",
        total=answer.total,
        returned=answer.returned,
        mode=request.mode,
        ms=answer.query_time_ms,
        query_time_ms=answer.query_time_ms,
        result_count=answer.returned,
        **phases,
    )


def keyword_starting(query: "Query", project: str | None, limit: int) -> None:
    words = " ".join(word.surface for word in query.keyword.words)
    if words:
        log("debug", "FTS search", query=words, project_id=project, limit=limit)
    else:
        log("debug", "Empty FTS query", original=query.text)


def semantic_starting(query: "Query", project: str | None, limit: int) -> None:
    length = len(query.text)
    log("debug", "Vector search starting", query_length=length, project_id=project, limit=limit)


def leg_complete(leg: str, results: int, milliseconds: float) -> None:
    log("info", f"{LEGS[leg]} search complete", results=results, ms=milliseconds)


def semantic_failed(error: EmbeddingError) -> None:
    """With the stack, unless it is how the base is."""
    if isinstance(error, ServiceUnavailable):
        log("warning", FALLBACK, retries=error.retries, exc_info=error)
    elif isinstance(error, VectorsUnavailable):
        log("info", "Vector search did not run", reason=error.message)
    else:
        log("warning", "Vector search did not run", exc_info=error)
