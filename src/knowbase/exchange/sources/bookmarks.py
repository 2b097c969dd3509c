"""Bookmarks: the HTML that every browser exports (Netscape's), Chrome's own file, and Firefox's
backups."""

import os
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from typing import Any

from knowbase.errors import ReadError
from knowbase.exchange.sources.conversation import line_of
from knowbase.exchange.sources.opening import (
    check_there,
    elements,
    moment,
    pieces_of,
    reading_files,
)
from knowbase.ingest.foreign import Foreign, Left

WHAT = "file of bookmarks"
JOB = "knowbase.exchange.sources.bookmarks:parse_for_parent"
MOST = 64 << 20  # bytes
MOST_MEMORY = 1024  # MB
SECONDS = 60.0
_WINDOWS_EPOCH = 11_644_473_600  # seconds from 1601 to 1970: where Chrome's clock starts
_LONGEST = 2000  # characters of an address
_DEEPEST = 200


def items(path: str) -> Iterator[Foreign | Left]:
    check_there(path)
    if os.path.isdir(path) or os.path.getsize(path) > MOST:
        raise ReadError(f"it is not a file of at most {MOST >> 20} MB")
    found = _of_json(path) if _is_json(path) else _of_html(path)
    seen: set[str] = set()
    number = 0
    for one in found:
        if one.get("cut"):
            yield Left("the end", "it is missing: whatever bookmarks stood there are not taken")
            continue
        number += 1
        address = str(one.get("url") or "").strip()
        title = line_of(str(one.get("title") or ""), address)
        if not address.lower().startswith(("http://", "https://")) or len(address) > _LONGEST:
            yield Left(title[:80] or "a bookmark", "it leads to no page", wrong=False)
        elif address not in seen:
            seen.add(address)
            yield _bookmark(address, title, one)
    if not number:
        raise ReadError("there are no bookmarks in it", hint="what the browser exports")


def _bookmark(address: str, title: str, one: Mapping[str, Any]) -> Foreign:
    folder = " / ".join(one.get("folders") or ())
    about = line_of(str(one.get("about") or ""), "")
    parts = [f"# {title}", about, f"<{address}>", f"Folder: {folder}" if folder else ""]
    tags = one.get("tags")
    metadata = {"address": address, "folder": folder, "description": about}
    stated = {
        "created_at": one.get("created"),
        "updated_at": one.get("updated") or one.get("created"),
        "tags": tuple(tag for tag in tags if tag) if isinstance(tags, list | tuple) else (),
        "metadata": {name: value for name, value in metadata.items() if value},
    }
    text = "\n\n".join(filter(None, parts)) + "\n"
    return Foreign(f"bookmark:{address}", "bookmark", title, text, stated, tagged=False)


def _is_json(path: str) -> bool:
    with reading_files(path), open(path, "rb") as file:
        return file.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")


# Chrome's and Firefox's own


def _of_json(path: str) -> Iterator[dict[str, Any]]:
    for entry in elements(pieces_of(path), WHAT):
        if isinstance(entry, Left):
            raise ReadError(entry.reason)
        if not isinstance(entry, dict):
            continue
        roots = entry.get("roots")
        tops = list(roots.values()) if isinstance(roots, dict) else [entry]
        todo: list[tuple[Any, tuple[str, ...]]] = [(one, ()) for one in reversed(tops)]
        while todo:
            node, folders = todo.pop()
            if not isinstance(node, dict):
                continue
            name = str(node.get("name") or node.get("title") or "")
            children = node.get("children")
            if isinstance(children, list) and len(folders) < _DEEPEST:
                below = (*folders, name) if name else folders
                todo += [(one, below) for one in reversed(children)]
            elif node.get("url") or node.get("uri"):
                yield _of_node(node, name, folders)


def _of_node(node: Mapping[str, Any], name: str, folders: tuple[str, ...]) -> dict[str, Any]:
    chrome = node.get("date_added")
    tags = node.get("tags")
    return {
        "url": node.get("url") or node.get("uri"),
        "title": name,
        "folders": folders,
        "created": _windows_moment(chrome) or _microseconds(node.get("dateAdded")),
        "updated": _windows_moment(node.get("date_modified"))
        or _microseconds(node.get("lastModified")),
        "tags": tags.split(",") if isinstance(tags, str) else (),
    }


def _windows_moment(value: Any) -> str | None:
    digits = str(value or "")
    if not digits.isascii() or not digits.isdecimal() or len(digits) > 19:
        return None
    return moment(int(digits) / 1_000_000 - _WINDOWS_EPOCH)


def _microseconds(value: Any) -> str | None:
    return moment(value / 1_000_000) if isinstance(value, int) else None


# Netscape's


def _of_html(path: str) -> Iterator[dict[str, Any]]:
    """In a process that can be killed: broken markup can take any time."""
    from knowbase.process.child import ChildFailed, Limits, children

    with open(path, "rb") as file:
        data = file.read()
    try:
        told = children(JOB, Limits(SECONDS, MOST_MEMORY)).begin({}, data, 0.0).result()
    except ChildFailed as error:
        raise ReadError(f"reading it {error.told}") from error
    yield from told["bookmarks"]
    if told["cut"]:
        yield {"cut": True}


def parse_for_parent(_: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """What the process does."""
    page = _Netscape()
    page.feed(data.decode("utf-8-sig", "replace"))
    page.finish()
    return {"bookmarks": page.found, "cut": page.is_cut}


class _Netscape(HTMLParser):
    """Folders are headings before lists; a description follows its bookmark."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[dict[str, Any]] = []
        self._folders: list[str] = []
        self._heading = ""
        self._into = ""  # which text is being read: title, heading, about

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "a":
            self._into = "title"
            tags = [one.strip() for one in given.get("tags", "").split(",")]
            self.found.append({
                "url": given.get("href", ""), "title": "", "about": "", "tags": tags,
                "folders": [one for one in self._folders if one],
                "created": moment(given.get("add_date")),
                "updated": moment(given.get("last_modified")),
            })  # fmt: skip
        elif tag in ("h1", "h3"):
            self._into, self._heading = "heading" if tag == "h3" else "", ""
        elif tag == "dl":
            if len(self._folders) < _DEEPEST:
                self._folders.append(" ".join(self._heading.split()))
            self._heading, self._into = "", ""
        elif tag == "dd" and self.found:
            self._into = "about"
        elif tag == "dt":
            self._into = ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "h3"):
            self._into = ""
        elif tag == "dl" and self._folders:
            self._folders.pop()

    def handle_data(self, data: str) -> None:
        if self._into == "heading":
            self._heading += data
        elif self._into and self.found:
            self.found[-1][self._into] += data

    @property
    def is_cut(self) -> bool:
        """Whether a folder has no end: whatever stood behind it is gone."""
        return bool(self._folders)

    def finish(self) -> None:
        """Not close(): on broken markup that takes time with the square of the length."""
