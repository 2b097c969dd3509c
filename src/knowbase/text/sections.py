"""A document's sections as they were put in, made of its chunks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from knowbase.errors import NotFound
from knowbase.values.documents import Chunk, Document, Passage
from knowbase.values.plain import as_dict
from knowbase.values.reading import Section

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

    def to_dict(self) -> dict[str, Any]:
        """As `kb get --json` has it."""
        return as_dict(self)


def stored_sections(passages: Sequence[Passage]) -> tuple[Section, ...]:
    """A stored document's sections as its reader gave them."""
    pieces: dict[str, list[Chunk]] = {}
    for passage in passages:
        pieces.setdefault(passage.chunk.slug, []).append(passage.chunk)
    return tuple(
        Section(
            slug,
            chunks[0].heading,
            chunks[0].header,
            "".join(chunk.text[chunk.overlap :] for chunk in chunks),
            chunks[0].line - chunks[0].header.count("\n"),
            chunks[0].page,
        )
        for slug, chunks in pieces.items()
    )


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
