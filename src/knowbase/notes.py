"""Writing notes: documents that have no file."""

import uuid
from collections.abc import Callable
from typing import NamedTuple

from knowbase.documents import Note, sections_of
from knowbase.errors import InvalidInput
from knowbase.ingest.drafts import clean_tags
from knowbase.ingest.sync import Parts
from knowbase.read.markdown import read_markdown
from knowbase.store import Store
from knowbase.text.analysis import clean
from knowbase.types import Changes, Document


class Desk(NamedTuple):
    """What writing a note needs of its base."""

    parts: Parts
    whole: Callable[[str], Document]  # the document that a reference names
    check_type: Callable[[str], None]  # refuses a type that the base does not know


def write_note(desk: Desk, note: Note) -> Document:
    """A note as a document: sectioned and embedded like a file."""
    reading = read_markdown(clean(note.text), "")
    if not reading.title and reading.sections:
        first = reading.sections[0]
        reading = reading._replace(title=_first_line(first.heading or first.text))
    kind = note.type or str(reading.metadata.get("type") or reading.type)
    kind = "note" if kind == "markdown" else kind
    desk.check_type(kind)
    if not reading.sections:
        raise InvalidInput("a note needs some text", field="text")
    old = _replaced(desk, note)
    parts, now = desk.parts, desk.parts.clock()
    reading = reading._replace(
        type=kind,
        title=note.title or reading.title,
        tags=clean_tags((*reading.tags, *note.tags)),
        code=note.code or reading.code,
    )
    if old is not None:  # what is not said anew stays
        reading = reading._replace(
            type=note.type or old.type,
            tags=reading.tags or old.tags,
            title=note.title or _lasting_title(parts.store, old) or reading.title,
        )
    document = old.id if old is not None else str(uuid.uuid4())
    draft = parts.drafter.draft(document, reading, None, now)
    drafts = parts.drafter.embed([draft], parts.store).drafts
    return parts.store.apply(Changes(drafts=drafts), now)[0]


def _lasting_title(store: Store, old: Document) -> str | None:
    """A note's title, unless it was taken from the text."""
    text = "".join(part.text for part in sections_of(store.chunks(old.id), old.code))
    return None if old.title in (_first_line(text), text.lstrip("# ")) else old.title


def _replaced(desk: Desk, note: Note) -> Document | None:
    """The note that this one takes the place of, when that may be."""
    owner = desk.parts.store.find(note.code) if note.code else None
    replaced = desk.whole(note.replaces) if note.replaces else None
    if replaced is not None and replaced.path is not None:
        raise InvalidInput(
            f"{replaced.code} comes from a file",
            field="replace",
            hint="change the file instead",
        )
    if owner is not None and owner != replaced:
        raise InvalidInput(
            f"the code {owner.code} belongs to {owner.title!r}",
            field="code",
            hint="take another",
        )
    return replaced


def _first_line(text: str) -> str:
    line = (text.strip().splitlines() or [""])[0].lstrip("# ").strip()
    return line if len(line) <= 80 else line[:79].rstrip() + "…"
