"""Notion's export (Markdown & CSV, or HTML): pages with their properties, links and places.

Each name ends in the page's id, 32 hexadecimal digits: by it a page is known again, whatever its
title has become, and links between pages are links between documents.
"""

import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from knowbase.errors import ReadError
from knowbase.exchange.sources.conversation import line_of
from knowbase.exchange.sources.opening import (
    MOST_UNPACKED,
    check_there,
    is_zip,
    local_moment,
    pieces_of,
)
from knowbase.ingest.foreign import Foreign, Left, id_of
from knowbase.read.about import stored
from knowbase.read.archive import Allowance, Archive
from knowbase.values.reading import Link, Reading

WHAT = "Notion export"
ReadFile = Callable[[str, bytes], Reading]
_NAMED = re.compile(r"(?P<title>.*?)[ _]?(?P<id>[0-9a-f]{32})(?P<all>_all)?\.(?P<kind>md|html|csv)")
_FOLDER = re.compile(r".*?[ _]?([0-9a-f]{32})")
_LINK = re.compile(r"(?<!!)\]\(([^()\s]*?([0-9a-f]{32})(?:_all)?\.(?:md|html|csv))(?:#[^()\s]*)?\)")
_PROPERTY = re.compile(r"([^\W\d_][^:\n]{0,60}): (.*)")
_WHEN = {
    "created": "created_at", "created time": "created_at", "date": "created_at",
    "last edited": "updated_at", "last edited time": "updated_at", "updated": "updated_at",
}  # fmt: skip
_DATES = ("%B %d, %Y %I:%M %p", "%B %d, %Y %H:%M", "%B %d, %Y", "%Y/%m/%d %I:%M %p",
          "%Y/%m/%d %H:%M", "%Y/%m/%d", "%d/%m/%Y %H:%M", "%d/%m/%Y", "%Y-%m-%d")  # fmt: skip
_AUTHORS = ("created by", "author", "owner")
_TAGS = ("tags", "tag")
_DEEPEST = 2  # archives in archives: Notion packs parts of a large export so


def items(path: str, read: ReadFile, most_bytes: int) -> Iterator[Foreign | Left]:
    check_there(path)
    others: list[str] = []
    pages = _Pages(read, most_bytes, others)
    if os.path.isdir(path):
        yield from _members(_Folder(path), pages, 1)
    elif is_zip(path):
        yield from _archive(path, pages, 1)
    else:
        raise ReadError(
            "it is neither a zip archive nor a folder", hint="what Notion's export gives"
        )
    if others:
        told = f"pictures and other files of the export are not taken ({len(others)} of them)"
        yield Left(others[0], told, wrong=False)


class _Pages:
    """What is made of the members of an export."""

    def __init__(self, read: ReadFile, most_bytes: int, others: list[str]) -> None:
        self.read = read
        self.most_bytes = most_bytes
        self.others = others
        self.allowance = Allowance(MOST_UNPACKED)  # archives in the archive count, too


def _archive(path: str, pages: _Pages, depth: int) -> Iterator[Foreign | Left]:
    archive = Archive(path, WHAT, pages.allowance)
    try:
        yield from _members(archive, pages, depth)
    finally:
        archive.close()


class _Folder:
    """An archive that was unpacked, as some browsers do by themselves."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.names = frozenset(
            os.path.relpath(os.path.join(above, name), path).replace(os.sep, "/")
            for above, _, names in os.walk(path)
            for name in names
            if not name.startswith(".") and not os.path.islink(os.path.join(above, name))
        )

    def _file(self, name: str) -> str:
        return os.path.join(self._path, *name.split("/"))

    def written(self, name: str) -> tuple[int, ...]:
        return time.localtime(os.path.getmtime(self._file(name)))[:6]

    def size(self, name: str) -> int:
        return os.path.getsize(self._file(name))

    def read(self, name: str) -> bytes:
        return b"".join(self.pieces(name))

    def pieces(self, name: str) -> Iterator[bytes]:
        return pieces_of(self._file(name))


def _members(archive: Archive | _Folder, pages: _Pages, depth: int) -> Iterator[Foreign | Left]:
    names = sorted(archive.names)
    whole = {name for name in names if name.endswith("_all.csv")}
    for name in names:
        found = _NAMED.fullmatch(name.rpartition("/")[2])
        if name.lower().endswith(".zip") and depth < _DEEPEST:
            yield from _inner(archive, name, pages, depth)
        elif found is None:
            pages.others += [name] if not name.endswith(("/", "index.html")) else []
        elif f"{name[:-4]}_all.csv" not in whole:
            yield _page(archive, name, found, pages)


def _inner(
    archive: Archive | _Folder, name: str, pages: _Pages, depth: int
) -> Iterator[Foreign | Left]:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.zip")
        try:
            with open(path, "wb") as file:
                for piece in archive.pieces(name):
                    file.write(piece)
            yield from _archive(path, pages, depth + 1)
        except ReadError as error:  # the other parts may be whole
            yield Left(name, error.message)


def _page(
    archive: Archive | _Folder, name: str, found: re.Match[str], pages: _Pages
) -> Foreign | Left:
    if archive.size(name) > pages.most_bytes:
        return Left(name, f"larger than {pages.most_bytes >> 20} MB")
    folder = name.rpartition("/")[0].rpartition("/")[2]
    above = _FOLDER.fullmatch(folder)
    # The day of the export, not of the page: it is no reason to write it again.
    written = local_moment(archive.written(name))
    stated: dict[str, Any] = {
        "parent": id_of(_key(above[1])) if above and above[1] != found["id"] else None,
        "metadata": {"address": f"https://www.notion.so/{found['id']}"},
    }
    title = line_of(found["title"].replace("_", " "), "Untitled")
    key = _key(found["id"])
    try:
        data = archive.read(name)
        if found["kind"] == "md":
            page = _markdown(key, title, data.decode("utf-8-sig", "replace"), stated)
            return page._replace(written=written)
        reading = pages.read(f"{title}.{found['kind']}", data)
    except ReadError as error:
        return Left(name, error.message)
    links = tuple(_link(one) for one in reading.links)
    reading = reading._replace(links=links)
    kind = "note" if reading.type in ("html", "text") else reading.type
    if found["kind"] == "html":
        title = reading.title or title
    return Foreign(key, kind, title, "", stated, reading, written=written)


def _markdown(key: str, title: str, text: str, stated: Mapping[str, Any]) -> Foreign:
    """A page: its title, its properties a line each, and its text."""
    lines = text.splitlines()
    start = 0
    if lines and lines[0].startswith("# "):
        title, start = line_of(lines[0][2:], title), 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    properties: dict[str, str] = {}
    after = start
    while after < len(lines) and (found := _PROPERTY.fullmatch(lines[after])):
        properties[found[1].strip()] = found[2].strip()
        after += 1
    if after < len(lines) and lines[after].strip():  # a sentence with a colon, not properties
        properties, after = {}, start
    rest = "\n".join(lines[after:])
    body = _LINK.sub(lambda link: f"]({id_of(_key(link[2]))})", rest)
    more = _stated(properties)
    metadata = {**more.pop("metadata"), **stated["metadata"]}
    told = "".join(f"{name}: {value}\n" for name, value in properties.items())
    whole = f"# {title}\n\n{told}\n{body}\n" if told else f"# {title}\n\n{body}\n"
    return Foreign(key, "note", title, whole, {**stated, **more, "metadata": metadata})


def _stated(properties: Mapping[str, str]) -> dict[str, Any]:
    """What properties say of the document; all of them are kept."""
    found: dict[str, Any] = {"metadata": {}}
    for name, value in properties.items():
        low = name.lower()
        when = _moment(value) if low in _WHEN else None
        if when is not None:
            found.setdefault(_WHEN[low], when)
        elif low in _TAGS:
            found["tags"] = tuple(one.strip() for one in value.split(",") if one.strip())
        elif low in _AUTHORS:
            found["metadata"].setdefault("author", value)
        if low not in _TAGS:
            found["metadata"].setdefault(re.sub(r"\W+", "_", low).strip("_") or "property", value)
    return found


def _moment(text: str) -> str | None:
    """A date as Notion writes it; of a stretch of time, its start."""
    first = text.split("→", maxsplit=1)[0].strip().lstrip("@").removesuffix(" (UTC)").strip()
    for form in _DATES:
        try:
            return stored(datetime.strptime(first, form))
        except ValueError:
            continue
    return None


def _link(link: Link) -> Link:
    found = _NAMED.fullmatch(unquote(link.target).split("#")[0].rpartition("/")[2])
    return Link(id_of(_key(found["id"])), link.kind) if found else link


def _key(identity: str) -> str:
    return f"notion:{identity}"
