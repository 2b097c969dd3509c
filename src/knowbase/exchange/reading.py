"""Pages of an export as they are now: what they say, of which document, and whether that is new."""

import os
import re
from typing import Any, NamedTuple

from knowbase.exchange.folder import within
from knowbase.exchange.pages import OWN, markdown_of
from knowbase.read.confined import Reader
from knowbase.read.frontmatter import links_in
from knowbase.values.copies import Copy
from knowbase.values.documents import Document
from knowbase.values.reading import Reading

MOST_PAGE = 64 << 20  # bytes
_UNSAID = "markdown"  # the type of a page that says none
_PROBLEM = "front matter"  # in whatever a reader says of it
_SO = re.compile(r"; |\. ")  # before what it did about it, which is not done here


class PageRead(NamedTuple):
    """What a page says, without what an export adds to it."""

    reading: Reading
    id: str | None  # of the document that it says it is of
    problem: str | None  # of its front matter: then nobody knows what it is to say

    def typed(self, kind: str) -> Reading:
        """A page that says no type is of this one."""
        return self.reading._replace(type=kind) if self.reading.type == _UNSAID else self.reading


def read_page(reader: Reader, folder: str, name: str) -> PageRead | None:
    """None when there is no such page, or nothing in it."""
    path = within(folder, name)
    if path is None or os.path.getsize(path) > MOST_PAGE:
        return None
    with open(path, "rb") as file:
        found = _read(reader, path, file.read())
    return found if found.reading.sections else None


def as_exported(reader: Reader, copy: Copy) -> Reading:
    """What the page of a document says that nobody has changed."""
    found = _read(reader, "page.md", markdown_of(copy, None).encode("utf-8", "surrogatepass"))
    return found.typed(copy.document.type)


def _read(reader: Reader, path: str, data: bytes) -> PageRead:
    reading = reader.file(path, data)
    stated = reading.value("metadata")
    metadata = {key: one for key, one in stated.items() if key not in OWN}
    links = tuple(dict.fromkeys((*reading.links, *links_in(metadata))))
    identity = stated.get("id")
    return PageRead(
        reading._replace(links=links).stating(metadata=metadata),
        identity if isinstance(identity, str) else None,
        next((_SO.split(one)[0] for one in reading.warnings if _PROBLEM in one), None),
    )


def says_the_same(page: Reading, before: Reading, copy: Copy) -> bool:
    """Whether a page says nothing else than the document; what commands said, none can change."""
    return _told(page, copy) == _told(before, copy)


def _told(reading: Reading, copy: Copy) -> dict[str, Any]:
    text = "".join(one.header + one.text for one in reading.sections).rstrip()
    told = {**reading.stored(), "text": text, "tags": set(reading.tags),
            "code": reading.value("code")}  # fmt: skip
    return {name: one for name, one in told.items() if name not in (*copy.said, "updated_at")}


def edit_of(page: Reading, before: Reading, document: Document) -> Reading:
    """The page as what is to be written; what no page shows of the document stays."""
    shown = before.value("metadata")
    hidden = {key: one for key, one in document.metadata.items() if key not in shown}
    return page.stating(metadata={**hidden, **page.value("metadata")})
