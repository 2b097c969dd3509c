"""Text of documents as data: what a document says cannot pass for a word of the server's.

The text that a model reads is worded from a copy of the answer's JSON in which every text is
quoted: titles, and names of several words, stand in quotation marks, a line of a text behind `> `,
several lines between `<text-MARK of="CODE">` and `</text-MARK>`, with a mark that does not occur in
them. Everything else is one line. So whoever words an answer need not think of it.
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from knowbase.values.visible import one_line, visible

TITLES = ("title", "heading", "label", "summary", "differs")
LINES = ("snippet", "opening", "highlights")
TEXTS = ("content", "text")
NAMES = ("tags", "project", "path", "folder", "value")  # in quotes, if more than one word
SOURCES = ("code", "id")  # by what a text's document is named


def cleaned(data: Any) -> Any:
    """The same JSON without characters that cannot be seen."""
    if isinstance(data, str):
        return visible(data)
    if isinstance(data, Mapping):
        return {visible(name): cleaned(part) for name, part in data.items()}
    return [cleaned(part) for part in data] if isinstance(data, tuple | list) else data


def quoted(data: Any, name: str = "", source: str = "") -> Any:
    """The same JSON, each of its texts quoted by what its name says that it is."""
    if isinstance(data, str):
        return _quoted_text(data, name, source)
    if isinstance(data, Mapping):
        source = _source(data) or source
        return {one_line(key): quoted(part, key, source) for key, part in data.items()}
    if isinstance(data, tuple | list):
        return [quoted(part, name, source) for part in data]
    return data


def _source(data: Mapping[str, Any]) -> str:
    document = data.get("document")
    near = data if not isinstance(document, Mapping) else {**document, **data}
    return next((str(near[one]) for one in SOURCES if isinstance(near.get(one), str)), "")


def _quoted_text(text: str, name: str, source: str) -> str:
    if text and (name in TITLES or (name in NAMES and " " in one_line(text))):
        return '"' + one_line(text).replace('"', "'") + '"'
    if name in TEXTS and text:
        return delimited(text.strip() if name == "content" else text, source)
    return f"> {one_line(text)}" if name in LINES else one_line(text)


def delimited(text: str, source: str) -> str:
    """A document's text, set apart from whatever stands around it, and whose it is."""
    text = visible(text)
    if "\n" not in text.strip():
        return f"> {text.strip()}"
    mark, whose = _mark(text), one_line(source).replace('"', "'")
    return f'<text-{mark} of="{whose}">\n{text}\n</text-{mark}>'


def _mark(text: str) -> str:
    """A mark that does not occur in the text; the same for the same text."""
    digest, inside = sha256(text.encode("utf-8", "replace")).hexdigest(), text.lower()
    marks = (digest[:size] for size in range(4, len(digest) + 1))
    return next(mark for mark in marks if mark not in inside)
