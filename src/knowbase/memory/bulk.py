"""Many notes at once: all of them are written, or none; and once, however often they are sent.

Who sends notes with a key can send them again when no answer came: a note's id is made from the
key, so the second time the first one's notes are found, whichever process is asked. There is no
list of keys that could be lost or run full: a key holds for as long as its notes are in the base.
"""

import hashlib
import uuid
from collections.abc import Sequence
from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.memory.notes import NoteServices, Writing
from knowbase.store.rules import MARK, check_marks
from knowbase.values.arguments import wrong
from knowbase.values.changes import Changes, Draft
from knowbase.values.documents import Document
from knowbase.values.notes import Note, as_note

MOST_NOTES = 1000
LONGEST_KEY = 200
_OURS = uuid.UUID("6d0c2f0e-9a3c-5f0b-8a55-0a3f5f0e7b11")


class WrittenNote(NamedTuple):
    """What a note became."""

    id: str
    code: str


class WrittenNotes(NamedTuple):
    """All of them, in the order in which they were given."""

    notes: tuple[WrittenNote, ...]
    notices: tuple[str, ...] = ()  # that their vectors are made later


def write_notes(
    services: NoteServices, given: Sequence[Note | str], key: str | None, owner: str
) -> WrittenNotes:
    """Write them in one transaction. The keys of one owner are not those of another."""
    if isinstance(given, str | Note):
        raise InvalidInput("notes cannot be one note", field="notes", hint="a list of notes")
    if not isinstance(given, list | tuple):
        raise wrong("notes", given, "a list of notes")
    notes = [as_note(one) for one in given]
    if not 0 < len(notes) <= MOST_NOTES:
        raise InvalidInput(
            f"there are {len(notes)} notes", field="notes", hint=f"1 to {MOST_NOTES} at once"
        )
    ids = [_id(owner, key, number) for number in range(len(notes))]
    mark = _mark(notes) if key is not None else ""
    known = _known(services, ids, mark) if key is not None else None
    if known is not None:
        return _written(known)
    ingest = services.ingest
    drafts = [_draft(services, notes[at], ids[at], mark, at) for at in range(len(notes))]
    embedded = ingest.drafter.embed_or_wait(drafts, ingest.store)
    changes = Changes(drafts=embedded.drafts, model=embedded.model)
    written = _written(ingest.store.apply(changes, ingest.clock()))
    return written._replace(notices=tuple(filter(None, (embedded.warning,))))


def _known(services: NoteServices, ids: Sequence[str], mark: str) -> list[Document] | None:
    """The documents of the first time, if all are there: nothing need be embedded again."""
    found = [services.ingest.store.find(one) for one in ids]
    there = [one for one in found if one is not None]
    check_marks((mark, one) for one in there)
    return there if len(there) == len(ids) else None


def _draft(services: NoteServices, note: Note, document: str, mark: str, place: int) -> Draft:
    try:
        draft = Writing(services, note, "note").unembedded(document)
    except InvalidInput as error:  # among many, say which
        field = f"notes[{place}].{error.field or 'text'}"
        raise type(error)(error.message, field=field, hint=error.hint) from error
    if not mark:
        return draft
    metadata = {**draft.reading.value("metadata"), MARK: mark}
    return draft._replace(reading=draft.reading.stating(metadata=metadata), once=True, mark=mark)


def _written(documents: Sequence[Document]) -> WrittenNotes:
    return WrittenNotes(tuple(WrittenNote(one.id, one.code) for one in documents))


def _id(owner: str, key: str | None, number: int) -> str:
    if key is None:
        return str(uuid.uuid4())
    if not key.strip() or len(key) > LONGEST_KEY:
        raise InvalidInput(
            f"key cannot be {key[:40]!r}", field="key", hint=f"1 to {LONGEST_KEY} characters"
        )
    return str(uuid.uuid5(_OURS, f"{owner}\0{key}\0{number}"))


def _mark(notes: Sequence[Note]) -> str:
    """Other notes have another one."""
    told = [(one.text, sorted(one.stated.items())) for one in notes]
    return hashlib.sha256(repr(told).encode("utf-8", "replace")).hexdigest()[:32]
