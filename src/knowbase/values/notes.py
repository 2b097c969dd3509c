"""Notes and memories as they are given, and what becomes of them."""

from typing import NamedTuple

from knowbase.values.documents import Document


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
