"""A team's entries as agents ask for them: kb_search, kb_get_related, KnowledgeBaseSearch (S4).

>>> from knowbase import KnowledgeBaseSearch
>>> search = KnowledgeBaseSearch("postgresql://…", embedding_client=my_embedder)
>>> search.search(query="vercel route order", role="dev", limit=5)

What is asked is checked before any database is touched: an unknown argument, a wrong kind or a
value out of bounds is an `InvalidInput` that names the field and what it may be.
"""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.base import Base
from knowbase.base import open as open_base
from knowbase.errors import InvalidInput
from knowbase.operations.declare import Operation
from knowbase.ranking.custom import limits
from knowbase.search.answer import Answer, Explanation, Hit
from knowbase.search.request import SYNTAXES, SearchRequest
from knowbase.text.snippets import MARK
from knowbase.values.parameters import Param, build

if TYPE_CHECKING:
    from knowbase.embed import Embedder
    from knowbase.graph.related import RelatedAnswer

ROLES = ("pm", "dev", "qa", "all")
ENTRY_TYPES = ("fact", "summary", "template")
MOST_SUGGESTED = 3
LIMITS = limits("entries", os.environ)  # S4-20


class SearchInput(NamedTuple):
    """S4-01."""

    query: Annotated[str, Param("Natural language search query")]
    role: Annotated[str | None, Param("Filter by role (optional)", choices=ROLES)] = None
    tags: Annotated[tuple[str, ...], Param("Filter by tags - OR logic (optional)")] = ()
    entry_type: Annotated[
        str | None, Param("Filter by entry type (optional)", choices=ENTRY_TYPES)
    ] = None
    limit: Annotated[int, Param("Maximum results to return", least=1, most=LIMITS.most)] = (
        LIMITS.default
    )
    min_confidence: Annotated[
        float, Param("Minimum confidence threshold (optional)", least=0, most=1)
    ] = 0.0
    explain: Annotated[bool, Param("with the component scores")] = False
    syntax: Annotated[
        str, Param("query: the text has operators (tag:x -word), none misspelt", choices=SYNTAXES)
    ] = "plain"


class Entry(NamedTuple):
    """S4-02: one result."""

    id: str
    code: str
    title: str
    content: str
    entry_type: str
    roles: tuple[str, ...]
    tags: tuple[str, ...]
    confidence: float | None
    created_at: str
    updated_at: str
    score: float
    highlights: tuple[str, ...]  # what matched, marked; nothing for a match by meaning alone
    section: str  # CODE:slug, where the best match is
    snippet: str  # the start of that section, or what matched in it
    explanation: Explanation | None = None


class SearchMetadata(NamedTuple):
    """S4-02. `total` counts the entries that the legs proposed, before the cut to `limit`.

    Each leg proposes at most 100: when neither did, `total` is exact; else there are at least
    so many.
    """

    total: int
    total_is_exact: bool
    fallback_mode: bool
    query_time_ms: float
    search_modes_used: tuple[str, ...]
    notices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()  # tags and words to try, when nothing was found
    debug_info: dict[str, Any] | None = None


class RelatedInput(NamedTuple):
    """S4-14."""

    entry_id: Annotated[str, Param("UUID of the entry to find related entries for", format="uuid")]
    limit: Annotated[int, Param("Maximum results to return", least=1, most=20)] = 5


class SearchOutput(NamedTuple):
    results: tuple[Entry, ...]
    metadata: SearchMetadata


def kb_search(base: Base, **arguments: Any) -> SearchOutput:
    """S4-01: hybrid search over entries, by the profile `entries`."""
    return search_entries(base, build(SearchInput, arguments))


def search_entries(base: Base, asked: SearchInput) -> SearchOutput:
    if not asked.query.strip():
        raise InvalidInput("query cannot be empty", field="query", hint="at least one word")
    filters = {"role": asked.role} if asked.role else {}
    if asked.min_confidence > 0:
        filters["confidence"] = f">={asked.min_confidence}"
    answer = base.search(
        SearchRequest(
            query=asked.query,
            syntax=asked.syntax,
            strict=asked.syntax == "query",
            tags=asked.tags,
            type=(asked.entry_type,) if asked.entry_type else (),
            filters=filters,
            top=asked.limit,
            profile="entries",
            explain=asked.explain,
        )
    )
    return SearchOutput(_entries(base, answer.hits), _metadata(base, asked, answer))


def kb_get_related(base: Base, **arguments: Any) -> "RelatedAnswer":
    """S4-14: the parent, the siblings, then entries that share two tags or more; an unknown id
    has nothing that is related."""
    return related_entries(base, build(RelatedInput, arguments))


def related_entries(base: Base, asked: RelatedInput) -> "RelatedAnswer":
    return base.graph.related(asked.entry_id, asked.limit, depth=0)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "kb_search",
            "Search the knowledge base using hybrid semantic + keyword search. Falls back to"
            " keyword-only if OpenAI is unavailable.",
            SearchInput,
            search_entries,
        ),
        Operation(
            "kb_get_related",
            "Find entries related to a specific entry via parent/sibling relationships or tag"
            " overlap.",
            RelatedInput,
            related_entries,
        ),
    )
}
"""S4-24: in the words of the contracts."""


class KnowledgeBaseSearch:
    """S4-25: search with an embedding client and a database of your own."""

    def __init__(self, database: "str | Base", embedding_client: "Embedder | None" = None) -> None:
        if isinstance(database, Base):
            self.base = database
        elif embedding_client is None:
            self.base = open_base(database)
        else:
            self.base = Base(database, embedder=embedding_client)

    def search(self, **arguments: Any) -> SearchOutput:
        return kb_search(self.base, **arguments)

    def get_related(self, **arguments: Any) -> "RelatedAnswer":
        return kb_get_related(self.base, **arguments)

    def close(self) -> None:
        self.base.close()


def _entries(base: Base, hits: Sequence[Hit]) -> tuple[Entry, ...]:
    """The hits with their texts: one query for all of them."""
    texts = base.store.openings([hit.id for hit in hits]) if hits else {}
    return tuple(_entry(hit, texts.get(hit.id, "")) for hit in hits)


def _entry(hit: Hit, text: str) -> Entry:
    document = hit.document
    return Entry(
        id=document.id,
        code=document.code,
        title=document.title,
        content=text,
        entry_type=document.type,
        roles=document.roles,
        tags=document.tags,
        confidence=document.confidence,
        created_at=document.created_at,
        updated_at=document.updated_at,
        score=hit.score,
        highlights=(hit.snippet,) if MARK in hit.snippet else (),
        section=hit.section,
        snippet=hit.snippet,
        explanation=hit.explanation,
    )


def _metadata(base: Base, asked: SearchInput, answer: Answer) -> SearchMetadata:
    depth = base.profile("entries").candidates(asked.limit)
    return SearchMetadata(
        total=answer.total,
        total_is_exact=answer.total < depth,
        fallback_mode=answer.fallback_mode,
        query_time_ms=answer.query_time_ms,
        search_modes_used=answer.search_modes_used,
        notices=answer.notices,
        suggestions=() if answer.hits else _suggestions(base, asked, answer),
        debug_info=_debug_info(answer) if asked.explain else None,
    )


def _debug_info(answer: Answer) -> dict[str, Any]:
    return {"filters": answer.filters, "profile": answer.profile, "timings": answer.timings}


def _suggestions(base: Base, asked: SearchInput, answer: Answer) -> tuple[str, ...]:
    """Tags that are spelled like those asked for, and words like those of the query."""
    from difflib import get_close_matches

    known = [tag for tag, _ in base.tags()]
    near = [
        f"tag:{one}"
        for tag in asked.tags
        if tag not in known
        for one in get_close_matches(tag, known, n=MOST_SUGGESTED)
    ]
    words = [word for suggestion in answer.suggestions for word in suggestion.nearest]
    common = [f"tag:{tag}" for tag in known[:MOST_SUGGESTED]]
    return tuple(dict.fromkeys([*near, *words] or common))
