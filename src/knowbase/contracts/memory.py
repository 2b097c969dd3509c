"""The memory service of S2-03, over the profile `memory`.

>>> from knowbase.contracts.memory import SearchOptions, create_search_service
>>> service = create_search_service(base)
>>> service.search(SearchOptions("frontend stack", project_id="web"))

A memory is a document without a file; a document, here, is one with a file.
"""

import os
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import NotFound
from knowbase.logs import log
from knowbase.memory.sessions import SessionContext, Timeline
from knowbase.query.conditions import EVERYTHING, Compare, Condition, Not
from knowbase.ranking.custom import limits
from knowbase.search.answer import Hit, Successor
from knowbase.search.request import SearchRequest
from knowbase.text.snippets import MARK
from knowbase.values.documents import Document
from knowbase.values.sessions import Session

if TYPE_CHECKING:
    from knowbase.base import Base

__all__ = ["SearchOptions", "SearchResult", "SearchService", "create_search_service"]

LIMITS = limits("memory", os.environ)  # S4-20
FROM_FILES: Condition = Compare("path", "present")


class SearchOptions(NamedTuple):
    """S2-01. `session_id` filters and records; the two can also be asked for apart (C36)."""

    query: str
    project_id: str | None = None
    sector: str | None = None
    tier: str | None = None
    limit: int = LIMITS.default
    min_salience: float = 0.0
    include_documents: bool = False
    include_superseded: bool = False
    session_id: str | None = None
    mode: str = "hybrid"
    session_filter: str | None = None
    session_record: str | None = None


class SearchResult(NamedTuple):
    """S2-02."""

    memory: Document
    score: float
    match_type: str
    highlights: tuple[str, ...] | None
    source_session: Session | None
    is_superseded: bool
    superseded_by: Successor | None
    related_memory_count: int


class SearchService:
    """Search, timelines and session context of one base."""

    def __init__(
        self,
        base: "Base",
    ) -> None:
        self.base = base

    def search(self, options: SearchOptions) -> list[SearchResult]:
        """Memories, and documents too if asked; what is returned is reinforced (S2-21)."""
        only = EVERYTHING if options.include_documents else Not(FROM_FILES)
        return self._found(options, only)

    def search_documents(
        self, query: str, project_id: str | None = None, limit: int = LIMITS.default
    ) -> list[SearchResult]:
        """The same search over files."""
        return self._found(SearchOptions(query, project_id, limit=limit), FROM_FILES)

    def timeline(self, anchor_id: str, before: int = 5, after: int = 5) -> Timeline:
        """What was made in the same project before and after."""
        return self.base.sessions.timeline(anchor_id, before, after)

    def get_session_context(self, memory_id: str) -> SessionContext | None:
        """The session that a memory took part in last; None when there is none."""
        try:
            document = self.base.whole(memory_id)
        except NotFound:
            return None
        return self.base.sessions.contexts((document.id,)).get(document.id)

    def _found(self, options: SearchOptions, only: Condition) -> list[SearchResult]:
        if not options.query.strip():
            log("debug", "Empty FTS query", original=options.query)
            return []
        request = SearchRequest(
            query=options.query,
            syntax="plain",
            include=("superseded",) if options.include_superseded else (),
            filters=_filters(options),
            min_salience=options.min_salience or None,
            top=options.limit,
            mode=options.mode,
            profile="memory",
            session=options.session_id,
            session_filter=options.session_filter,
            session_record=options.session_record,
            only=only,
        )
        return [_result(hit) for hit in self.base.search(request).hits]


def create_search_service(base: "Base") -> SearchService:
    return SearchService(base)


def _filters(options: SearchOptions) -> dict[str, str]:
    given = {
        "project": options.project_id,
        "sector": options.sector,
        "tier": options.tier,
    }
    return {name: value for name, value in given.items() if value is not None}


def _result(hit: Hit) -> SearchResult:
    return SearchResult(
        memory=hit.document,
        score=hit.score,
        match_type=hit.match_type,
        highlights=(hit.snippet,) if MARK in hit.snippet else None,
        source_session=hit.source_session,
        is_superseded=hit.is_superseded,
        superseded_by=hit.superseded_by,
        related_memory_count=hit.related_count,
    )
