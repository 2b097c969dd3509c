"""What one transaction changes.

Apart from the documents, because a search needs none of it and each value costs start-up time.
"""

from collections.abc import Iterator, Mapping
from itertools import count
from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.values.characters import clean, composed
from knowbase.values.documents import Chunk
from knowbase.values.edges import Relation
from knowbase.values.files import FileRecord, Source
from knowbase.values.reading import Reading
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, Vector


class Draft(NamedTuple):
    """A document as it is to be written, with its chunks and their vectors.

    A new id with a path that a document has already means that document.
    """

    id: str
    reading: Reading
    path: str | None
    updated_at: str
    chunks: tuple[Chunk, ...]
    vectors: tuple[Vector | None, ...]  # one a chunk; None: not embedded
    once: bool = False  # unless a shown document of its project and type has this text
    mark: str = ""  # with `once`: unless there is a document of its id, which has the same mark
    own_code: bool = False  # not at all when another document has its code
    since: str = ""  # not at all when its document was changed after this moment


class Edit(NamedTuple):
    """What is said of a document's lifecycle; it outlives what the document's file says."""

    document: str
    values: Mapping[str, str | bool | None]  # of EDITABLE


class Reinforcement(NamedTuple):
    """A document was of use: once more, and its salience rises."""

    document: str
    amount: float  # this part of what is missing to 1


class Verdict(NamedTuple):
    """Whether a document was a good hit; it counts once an occasion, and the last one counts."""

    document: str
    occasion: str  # a session, or a day
    good: bool
    amount: float  # by which part its salience moves towards 1, or towards 0

    @property
    def counts(self) -> bool:
        """Whether it is a use of the document."""
        return self.good and self.amount > 0


class Codes(NamedTuple):
    """The codes that a document's text names, in place of those that were known."""

    document: str
    codes: tuple[str, ...]


class SavedSearch(NamedTuple):
    """A search under a name; only `search/saved.py` understands its options."""

    name: str
    query: str
    options: Mapping[str, object]
    created_at: str
    updated_at: str


class Changes(NamedTuple):
    """What one transaction writes, in this order; all of it happens or nothing."""

    removed: tuple[str, ...] = ()  # document ids
    erased: tuple[str, ...] = ()  # the same, with every version that they had
    drafts: tuple[Draft, ...] = ()
    files: tuple[FileRecord, ...] = ()
    forgotten: tuple[str, ...] = ()  # file paths
    sources: tuple[Source, ...] = ()
    dropped_sources: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    sessions: tuple[Session, ...] = ()  # a known one keeps its project and start
    uses: tuple[Use, ...] = ()
    reinforced: tuple[Reinforcement, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    relations: tuple[Relation, ...] = ()
    dropped_relations: tuple[Relation, ...] = ()
    codes: tuple[Codes, ...] = ()
    model: Model | None = None  # whose vectors the drafts carry; None: the active one's


def concerns_documents(changes: Changes) -> bool:
    """Whether it is about more than use, sessions and files."""
    said = (changes.edits, changes.codes, changes.relations, changes.dropped_relations)
    return any((changes.removed, changes.erased, changes.drafts, *said))


def is_said(changes: Changes) -> bool:
    """Whether something is said of documents, beside what their texts say."""
    said = (changes.edits, changes.codes, changes.relations, changes.dropped_relations)
    return any((*said, changes.uses, changes.reinforced, changes.verdicts))


def with_erased(changes: Changes) -> Changes:
    """What is erased is removed, too."""
    gone = (*changes.removed, *changes.erased)
    return changes._replace(removed=gone) if changes.erased else changes


def renamed(changes: Changes, ids: Mapping[str, str]) -> Changes:
    """What is said of drafts, said of the documents that they became."""
    uses = (use._replace(document=ids.get(use.document, use.document)) for use in changes.uses)
    return changes._replace(
        uses=tuple(uses), edits=tuple(_renamed(edit, ids) for edit in changes.edits)
    )


def _renamed(edit: Edit, ids: Mapping[str, str]) -> Edit:
    values = {name: ids.get(str(value), value) for name, value in edit.values.items()}
    return Edit(ids.get(edit.document, edit.document), values)


def session_name(name: str) -> str:
    """A session's name: any line of text, its spaces apart."""
    cleaned = " ".join(composed(clean(name)).split())
    if not cleaned or len(cleaned) > 200:
        raise InvalidInput(
            f"session cannot be {name[:40]!r}", field="session", hint="1 to 200 characters"
        )
    return cleaned


def moved(salience: float, amount: float) -> float:
    """S2-21: nearer to 1 by a part of what is missing; nearer to 0 for a negative amount."""
    return min(1.0, salience + amount * ((1 - salience) if amount > 0 else salience))


def moved_back(salience: float, amount: float) -> float:
    """The salience that the same amount has moved to this one."""
    before = (salience - amount) / (1 - amount) if amount > 0 else salience / (1 + amount)
    return min(1.0, max(0.0, before))


def after_verdict(salience: float, verdict: Verdict, old: bool | None) -> float:
    """The salience once a verdict, another one before it on this occasion, has been given."""
    if old is not None:
        salience = moved_back(salience, verdict.amount if old else -verdict.amount)
    return moved(salience, verdict.amount if verdict.good else -verdict.amount)


def assigned_codes(seq: int) -> Iterator[str]:
    """The codes for a document that brings none: the first that nobody has is taken."""
    yield f"KB-{seq}"
    for number in count(2):
        yield f"KB-{seq}-{number}"
