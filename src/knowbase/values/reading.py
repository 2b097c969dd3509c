"""What a reader makes of a text."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from knowbase.values.documents import FIELDS, STATED, Document


class Link(NamedTuple):
    """A reference found in a text, not yet resolved to a document."""

    target: str
    kind: str  # "wiki", "markdown", "code", or the relation that the text names: "blocked_by"


class Section(NamedTuple):
    """A document's part under a heading; all headers and texts together are the document."""

    slug: str  # "_preamble", "detailed-design", "detailed-design-2"
    heading: str | None  # as shown to a person
    header: str  # as written in the source, line end included; "" when there is none
    text: str  # what follows the header
    line: int  # where the section starts in the source, from 1
    page: int | None = None


class Reading(NamedTuple):
    """What a reader made of one file or note."""

    type: str
    title: str
    sections: tuple[Section, ...]
    stated: Mapping[str, Any] = {}  # further fields of the document, by name, as far as it says
    links: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = ()  # what its reader could not make sense of
    parts: tuple["Part", ...] = ()  # documents of their own that lie in the file
    scans: tuple[int, ...] = ()  # pages that are pictures, and not looked at yet
    pictures: int = 0  # that stand in its text, and are not looked at

    def value(self, field: str) -> Any:
        """What it states of a field of its document; else the field's default."""
        stated = self.stated.get(field)
        return Document._field_defaults.get(field) if stated is None else stated

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(self.stated.get("tags", ()))

    def stating(self, **values: Any) -> "Reading":
        """The same with these fields stated, in place of what it says of them."""
        return self._replace(stated={**self.stated, **values})

    def stored(self) -> dict[str, Any]:
        """What a store writes of it: every field that texts decide, code and tags apart."""
        values = {
            name: self.value(name)
            for name in STATED
            if name not in ("code", "tags")
            and not (FIELDS[name].kept and self.stated.get(name) is None)
        }
        if self.stated.get("scope") is None and self.value("project"):
            values["scope"] = "project"
        return {
            **values,
            "type": self.type,
            "title": self.title,
            "metadata": self.value("metadata"),
            "split_by": self.value("split_by"),
            "content_hash": content_hash(self),
        }


class Part(NamedTuple):
    """A document in a file that holds several: a message, an entry, an attachment."""

    name: str  # stays the same when others come and go; its path is the file's, and this
    reading: Reading


def stored_reading(document: Document, sections: tuple[Section, ...]) -> Reading:
    """A stored document as its reader gave it, its links apart."""
    names = (*(name for name in STATED if not FIELDS[name].kept), "metadata")
    stated = {name: getattr(document, name) for name in names}
    return Reading(document.type, document.title, sections, stated)


def content_hash(reading: Reading) -> str:
    """The same for two documents whose texts differ in case and spaces alone."""
    return text_hash("".join(section.header + section.text for section in reading.sections))


def text_hash(text: str) -> str:
    """The same for two texts that differ in case and spaces alone."""
    import hashlib
    import unicodedata

    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return hashlib.sha256(folded.encode()).hexdigest()
