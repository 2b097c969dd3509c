"""Documents as users see them: content, listings, status."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from knowbase.errors import NotFound
from knowbase.types import Document, FileRecord, Model, Passage, Source, StoredModel

MOST_NAMED = 12  # sections that an error names


class SectionText(NamedTuple):
    """A section as it stands in a document."""

    section: str  # CODE:slug
    heading: str | None
    line: int
    page: int | None
    text: str


class Content(NamedTuple):
    """A document, or one section of it, as it was put in."""

    document: Document
    sections: tuple[SectionText, ...]
    text: str
    current: str | None = None  # the code of what has taken its place


class Listing(NamedTuple):
    """Documents, newest first, and how many there are in all."""

    documents: tuple[Document, ...]
    total: int


class Status(NamedTuple):
    """What a base holds and whether all is well with it."""

    base: str
    size_bytes: int | None  # of its file; a database is shared with others
    documents: int
    chunks: int
    embedded: int
    tags: int
    types: Mapping[str, int]
    forgotten: int
    model: Model | None
    models: tuple[StoredModel, ...]
    sources: tuple[Source, ...]
    problems: tuple[FileRecord, ...]
    copy_of: str | None = None  # while kb move has not finished with it


class Note(NamedTuple):
    """A text without a file. What is None is as its front matter says, else as it was."""

    text: str
    title: str | None = None
    tags: tuple[str, ...] = ()
    type: str | None = None
    code: str | None = None
    replaces: str | None = None  # a reference to the note that is written anew
    supersedes: str | None = None  # a reference to the document that this one takes the place of
    session: str | None = None  # the session in which it is written
    project: str | None = None
    scope: str | None = None
    sector: str | None = None
    tier: str | None = None
    roles: tuple[str, ...] = ()
    parent: str | None = None
    confidence: float | None = None
    salience: float | None = None
    expires_at: str | None = None


class Similar(NamedTuple):
    """A document that says almost the same."""

    document: Document
    similarity: float  # cosine
    opening: str


class Remembered(NamedTuple):
    """What became of a text that was to be remembered."""

    document: Document
    created: bool  # False: this text was known already, and nothing was changed
    similar: tuple[Similar, ...] = ()
    superseded: Document | None = None


def content_of(document: Document, passages: Sequence[Passage], slug: str | None) -> Content:
    """The whole document, or the section of that slug."""
    sections = sections_of(passages, document.code)
    if slug is not None:
        from knowbase.text.slugs import slugify

        wanted = (f"{document.code}:{slug}", f"{document.code}:{slugify(slug)}")
        everything = sections
        sections = tuple(section for section in sections if section.section in wanted)
        if not sections:
            names = [one.section for one in everything[:MOST_NAMED]]
            more = " …" if len(everything) > MOST_NAMED else ""
            hint = "its sections: " + ", ".join(names) + more
            raise NotFound(f"{document.code} has no section {slug!r}", hint=hint)
    return Content(document, sections, "".join(section.text for section in sections))


def sections_of(passages: Sequence[Passage], code: str) -> tuple[SectionText, ...]:
    """Chunks put together again: what a piece repeats of the one before is left out."""
    sections: dict[str, SectionText] = {}
    for passage in passages:
        chunk = passage.chunk
        text = chunk.header + chunk.text[chunk.overlap :]
        first = sections.get(chunk.slug)
        sections[chunk.slug] = (
            first._replace(text=first.text + text)
            if first
            else SectionText(
                section=f"{code}:{chunk.slug}",
                heading=chunk.heading,
                line=chunk.line - chunk.header.count("\n"),
                page=chunk.page,
                text=text,
            )
        )
    return tuple(sections.values())
