"""A team's entries as agents ask for them: kb_search, kb_get_related, KnowledgeBaseSearch (S4).

>>> from knowbase import KnowledgeBaseSearch
>>> search = KnowledgeBaseSearch("postgresql://…", embedding_client=my_embedder)
>>> search.search(query="vercel route order", role="dev", limit=5)

What is asked is checked before any database is touched: an unknown argument, a wrong kind or a
value out of bounds is an `InvalidInput` that names the field and what it may be.
"""

import os
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.base import Base
from knowbase.base import open as open_base
from knowbase.contracts.entry import (
    RelatedMetadata,
    RelatedOutput,
    SearchMetadata,
    SearchOutput,
    found_entries,
)
from knowbase.contracts.entry import related_entries as entries_of
from knowbase.errors import InvalidInput
from knowbase.operations.declare import Operation
from knowbase.query.conditions import both
from knowbase.ranking.custom import limits
from knowbase.search.answer import Answer
from knowbase.search.request import FACETS, SYNTAXES, SearchRequest
from knowbase.values.parameters import Param, build

if TYPE_CHECKING:
    from knowbase.embed import Embedder
    from knowbase.ranking.profile import Profile

ROLES = ("pm", "dev", "qa", "all")
MOST_SUGGESTED = 3
_FILTERS = ("role", "project", "path", "after", "before")  # by the names of the query language
LIMITS = limits("entries", os.environ)  # S4-20


class SearchInput(NamedTuple):
    """S4-01."""

    query: Annotated[str, Param("Natural language search query", grammar="text")]
    role: Annotated[str | None, Param("Filter by role (optional)", choices=ROLES)] = None
    tags: Annotated[tuple[str, ...], Param("Filter by tags - OR logic (optional)")] = ()
    entry_type: Annotated[
        str | None,
        Param(
            "Filter by entry type (optional): fact, decision, lesson, code, pdf …",
            grammar="types",
            blank=True,
        ),
    ] = None
    limit: Annotated[int, Param("Maximum results to return", least=1, most=LIMITS.most)] = (
        LIMITS.default
    )
    min_confidence: Annotated[
        float, Param("Minimum confidence threshold (optional)", least=0, most=1)
    ] = 0.0
    project: Annotated[str | None, Param("only of this project")] = None
    path: Annotated[
        str | None, Param("only files there: docs/, *.md", grammar="path", blank=True)
    ] = None
    after: Annotated[
        str | None, Param("changed since: 2026-01-31, 7d", grammar="moment", blank=True)
    ] = None
    before: Annotated[str | None, Param("changed before", grammar="moment", blank=True)] = None
    as_of: Annotated[str | None, Param("as it was: a date, #12", grammar="as_of", blank=True)] = (
        None
    )
    profile: Annotated[
        str | None,
        Param("ranking recipe", grammar="profiles", blank=True),
    ] = None
    explain: Annotated[bool, Param("component scores")] = False
    facets: Annotated[tuple[str, ...], Param("count all that match by these", choices=FACETS)] = ()
    syntax: Annotated[str, Param("query: with operators (tag:x -word)", choices=SYNTAXES)] = "plain"
    session: Annotated[
        str | None,
        Param("record results as recalled", grammar="session", blank=True),
    ] = None
    offset: int = 0  # what no agent asks for: `cursor` says it
    with_content: bool = True  # … and `detail` this


class RelatedInput(NamedTuple):
    """S4-14."""

    entry_id: Annotated[str, Param("UUID of the entry to find related entries for", format="uuid")]
    limit: Annotated[int, Param("Maximum results to return", least=1, most=20)] = 5
    as_of: Annotated[str | None, Param("moment", grammar="as_of", blank=True)] = None
    offset: int = 0
    with_content: bool = True


def kb_search(base: Base, **arguments: Any) -> SearchOutput:
    """S4-01: hybrid search over entries, by the base's profile unless another is named."""
    return search_entries(base, build(SearchInput, arguments))


def search_entries(base: Base, asked: SearchInput) -> SearchOutput:
    if not asked.query.strip():
        raise InvalidInput("query cannot be empty", field="query", hint="at least one word")
    request = _request(base, asked)
    when = base.moment_of(request._replace(as_of=asked.as_of or None))
    if when is not None:
        with base.as_of(when) as then:
            return search_entries(then, asked._replace(as_of=None))
    if asked.syntax == "query":
        _check(base, request)
    answer = base.search(request)
    entries = found_entries(base, answer.hits, whole=asked.with_content)
    return SearchOutput(entries, _metadata(base, asked, request, answer))


def _request(base: Base, asked: SearchInput) -> SearchRequest:
    """The same search as everybody's; an entry is a document, and any of the tags will do."""
    try:
        base.check_types((asked.entry_type,) if asked.entry_type else ())
    except InvalidInput as error:
        raise InvalidInput(error.message, field="entry_type", hint=error.hint) from None
    filters = {name: getattr(asked, name) for name in _FILTERS if getattr(asked, name)}
    if asked.min_confidence > 0:
        filters["confidence"] = f">={asked.min_confidence}"
    return SearchRequest(
        query=asked.query,
        syntax=asked.syntax,
        tags=asked.tags,
        tags_match="any",
        type=(asked.entry_type,) if asked.entry_type else (),
        filters=filters,
        top=asked.limit,
        offset=asked.offset,
        unit="document",
        profile=asked.profile,
        explain=asked.explain,
        facets=asked.facets,
        session_record=asked.session,
    )


def _check(base: Base, request: SearchRequest) -> None:
    """An agent learns of a misspelt operator by an error; quotes are relaxed as for everybody."""
    from knowbase.search.understand import understand

    profile = base.profile_for(request.profile)
    strict = request._replace(strict=True)
    understand(strict, profile, base.search_services.language, base.now())


def kb_get_related(base: Base, **arguments: Any) -> RelatedOutput:
    """S4-14, S4-29: the parent, the siblings, entries that share two tags or more, then what
    links lead to, as `kb related` has them; an id that nothing has is an error."""
    return related_entries(base, build(RelatedInput, arguments))


def related_entries(base: Base, asked: RelatedInput) -> RelatedOutput:
    if asked.as_of:
        with base.as_of(asked.as_of) as then:
            return related_entries(then, asked._replace(as_of=None))
    found = base.graph.related(asked.entry_id, asked.offset + asked.limit)
    entries = entries_of(base, found.results[asked.offset :], whole=asked.with_content)
    more = found.metadata.total > asked.offset + len(entries)
    return RelatedOutput(entries, RelatedMetadata(*found.metadata, more=more))


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "kb_search",
            "Search the knowledge base using hybrid semantic + keyword search.",
            SearchInput,
            search_entries,
        ),
        Operation(
            "kb_get_related",
            "Find entries related to a specific entry via parent/sibling relationships, tag"
            " overlap or links.",
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

    def get_related(self, **arguments: Any) -> RelatedOutput:
        return kb_get_related(self.base, **arguments)

    def close(self) -> None:
        self.base.close()


def _metadata(
    base: Base, asked: SearchInput, request: SearchRequest, answer: Answer
) -> SearchMetadata:
    profile = base.profile_for(asked.profile)
    is_exact = answer.total < profile.candidates(asked.limit)
    is_last = is_exact and answer.total <= answer.offset + answer.returned
    return SearchMetadata(
        total=answer.total,
        total_is_exact=is_exact,
        matching=_matching(base, request, profile),
        fallback_mode=answer.fallback_mode,
        query_time_ms=answer.query_time_ms,
        search_modes_used=answer.search_modes_used,
        profile=answer.profile,
        more=answer.next_cursor is not None and not is_last,
        notices=answer.notices,
        suggestions=() if answer.hits else _suggestions(base, asked, answer),
        debug_info=_debug_info(answer) if asked.explain else None,
        facets=answer.facets if asked.facets else None,
        verdict=answer.verdict.name,
        probability=answer.verdict.probability,
    )


def _matching(base: Base, request: SearchRequest, profile: "Profile") -> int:
    """S4-33: how many entries have the words that were looked for, whatever the legs proposed."""
    from knowbase.search.understand import understand

    inquiry = understand(request, profile, base.search_services.language, base.now())
    condition = both(inquiry.visible, inquiry.filter, inquiry.query.keyword_filter)
    return base.store.matching(inquiry.query.keyword, condition)


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
