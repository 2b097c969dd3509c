"""Documents, and the chunks that they are indexed by."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Annotated, Any, NamedTuple

from knowbase.values.fields import Field, Filter, fields_of
from knowbase.values.plain import as_dict

DOCUMENT_TYPES = (
    "markdown", "pdf", "code", "html", "text", "note",
    "fact", "decision", "lesson", "summary", "template", "temp_note",
    "office", "book", "mail", "notebook", "reference", "image",
    "web", "commit", "conversation", "bookmark",
)  # fmt: skip
SCOPES = ("global", "project")
SECTORS = ("reflective", "semantic", "procedural", "emotional", "episodic")
TIERS = ("session", "project", "global")
DEFAULT_SALIENCE = 0.5
_DATE = "2026-01-15, 2026-01, 7d, yesterday; > < >= <= before it"
_DIGITS = 17  # of a number that every store can hold
_PATH = "a folder, a file or a pattern: docs/, deploy.md, docs/**/*.md"
_SHARE = "0 to 1, such as >=0.8"


class Document(NamedTuple):
    """Anything put in: a file, a note, a decision, a memory. Its annotations are the field table:
    whatever knows the fields of a document is made from them."""

    id: Annotated[str, Field("its own name, for good")]
    seq: Annotated[int, Field("its number, never reused", "count")]
    code: Annotated[
        str,
        Field("a short name", keys=("code", "short_code"), note="a short code of its own"),
    ]
    title: Annotated[
        str, Field("its title", keys=("title",), note="its title; else the first line")
    ]
    type: Annotated[
        str,
        Field(
            "what kind of document it is",
            "type",
            keys=("type", "level"),
            note="fact (the default), decision, lesson, summary …",
            filters=(Filter("type", "listed", value="one or more types: note,decision"),),
        ),
    ]
    tags: Annotated[
        tuple[str, ...],
        Field(
            "what it is about, in a word each",
            "tags",
            keys=("tags",),
            note="its tags",
            filters=(
                Filter("tag", "tagged", value="a tag; several with commas: all of them"),
                Filter("tags", "tagged", value="the same"),
            ),
        ),
    ]
    path: Annotated[
        str | None,
        Field(
            "its file, seen from the base's home",
            filters=(
                Filter("path", "path", "only files there: docs/, '*.md'", "PATH", _PATH),
                Filter("folder", "folder", value="a folder: docs, api/v*"),
            ),
        ),
    ]
    created_at: Annotated[
        str,
        Field(
            "when it was put in, or what it says itself",
            "moment",
            keys=(
                "created_at",
                "created",
                "date_created",
                "date",
                "published",
                "publishdate",
                "pubdate",
            ),
            kept=True,
            filters=(Filter("created", "time", "when it was put in: '>2026-01'", "DATE", _DATE),),
        ),
    ]
    updated_at: Annotated[
        str,
        Field(
            "when its text was changed, or what it says itself",
            "moment",
            keys=(
                "updated_at",
                "updated",
                "last_modified",
                "last_modified_at",
                "lastmod",
                "modified",
                "date_modified",
                "last_updated",
            ),
            kept=True,
            filters=(
                Filter("updated", "time", "when it was changed: '>7d'", "DATE", _DATE),
                Filter("after", "since", "changed on or after: 2026-01-31, 7d …", "DATE", "a date"),
                Filter("before", "until", "changed before", "DATE", "a date"),
            ),
        ),
    ]
    parent: Annotated[
        str | None,
        Field(
            "the document it lies under",
            "code",
            keys=("parent",),
            note="the document it lies under",
            filters=(
                Filter("under", "below", "only what lies below this document", "CODE", "a code"),
                Filter("children", "child", "only its direct children", "CODE", "a code"),
                Filter("parent", "child", value="the same"),
            ),
        ),
    ] = None
    project: Annotated[
        str | None,
        Field(
            "the project that it belongs to",
            keys=("project",),
            note="the project that it belongs to",
            filters=(Filter("project", "equal", "only of this project", value="a project"),),
        ),
    ] = None
    roles: Annotated[
        tuple[str, ...],
        Field(
            "for whom it is meant",
            "names",
            keys=("roles",),
            note="for whom it is meant",
            filters=(Filter("role", "role", "only for this role, or for all", value="a role"),),
        ),
    ] = ()
    confidence: Annotated[
        float | None,
        Field(
            "how sure it is",
            "share",
            keys=("confidence",),
            note="how sure it is",
            filters=(Filter("confidence", "share", "such as '>=0.8'", "SHARE", _SHARE),),
        ),
    ] = None
    archived: Annotated[
        bool, Field("put away: hidden", "flag", keys=("archived",), command=True)
    ] = False
    expires_at: Annotated[
        str | None,
        Field(
            "hidden from then on",
            "moment",
            keys=("expires", "expires_at"),
            command=True,
            filters=(Filter("expires", "time", value=_DATE),),
        ),
    ] = None
    superseded_by: Annotated[
        str | None,
        Field("what has taken its place: hidden", "code", keys=("superseded_by",), command=True),
    ] = None
    valid_until: Annotated[
        str | None,
        Field("it held until then: hidden", "moment", keys=("valid_until",), command=True),
    ] = None
    scope: Annotated[
        str,
        Field(
            "whom it concerns",
            "choice",
            SCOPES,
            keys=("scope",),
            note="whom it concerns; else project if it has one",
            filters=(Filter("scope", "listed", "global or project"),),
        ),
    ] = "global"
    sector: Annotated[
        str | None,
        Field(
            "the kind of memory",
            "choice",
            SECTORS,
            keys=("sector",),
            note="the kind of memory",
            filters=(Filter("sector", "listed", "only of this sector"),),
        ),
    ] = None
    tier: Annotated[
        str | None,
        Field(
            "how long it matters",
            "choice",
            TIERS,
            keys=("tier",),
            note="how long it matters",
            filters=(Filter("tier", "listed", "only of this tier"),),
        ),
    ] = None
    salience: Annotated[
        float,
        Field(
            "how much it matters",
            "share",
            keys=("salience",),
            note="how much it matters",
            kept=True,
            filters=(Filter("salience", "share", "such as '>0.5'", "SHARE", _SHARE),),
        ),
    ] = DEFAULT_SALIENCE
    access_count: Annotated[int, Field("how often it was of use", "count")] = 0
    last_accessed_at: Annotated[str | None, Field("when it was last of use", "moment")] = None
    confirmed: Annotated[int, Field("how often it was found good, less how often bad", "count")] = 0
    deleted_at: Annotated[
        str | None,
        Field("forgotten: never shown, but it can be restored", "moment", command=True),
    ] = None
    judged: Annotated[
        str | None,
        Field("what was decided of it in the inbox, when and by whom", command=True),
    ] = None
    content_hash: Annotated[str, Field("of its text, whatever the case and the spaces")] = ""
    split_by: Annotated[
        str, Field("the settings that its text was read and split by; nothing: the first ones")
    ] = ""
    metadata: Annotated[
        Mapping[str, object], Field("whatever else its front matter says", "other")
    ] = {}

    def to_dict(self) -> dict[str, Any]:
        """As `kb list --json` has it."""
        return as_dict(self)


FIELDS = fields_of(Document)
STATED = tuple(name for name, field in FIELDS.items() if field.keys)
"""What a document's text may say of it."""
EDITABLE = tuple(name for name, field in FIELDS.items() if field.command)
"""What commands say of a document; it outlives what the document's text says."""

STATES = {
    "archived": {"archived": "set"},
    "expired": {"expires_at": "past"},
    "superseded": {"superseded_by": "present", "valid_until": "past"},
}
"""The lifecycle: the fields that hide a document unless it is asked for, and what says so. What
was forgotten (`deleted_at`) is hidden whatever is asked for."""


_SAID = {state: attrgetter(*tests) for state, tests in STATES.items()}
_NOTHING = (None, None)


def is_in(document: Document, state: str, now: str) -> bool:
    """Whether the document is in this state at this moment."""
    if _SAID[state](document) == _NOTHING:  # as of nearly all of them
        return False
    for name, test in STATES[state].items():
        value = getattr(document, name)
        if value is not None and _says(value, test, now):
            return True
    return False


def _says(value: object, test: str, now: str) -> bool:
    if test == "past":
        return isinstance(value, str) and value <= now
    return bool(value) if test == "set" else value is not None


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


def seq_of(reference: str) -> int | None:
    """The `seq` that a reference is written as; only the digits 0 to 9 write one."""
    if not (reference.isascii() and reference.isdecimal()) or len(reference) > _DIGITS:
        return None
    return int(reference) if str(int(reference)) == reference else None


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


def each_once(documents: Iterable[Document]) -> list[Document]:
    """The same, those that are named twice once."""
    return [*{one.id: one for one in documents}.values()]


class Listing(NamedTuple):
    """Documents, newest first, and how many there are in all."""

    documents: tuple[Document, ...]
    total: int
    notices: tuple[str, ...] = ()  # what should be known of it: a filter that means nothing here
    hidden: Mapping[str, int] = {}  # how many more there are, by the state that hides them

    def to_dict(self) -> dict[str, Any]:
        """As `kb list --json` has it."""
        return as_dict(self)


class Counts(NamedTuple):
    """How much a base holds."""

    documents: int
    chunks: int
    embedded: int
    tags: int
    types: Mapping[str, int]
    forgotten: int = 0  # documents that are counted nowhere else, except by their chunks
