"""What a reader makes of a text."""

from collections.abc import Mapping
from typing import NamedTuple


class Link(NamedTuple):
    """A reference found in a text, not yet resolved to a document."""

    target: str
    kind: str  # "wiki", "markdown" or "code"


class Section(NamedTuple):
    """A document's part under a heading; all headers and texts together are the document."""

    slug: str  # "_preamble", "detailed-design", "detailed-design-2"
    heading: str | None  # as shown to a person
    header: str  # as written in the source, line end included; "" when there is none
    text: str  # what follows the header
    line: int  # where the section starts in the source, from 1
    page: int | None = None


class Reading(NamedTuple):
    """What a reader made of one file or note."""

    type: str
    title: str
    sections: tuple[Section, ...]
    tags: tuple[str, ...] = ()
    code: str | None = None
    parent: str | None = None
    project: str | None = None
    roles: tuple[str, ...] = ()
    confidence: float | None = None
    archived: bool = False
    expires_at: str | None = None
    superseded_by: str | None = None
    valid_until: str | None = None
    scope: str | None = None
    sector: str | None = None
    tier: str | None = None
    salience: float | None = None  # None: as it is, DEFAULT_SALIENCE for a new document
    metadata: Mapping[str, object] = {}
    links: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = ()  # what its reader could not make sense of


AS_READ = (
    "title", "type", "parent", "project", "confidence", "archived", "expires_at",
    "superseded_by", "valid_until", "sector", "tier",
)  # fmt: skip
"""What a store keeps of a reading as it is."""


def scope_of(reading: Reading) -> str:
    """As stated; else what belongs to a project is the project's."""
    return reading.scope or ("project" if reading.project else "global")


def content_hash(reading: Reading) -> str:
    """The same for two documents whose texts differ in case and spaces alone."""
    return text_hash("".join(section.header + section.text for section in reading.sections))


def text_hash(text: str) -> str:
    """The same for two texts that differ in case and spaces alone."""
    import hashlib
    import unicodedata

    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(folded.encode()).hexdigest()
