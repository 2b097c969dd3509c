"""Documents as users see them: content, listings, status."""

from collections.abc import Sequence
from typing import NamedTuple

from knowbase.types import Document, FileRecord, Model, Passage, Source


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


class Listing(NamedTuple):
    """Documents, newest first, and how many there are in all."""

    documents: tuple[Document, ...]
    total: int


class Status(NamedTuple):
    """What a base holds and whether all is well with it."""

    base: str
    size_bytes: int
    documents: int
    chunks: int
    embedded: int
    tags: int
    types: dict[str, int]
    model: Model | None
    sources: tuple[Source, ...]
    problems: tuple[FileRecord, ...]


class Note(NamedTuple):
    """A text without a file."""

    text: str
    title: str | None = None
    tags: tuple[str, ...] = ()
    type: str | None = None  # as its front matter says, else note
    code: str | None = None
    replaces: str | None = None  # a reference to the note that this one takes the place of


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
