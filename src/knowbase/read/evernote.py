"""Notes that Evernote exports (.enex): a document a note."""

from datetime import UTC, datetime
from typing import Any

from knowbase.read.about import stated, stored
from knowbase.read.file import File
from knowbase.read.html import read_html
from knowbase.read.markup import Element, events, outermost
from knowbase.read.plain import whole
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Part, Reading

_NOTES, _UNSEEN = frozenset(("note",)), frozenset(("data", "recognition"))
_ABOUT = ("author", "source", "source-url", "reminder-time")


def read_enex(file: File) -> Reading:
    """The notes of an export; pictures and files in them are not looked at."""
    notes = list(outermost(events((file.text.encode(),), "export"), _NOTES, _UNSEEN))
    kept = notes[: file.most or len(notes)]
    names = unique_slugs(_title(note) for note in kept)
    parts = tuple(Part(name, _document(note)) for name, note in zip(names, kept, strict=True))
    word = "note" if len(notes) == 1 else "notes"
    text = f"Export of Evernote with {len(notes)} {word}.\n"
    told = [f"only its first {len(kept)} notes are read"] if len(kept) < len(notes) else []
    if files := sum(1 for note in kept for _ in note.all("resource")):
        told.append(f"files that lie in its notes are not read: {files}")
    return Reading("text", file.name, whole(text), warnings=tuple(told), parts=parts)


def _title(note: Element) -> str:
    title = note.find("title")
    return (title.line_text if title else "") or "Untitled"


def _document(note: Element) -> Reading:
    content = note.find("content")
    page = read_html(content.text if content else "", _title(note))
    about = note.find("note-attributes")
    said = {name: found.line_text for name in _ABOUT if about and (found := about.find(name))}
    said["address"] = said.pop("source-url", "")
    tags = ",".join(one.line_text.replace(",", " ") for one in note.elements if one.name == "tag")
    fields: dict[str, Any] = stated(said, tags)
    for name, field in (("created", "created_at"), ("updated", "updated_at")):
        if (found := note.find(name)) and (moment := _moment(found.line_text)):
            fields[field] = moment
    return Reading("text", _title(note), page.sections, fields, page.links)


def _moment(text: str) -> str | None:
    try:
        return stored(datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC))
    except ValueError:
        return None
