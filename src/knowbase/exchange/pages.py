"""A document as a Markdown file with front matter, for people and for other programs."""

import hashlib
import os
import re
from collections.abc import Mapping
from typing import Any

from knowbase.exchange.lines import Page
from knowbase.text.slugs import slugify
from knowbase.values.copies import Copy
from knowbase.values.documents import FIELDS, STATED, Document

OWN = ("id", "file")
"""Keys that a page has beside what the document says of itself."""
_UNFIT = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")
_LONGEST = 100  # characters of a name's part: file systems have their limits
_KEYS = {key for name in STATED for key in FIELDS[name].keys}


class Names:
    """Names of files in a folder: of any system, and no two the same, whatever their case."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of_document(self, document: Document) -> str:
        if document.path is not None:
            stem = document.path[:-3] if document.path.endswith(".md") else document.path
            return self.free("files", *_parts(stem), end=".md")
        title = slugify(document.title)[:60].strip("-")
        name = f"{document.code}-{title}" if title != slugify(document.code) else document.code
        return self.free(document.type, name, end=".md")

    def of_original(self, path: str) -> str:
        return self.free("originals", *_parts(path))

    def free(self, *parts: str, end: str = "") -> str:
        place = "/".join(_fit(part) for part in parts)
        found, number = place + end, 1
        while found.casefold() in self._taken:
            number += 1
            stem, extension = (place, end) if end else os.path.splitext(place)
            found = f"{stem}-{number}{extension}"
        self._taken.add(found.casefold())
        return found


def _parts(path: str) -> list[str]:
    """A path that lies outside is put below a name of its own."""
    drive, rest = os.path.splitdrive(path)
    outside = ["outside"] if os.path.isabs(path) or drive else []
    found = [part for part in rest.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return [*outside, *found]


def _fit(part: str) -> str:
    fit = _UNFIT.sub("_", part)
    if len(fit) > _LONGEST:  # the end tells two long names apart
        digest = hashlib.sha256(fit.encode("utf-8", "replace")).hexdigest()[:8]
        fit = f"{fit[: _LONGEST - 9]}-{digest}"
    fit = fit.rstrip(" .") or "_"
    return f"_{fit}" if _RESERVED.fullmatch(fit) or fit.startswith(".") else fit


def markdown_of(copy: Copy, file: str | None) -> str:
    """The page: what the document says of itself, and its text."""
    document = copy.document
    values = {"id": document.id, **_stated(document)}
    if file is not None:
        values["file"] = file
    head = "".join(f"{_key(name)}: {_yaml(value)}\n" for name, value in values.items())
    text = text_of(copy)
    end = "" if text.endswith("\n") else "\n"  # as every editor would write it
    return f"---\n{head}---\n{text}{end}"


def text_of(copy: Copy) -> str:
    """The document's text as it was put in: what a chunk repeats is left out."""
    pieces = []
    last = None
    for one in copy.chunks:
        chunk = one.chunk
        header = chunk.header if chunk.slug != last else ""
        pieces.append(header + chunk.text[chunk.overlap :])
        last = chunk.slug
    return "".join(pieces)


def page_of(name: str, text: str) -> Page:
    return Page(name, hashlib.sha256(text.encode("utf-8")).hexdigest())


def _stated(document: Document) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in STATED:
        value = getattr(document, name)
        if value not in (None, (), "") and value != Document._field_defaults.get(name):
            found[FIELDS[name].keys[0]] = value
    more = {key: one for key, one in document.metadata.items() if key.lower() not in _KEYS}
    return {**found, **{key: one for key, one in more.items() if key not in (*found, *OWN)}}


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][\w-]*", name) else _quoted(name)


def _yaml(value: Any) -> str:
    """In one line, as YAML has it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        parts = (f"{_quoted(str(key))}: {_yaml(one)}" for key, one in value.items())
        return "{" + ", ".join(parts) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_yaml, value)) + "]"
    return _quoted(str(value))


def _quoted(text: str) -> str:
    """Between double quotes; what cannot be seen by its number."""
    pieces = []
    for char in text:
        if char in '"\\':
            pieces.append("\\" + char)
        elif char.isprintable():
            pieces.append(char)
        else:
            pieces.append(f"\\U{ord(char):08x}")
    return '"' + "".join(pieces) + '"'
