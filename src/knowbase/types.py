"""The values that cross the seams between the layers: all of them immutable.

They are named tuples rather than dataclasses because importing `dataclasses` alone
costs a third of what a whole keyword search from the command line may take.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

Vector: TypeAlias = bytes
"""A unit-length embedding as packed little-endian float32."""

DOCUMENT_TYPES = (
    "markdown", "pdf", "code", "html", "text", "note",
    "fact", "decision", "lesson", "summary", "template", "temp_note",
)  # fmt: skip


SCOPES = ("global", "project")
SECTORS = ("reflective", "semantic", "procedural", "emotional", "episodic")
TIERS = ("session", "project", "global")
DEFAULT_SALIENCE = 0.5
USAGES = ("created", "recalled", "updated", "reinforced")
RELATIONS = ("RELATED_TO", "REFERENCES")  # what a person or an agent may say of two documents


def is_superseded(document: "Document", now: str) -> bool:
    """Whether another one has taken its place, or its time is over."""
    ended = document.valid_until is not None and document.valid_until <= now
    return document.superseded_by is not None or ended


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


class Candidate(NamedTuple):
    """What a leg proposes: a chunk and the leg's own score, higher is better."""

    chunk: int
    score: float


class Passage(NamedTuple):
    """A chunk together with the document that holds it."""

    chunk_id: int
    chunk: Chunk
    document: Document


class Source(NamedTuple):
    """A file or folder that was added and is kept in step."""

    path: str
    tags: tuple[str, ...] = ()
    parent: str | None = None  # the parent of its documents that name none themselves
    tree: bool = False  # … or, folder by folder, the index page


class FileRecord(NamedTuple):
    """What is known of a file on disk, so that an unchanged one costs a stat."""

    path: str
    source: str
    size: int
    mtime_ns: int
    sha256: str
    document: str | None = None  # the id of the document made from it
    problem: str | None = None  # why it could not be read
    excluded: bool = False  # removed by hand: stays out until added again


class Session(NamedTuple):
    """A stretch of work in which documents are made and used."""

    id: str
    project: str | None
    started_at: str
    ended_at: str | None = None
    summary: str | None = None
    uses: int = 0  # how many uses are recorded; never written


class Use(NamedTuple):
    """How a document took part in a session; one a kind."""

    session: str
    document: str
    usage: str  # of USAGES
    used_at: str = ""  # when it is written, the moment of the change


class Relation(NamedTuple):
    """What a person or an agent says of two documents."""

    source: str
    target: str
    relation: str  # of RELATIONS
    origin: str
    created_at: str = ""  # when it is written, the moment of the change


class Model(NamedTuple):
    """The identity of an embedding model; vectors of two identities are never compared."""

    name: str
    revision: str
    dimensions: int


class StoredModel(NamedTuple):
    """A model whose vectors a base holds."""

    model: Model
    source: str  # how to load it; only the embedders understand it
    vectors: int  # chunks that have one
    active: bool  # the one that searches use


class Counts(NamedTuple):
    """How much a base holds."""

    documents: int
    chunks: int
    embedded: int
    tags: int
    types: Mapping[str, int]
    forgotten: int = 0  # documents that are counted nowhere else, except by their chunks


def names_of(code: str, path: str | None) -> tuple[str, ...]:
    """What a document is also called: its code, and its file's name."""
    return (code, path.rpartition("/")[2]) if path else (code,)
