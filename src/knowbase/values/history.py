"""What a base was: its changes in order, and what each of them replaced.

Apart from the documents, because a search needs none of it.
"""

from contextvars import ContextVar
from typing import Any, NamedTuple

from knowbase.values.access import NOBODY, speaker
from knowbase.values.copies import Copy
from knowbase.values.documents import Document
from knowbase.values.edges import Relation
from knowbase.values.vectors import Model, Vector

ADDED, CHANGED, FORGOTTEN, SHOWN, REMOVED, ERASED = (
    "added", "changed", "forgotten", "restored", "removed", "erased",
)  # fmt: skip
"""What can become of a document."""


class Command(NamedTuple):
    """Through what a base is written to."""

    surface: str  # cli, python, http, mcp
    name: str
    run: str  # the same for all that one command writes, another one for the next


surface: ContextVar[str] = ContextVar("surface", default="python")
"""Where commands of their own come from: rounds of a watch."""

command: ContextVar[Command | None] = ContextVar("command", default=None)
"""What is under way, as it is written beside what it changes; surfaces say so."""


def writer() -> str:
    """Who writes: the name of a token or, at this machine, of its user."""
    name = speaker.get()
    if name != NOBODY:
        return name
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # a container's user may have no name
        return NOBODY


class Touched(NamedTuple):
    """A document that a change concerns."""

    what: str
    id: str
    code: str
    project: str | None = None


class Change(NamedTuple):
    """One transaction. Its number is its place in time, whatever the clock said."""

    number: int
    at: str
    who: str
    surface: str
    command: str
    session: str | None
    run: str
    touched: tuple[Touched, ...]
    next_seq: int  # of documents, when it was done
    next_chunk: int


BEFORE = Change(0, "", "", "", "", None, "", (), 1, 1)
"""Before the first one; what a base had when it began to keep a history was there by then."""


class Kept(NamedTuple):
    """A document with everything that a version has of it; what use it was is not."""

    copy: Copy
    relations: tuple[Relation, ...]  # from it, sorted

    @property
    def document(self) -> Document:
        return self.copy.document

    @property
    def text(self) -> str:
        pieces = (
            one.chunk.text[one.chunk.overlap :]
            if one.chunk.overlap
            else one.chunk.header + one.chunk.text
            for one in self.copy.chunks
        )
        return "".join(pieces)


class Version(NamedTuple):
    """A document from one change up to, not including, another; None: it is so now."""

    id: str
    since: int
    until: int | None
    document: Document | None  # None: it is no longer kept

    def has(self, number: int) -> bool:
        return self.since <= number and (self.until is None or number < self.until)


class PastVersion(NamedTuple):
    """A version as it is stored: all but its text as JSON, and where its chunks stood."""

    document: int  # its seq
    id: str
    since: int
    until: int
    data: str | None  # None: it is no longer kept
    places: str | None  # [[chunk, line, page]]; None: as in the version after it


class PastChunk(NamedTuple):
    """What a chunk said until a change."""

    chunk: int
    document: int
    until: int
    slug: str
    chunk_index: int
    overlap: int
    tokens: int
    hash: str
    heading: str | None
    header: str
    text: str
    vectors: tuple[tuple[Model, Vector], ...] = ()
    title: str = ""  # as it was indexed
    terms: str = ""


class HistoryPart(NamedTuple):
    """A change with all that it replaced: in these parts a history is copied."""

    change: Change
    versions: tuple[PastVersion, ...] = ()
    chunks: tuple[PastChunk, ...] = ()


class Wanted(NamedTuple):
    """Which changes are asked for, the newest first."""

    document: str | None = None  # an id
    who: str | None = None
    surface: str | None = None
    command: str | None = None
    session: str | None = None
    run: str | None = None
    after: str | None = None  # moments
    before: str | None = None
    limit: int = 50

    def passes(self, change: Change) -> bool:
        """Whether it is one of them; how many there may be is another matter."""
        for name in ("who", "surface", "command", "session", "run"):
            if getattr(self, name) not in (None, getattr(change, name)):
                return False
        if self.document is not None and self.document not in {t.id for t in change.touched}:
            return False
        return (self.after or "") <= change.at and (self.before is None or change.at < self.before)


def packed(kept: Kept) -> str:
    """A version as it is stored, its text apart."""
    import json

    copy = kept.copy
    values: dict[str, Any] = {
        "document": {**copy.document._asdict(), "metadata": dict(copy.document.metadata)},
        "said": dict(copy.said),
        "links": copy.links,
        "relations": kept.relations,
    }
    return json.dumps(values, ensure_ascii=False)
