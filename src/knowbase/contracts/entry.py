"""Entries as agents get them: the results of kb_search and of kb_get_related (S4-02, S4-29)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.query.conditions import OneOf
from knowbase.ranking.verdict import NOTHING
from knowbase.search.answer import Copy, Explanation, FacetCount, Hit
from knowbase.text.sections import content_of
from knowbase.text.snippets import MARK, snippet
from knowbase.values.documents import Document, Passage

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.graph.related import RelatedDocument


class Entry(NamedTuple):
    """S4-02: one result."""

    id: str
    code: str
    title: str
    content: str | None  # the whole text; None when it was not asked for
    entry_type: str
    roles: tuple[str, ...]
    tags: tuple[str, ...]
    confidence: float | None
    created_at: str
    updated_at: str
    score: float | None  # of a search
    highlights: tuple[str, ...]  # what matched, marked; nothing for a match by meaning alone
    section: str  # CODE:slug, where the best match is
    snippet: str  # the start of that section, or what matched in it
    explanation: Explanation | None = None
    path: str | None = None
    project: str | None = None
    heading: str | None = None
    line: int = 1
    page: int | None = None
    more: int = 0
    copies: tuple[Copy, ...] = ()
    is_relaxed: bool | None = None  # when it lacks what quotes or + in the query require
    relation: str | None = None  # of kb_get_related, as are the two below
    shared_tags: int | None = None
    proximity: float | None = None


class SearchMetadata(NamedTuple):
    """S4-02, S4-33. `total` counts the entries that the legs proposed, before the cut to `limit`:
    when neither was cut at its depth it is exact, else there are at least so many. `matching` is
    always exact."""

    total: int
    total_is_exact: bool
    matching: int
    fallback_mode: bool
    query_time_ms: float
    search_modes_used: tuple[str, ...]
    profile: str
    more: bool = False  # whether there are further results
    notices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()  # tags and words to try, when nothing was found
    debug_info: dict[str, Any] | None = None
    facets: Mapping[str, tuple[FacetCount, ...]] | None = None  # when they were asked for
    verdict: str = NOTHING  # strong, likely, weak or nothing found
    probability: float = 0.0  # that the answer is there


class RelatedMetadata(NamedTuple):
    """S4-15: how many there are in all, and which relations the results have."""

    total: int
    relationship_types: tuple[str, ...]
    more: bool = False


class SearchOutput(NamedTuple):
    results: tuple[Entry, ...]
    metadata: SearchMetadata


class RelatedOutput(NamedTuple):
    results: tuple[Entry, ...]
    metadata: RelatedMetadata


def found_entries(base: "Base", hits: Sequence[Hit], *, whole: bool) -> tuple[Entry, ...]:
    """Hits as entries; with `whole`, each has its whole text."""
    texts = whole_texts(base, [hit.document for hit in hits]) if whole else {}
    return tuple(_found(hit)._replace(content=texts.get(hit.id)) for hit in hits)


def related_entries(
    base: "Base", related: "Sequence[RelatedDocument]", *, whole: bool
) -> tuple[Entry, ...]:
    """Related documents as entries, each shown by its opening."""
    documents = [one.document for one in related]
    ids = OneOf("id", tuple(document.id for document in documents))
    openings = {one.document.id: one for one in base.store.newest(ids, len(documents))}
    texts = whole_texts(base, documents) if whole else {}
    return tuple(
        _opening(openings[one.document.id])._replace(
            content=texts.get(one.document.id),
            relation=one.relation,
            shared_tags=one.shared_tags or None,
            proximity=one.proximity or None,
        )
        for one in related
        if one.document.id in openings  # unless another process has just removed it
    )


def whole_texts(base: "Base", documents: Sequence[Document]) -> Mapping[str, str]:
    """The texts of these documents as they were put in, by their ids."""
    return {
        document.id: content_of(document, base.store.chunks(document.id), None).text
        for document in documents
    }


def _found(hit: Hit) -> Entry:
    return _entry(hit.document)._replace(
        score=hit.score,
        highlights=(hit.snippet,) if MARK in hit.snippet else (),
        section=hit.section,
        snippet=hit.snippet,
        explanation=hit.explanation,
        heading=hit.heading,
        line=hit.line,
        page=hit.page,
        more=hit.more,
        copies=hit.copies,
        is_relaxed=hit.is_relaxed or None,
    )


def _opening(passage: Passage) -> Entry:
    document, chunk = passage.document, passage.chunk
    return _entry(document)._replace(
        section=f"{document.code}:{chunk.slug}",
        snippet=snippet(chunk.text, ()).text,
        heading=chunk.heading,
        line=chunk.line,
        page=chunk.page,
    )


def _entry(document: Document) -> Entry:
    """What a document says of itself; where it matched and why is put in by who knows."""
    return Entry(
        id=document.id,
        code=document.code,
        title=document.title,
        content=None,
        entry_type=document.type,
        roles=document.roles,
        tags=document.tags,
        confidence=document.confidence,
        created_at=document.created_at,
        updated_at=document.updated_at,
        score=None,
        highlights=(),
        section=document.code,
        snippet="",
        path=document.path,
        project=document.project,
    )
