"""Documents, and the chunks that they are indexed by."""

from collections.abc import Mapping
from typing import NamedTuple

DOCUMENT_TYPES = (
    "markdown", "pdf", "code", "html", "text", "note",
    "fact", "decision", "lesson", "summary", "template", "temp_note",
)  # fmt: skip


SCOPES = ("global", "project")
SECTORS = ("reflective", "semantic", "procedural", "emotional", "episodic")
TIERS = ("session", "project", "global")
DEFAULT_SALIENCE = 0.5


class Chunk(NamedTuple):
    """What is indexed and embedded: a section, or a piece of a long one."""

    slug: str
    chunk_index: int  # 0, 1, 2 … within the section
    heading: str | None
    header: str
    text: str
    overlap: int  # how many leading characters repeat the end of the piece before
    line: int
    page: int | None
    tokens: int  # as the model counts them, heading and markers included
    hash: str  # SHA-256 of what is embedded


class Document(NamedTuple):
    """Anything put in: a file, a note, a decision, a memory."""

    id: str
    seq: int  # never reused
    code: str
    title: str
    type: str
    tags: tuple[str, ...]
    path: str | None
    created_at: str
    updated_at: str
    parent: str | None = None
    project: str | None = None
    roles: tuple[str, ...] = ()
    confidence: float | None = None
    archived: bool = False
    expires_at: str | None = None
    superseded_by: str | None = None
    valid_until: str | None = None
    scope: str = "global"
    sector: str | None = None
    tier: str | None = None
    salience: float = DEFAULT_SALIENCE
    access_count: int = 0
    last_accessed_at: str | None = None
    confirmed: int = 0  # how often it was found good, less how often bad
    deleted_at: str | None = None  # forgotten: never shown, but it can be restored
    content_hash: str = ""  # of its text, whatever the case and the spaces
    metadata: Mapping[str, object] = {}


def is_superseded(document: Document, now: str) -> bool:
    """Whether another one has taken its place, or its time is over."""
    ended = document.valid_until is not None and document.valid_until <= now
    return document.superseded_by is not None or ended


def names_of(code: str, path: str | None) -> tuple[str, ...]:
    """What a document is also called: its code, and its file's name."""
    return (code, path.rpartition("/")[2]) if path else (code,)


class Candidate(NamedTuple):
    """What a leg proposes: a chunk and the leg's own score, higher is better."""

    chunk: int
    score: float


class Passage(NamedTuple):
    """A chunk together with the document that holds it."""

    chunk_id: int
    chunk: Chunk
    document: Document


class Page(NamedTuple):
    """Which stretch of a listing, always in the same order."""

    limit: int = 50
    offset: int = 0
    order: str = "newest"  # or: created, created last, expires


ALL = Page(limit=2**62)


class Listing(NamedTuple):
    """Documents, newest first, and how many there are in all."""

    documents: tuple[Document, ...]
    total: int


class Counts(NamedTuple):
    """How much a base holds."""

    documents: int
    chunks: int
    embedded: int
    tags: int
    types: Mapping[str, int]
    forgotten: int = 0  # documents that are counted nowhere else, except by their chunks
