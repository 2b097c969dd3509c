"""Files that hold several documents: a mailbox its messages, a message its attachments.

A part's path is the file's, as if that were a folder, and its parent is what it lies in. So parts
are found again whatever else changes, go where their file goes, and no store knows of them.
"""

import os
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from knowbase.query.conditions import OneOf
from knowbase.store.contract import Store
from knowbase.values.documents import ALL, Document
from knowbase.values.reading import Reading

_UNFIT = re.compile(r"[/\\\0-\x1f\x7f]+")
_LONGEST = 150  # characters of a name
_DEEPEST = 5
_AT_ONCE = 10_000  # paths in one query: a database takes no more than some


class Piece(NamedTuple):
    """A document in a file."""

    path: str
    reading: Reading


def pieces_of(path: str, reading: Reading) -> Iterator[Piece]:
    """The documents in a file that say something, each before the one that it lies in."""
    taken: set[str] = set()
    for part in reading.parts:
        place = os.path.join(path, _unique(part.name, taken))
        yield from pieces_of(place, part.reading)
        if part.reading.sections:
            yield Piece(place, part.reading._replace(parts=()).stating(parent=path))


def _unique(name: str, taken: set[str]) -> str:
    fit = _UNFIT.sub("_", name).strip()[-_LONGEST:] or "part"
    stem, extension = os.path.splitext(fit)
    number = 1
    while fit.casefold() in taken:
        number += 1
        fit = f"{stem}-{number}{extension}"
    taken.add(fit.casefold())
    return fit


def stored_parts(store: Store, paths: Collection[str]) -> dict[str, Document]:
    """The documents that lie in these files, by path."""
    found: dict[str, Document] = {}
    above = set(paths)
    for _ in range(_DEEPEST):
        parts = _right_below(store, above)
        above = set(parts) - set(found)
        found |= parts
    return found


def holders(store: Store, paths: Collection[str]) -> set[str]:
    """Those of these files that documents lie in, whatever their names say of them."""
    return {os.path.dirname(part) for part in _right_below(store, set(paths))}


def _right_below(store: Store, above: set[str]) -> dict[str, Document]:
    found: dict[str, Document] = {}
    rest = sorted(above)
    while rest:
        some, rest = rest[:_AT_ONCE], rest[_AT_ONCE:]
        below = store.documents(OneOf("parent", tuple(some)), ALL)
        found |= {one.path: one for one in below if one.path and os.path.dirname(one.path) in above}
    return found


def file_of(path: str, files: Collection[str]) -> str | None:
    """The file that a document's path lies in, or is."""
    while path and path not in files:
        above = os.path.dirname(path)
        path = above if above != path else ""
    return path or None
