"""What a document is called, and what documents a text speaks of: both as keys that can be joined.

A link is never resolved in the text: it keeps the key that it looks for, and whoever has that
key is the target, now or when it arrives.
"""

import posixpath
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from knowbase.values.edges import WEIGHTS
from knowbase.values.reading import Link

ID, CODE, PATH, PLACE, ENDING, TITLE = range(6)
"""The kinds of names, the most certain first: a link takes the first that it reaches."""

_REACH = {"markdown": PLACE, "wiki": TITLE, "code": CODE}
_INDEX_PAGES = ("readme", "index", "_index")
_LONGEST = 200  # characters of a key; both sides are cut alike, for an index has its limits
_PARTS = 4  # how many folders of a path may stand before a name in a wiki link


class Named(NamedTuple):
    """What names a document, and what it names itself."""

    id: str
    code: str
    title: str
    path: str | None = None
    parent: str | None = None
    superseded_by: str | None = None


class Mention(NamedTuple):
    """A document speaks of another one by this key."""

    name: str
    relation: str
    target: str  # as it is written
    origin: str
    reach: int  # the least certain kind of name that counts
    inverse: bool = False  # the other one is the source of the edge

    @property
    def weight(self) -> float:
        return WEIGHTS[self.relation]


def key_of(text: str) -> str:
    """Case and the way of writing an accent do not matter."""
    folded = unicodedata.normalize("NFC", text.strip()).casefold()
    return folded[:_LONGEST].replace("\0", "\ufffd")


def names_of_document(document: Named) -> dict[str, int]:
    """Every key that leads to the document, with the most certain kind of name it is."""
    found: dict[str, int] = {}
    for name, kind in _names(document):
        key = key_of(name)
        if key and kind < found.get(key, TITLE + 1):
            found[key] = kind
    return found


def _names(document: Named) -> Iterable[tuple[str, int]]:
    yield document.id, ID
    yield document.code, CODE
    yield document.title, TITLE
    if not document.path:
        return
    path = document.path.replace("\\", "/")
    bare = posixpath.splitext(path)[0]
    yield document.path, PATH
    yield path, PATH
    yield bare, PLACE
    folder, page = posixpath.split(bare)
    if page.lower() in _INDEX_PAGES and folder:
        yield folder, PLACE
    for whole in (path, bare):
        parts = whole.split("/")
        for start in range(max(0, len(parts) - _PARTS), len(parts)):
            yield "/".join(parts[start:]), ENDING


def mentions_of(document: Named, links: Iterable[Link]) -> list[Mention]:
    """What a document says of others: its parent, what took its place, and its links."""
    found = [_mention(document, link) for link in links]
    if document.parent:
        key = key_of(document.parent)
        found.append(Mention(key, "PARENT_OF", document.parent, "hierarchy", PATH, True))
    if document.superseded_by:
        key = key_of(document.superseded_by)
        found.append(Mention(key, "SUPERSEDES", document.superseded_by, "lifecycle", PATH, True))
    return [mention for mention in found if mention.name]


def _mention(document: Named, link: Link) -> Mention:
    target = link.target.replace("\\", "/")
    if link.kind != "code":
        target = target.split("#", 1)[0]
    if link.kind == "markdown":
        target = _from(document, target.split("?", 1)[0])
    elif target.startswith(("./", "../")):
        target = _from(document, target)
    return Mention(key_of(target), "REFERENCES", link.target, link.kind, _REACH[link.kind])


def _from(document: Named, target: str) -> str:
    """A path that starts where the document lies; / is the top of what the base holds."""
    if not target:
        return ""
    path = (document.path or "").replace("\\", "/")
    if target.startswith("/"):
        return target if path.startswith("/") else posixpath.normpath(target.lstrip("/") or ".")
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
