"""Notes and memories as they are given, and what becomes of them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.values.documents import FIELDS, Document
from knowbase.values.kinds import Unfit, clean_tags, fitted
from knowbase.values.parameters import listed
from knowbase.values.plain import as_dict

STATED_BY_NOTES = (
    *(name for name, field in FIELDS.items() if field.note),
    "expires_at",  # as --ttl or --expires
)
"""The fields of a document that a note may state."""


class _Note(NamedTuple):
    text: str
    stated: Mapping[str, Any]  # fields of the document, by name; the rest is as its text says
    replaces: str | None  # a reference to the note that is written anew
    supersedes: str | None  # a reference to the document that this one takes the place of
    session: str | None  # the session in which it is written
    since: str | None = None  # of one that replaces: when the note that was read had been changed


_OWN = tuple(name for name in _Note._fields if name != "stated")


class Note(_Note):
    """A text without a file: Note("Deploys freeze on Fridays", tags=["ops"], project="web").

    Any of STATED_BY_NOTES may be given. What is None is as its front matter says, else as it was.
    """

    __slots__ = ()

    def __new__(
        cls,
        text: str,
        *,
        replaces: str | None = None,
        supersedes: str | None = None,
        session: str | None = None,
        since: str | None = None,
        **stated: Any,
    ) -> "Note":
        own = {
            "text": text,
            "replaces": replaces,
            "supersedes": supersedes,
            "session": session,
            "since": since,
        }
        for name, value in own.items():
            if not isinstance(value, str) and (name == "text" or value is not None):
                raise InvalidInput(
                    f"{name} cannot be {value!r}", field=name, hint="it must be text"
                )
        given = {name: value for name, value in stated.items() if value is not None}
        return super().__new__(cls, text, _checked(given), replaces, supersedes, session, since)

    def _replace(self, **changes: Any) -> "Note":
        """The same note with other values, fields of its document included."""
        own = {name: changes.pop(name, getattr(self, name)) for name in _OWN}
        return Note(**own, **{**self.stated, **changes})

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        own = {name: getattr(self, name) for name in _OWN if name != "text"}
        return (self.text,), {**own, **self.stated}

    def __getattr__(self, name: str) -> Any:
        """A field of its document, as it states it."""
        if name in STATED_BY_NOTES:
            return self.stated.get(name)
        raise AttributeError(f"a note has no {name!r}")

    def value(self, field: str) -> Any:
        """What it states of a field of its document; None when it does not."""
        return self.stated.get(field)


def as_note(given: Note | str) -> Note:
    """A text alone is a note, too."""
    if not isinstance(given, Note | str):
        kind = type(given).__name__
        raise InvalidInput(f"a note cannot be a {kind}", field="text", hint="a text or a Note")
    return Note(given) if isinstance(given, str) else given


def _checked(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The fields as they are stored; a wrong one is an error that names it and what it may be."""
    return {name: _fitted(name, value) for name, value in stated.items() if value not in ((), [])}


def _fitted(name: str, value: Any) -> Any:
    if name not in STATED_BY_NOTES:
        raise InvalidInput(
            f"a note has no {name!r}", field=name, hint="one of " + ", ".join(STATED_BY_NOTES)
        )
    field = FIELDS[name]
    value = listed(name, value) if field.check.type is tuple else value
    try:
        value = fitted(field.check, value)
    except Unfit as error:
        raise InvalidInput(
            f"{name} cannot be {error.value!r}", field=name, hint=error.expected
        ) from None
    if name == "code" and not value.strip():
        raise InvalidInput(f"code cannot be {value!r}", field=name, hint="a name of its own")
    if field.kind == "names":
        return tuple(one.lower() for one in value)
    return clean_tags(value) if field.kind == "tags" else value


class Noted(Document):
    """A note as it was written, and what is to be known of it: that its vector is made later. In
    JSON that stands beside its fields, when there is something to be said."""

    notices: tuple[str, ...] = ()

    @classmethod
    def of(cls, document: Document, notices: Sequence[str]) -> Document:
        if not notices:
            return document
        made = cls(*document)
        made.notices = tuple(notices)
        return made

    def _asdict(self) -> dict[str, Any]:
        return {**super()._asdict(), "notices": self.notices}


class SimilarDocument(NamedTuple):
    """A document that says almost the same, or says otherwise."""

    document: Document
    similarity: float  # cosine; of what has no vectors, the share of the words
    opening: str
    contradicts: bool = False  # it may: its words differ where the others agree
    differs: str = ""  # how: its words → those of the new text


class Remembered(NamedTuple):
    """What became of a text that was to be remembered."""

    document: Document
    created: bool  # False: this text was known already, and nothing was changed
    similar: tuple[SimilarDocument, ...] = ()
    superseded: Document | None = None
    notices: tuple[str, ...] = ()  # what is to be known of it: that its vector is made later

    def to_dict(self) -> dict[str, Any]:
        """As `kb remember --json` has it."""
        return as_dict(self)
