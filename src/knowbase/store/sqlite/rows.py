"""Rows as values: how SQLite keeps the fields of a document."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import Any

from knowbase.store.rows import Rows, file_columns, file_records, from_json
from knowbase.store.sqlite.packing import CONTENT_HASH, HASH, HEADER, digest, plain
from knowbase.values.documents import FIELDS, Chunk, Document

__all__ = [
    "CHUNK",
    "DOCUMENT",
    "TAGS",
    "chunk",
    "document",
    "file_columns",
    "file_records",
    "passage",
    "read_back",
    "to_json",
    "written",
]

_SEPARATOR = "\x1f"
TAGS = (
    "(SELECT group_concat(name, char(31)) FROM"
    " (SELECT name FROM tags WHERE document = d.seq ORDER BY name))"
)
_MADE = {"hash": HASH, "header": HEADER, "tags": TAGS, "content_hash": CONTENT_HASH}
"""Columns that are not kept as everybody knows them."""
CHUNK = ", ".join(_MADE.get(name, f"c.{name}") for name in Chunk._fields)
_TEXT = Chunk._fields.index("text")
DOCUMENT = ", ".join(_MADE.get(name, f"d.{name}") for name in FIELDS)


class LazyJson(Mapping[str, object]):
    """An object of JSON that is parsed when somebody looks at it: hardly any hit's is."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _values(self) -> dict[str, object]:
        return from_json(self._text, dict)

    def __getitem__(self, key: str) -> object:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)


class PackedChunk(Chunk):
    """A chunk whose text is unpacked when somebody looks at it: of most candidates of a search,
    nobody does. To all others it is a chunk."""

    __slots__ = ()
    __annotations__ = {**Chunk.__annotations__, "text": str | bytes}

    @property
    def text(self) -> str:
        return str(plain(tuple.__getitem__(self, _TEXT)))

    def __iter__(self) -> Iterator[Any]:
        values = list(tuple.__iter__(self))
        values[_TEXT] = self.text
        return iter(values)

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(Chunk(*self))


def _names(text: str) -> tuple[str, ...]:
    """A list of texts; without anything escaped, it needs no parser."""
    if "\\" not in text:
        return tuple(text[2:-2].split('", "')) if text != "[]" else ()
    return tuple(from_json(text, list))


_ROWS = Rows(
    {
        "tags": lambda text: tuple(text.split(_SEPARATOR)) if text else (),
        "names": _names,
        "flag": bool,
        "other": lambda text: LazyJson(text) if text != "{}" else {},
    },
    PackedChunk,
)
document = _ROWS.document
chunk = _ROWS.chunk
passage = _ROWS.passage


def written(name: str, value: Any) -> Any:
    """A field's value as its column holds it."""
    kind = FIELDS[name].kind
    if name == "content_hash":
        return digest(value)
    if kind == "other":
        return to_json(dict(value))
    return to_json(value) if kind == "names" else value


def read_back(values: Mapping[str, Any], tags: Collection[str]) -> Document:
    """A new document as it will be read, from what is about to be written of it."""
    given = {**_defaults(), **values, "tags": _SEPARATOR.join(sorted({*tags})) or None}
    return document([_as_read(name, given.get(name)) for name in FIELDS])


@cache
def _defaults() -> Mapping[str, Any]:
    return {name: written(name, value) for name, value in Document._field_defaults.items()}


def _as_read(name: str, value: Any) -> Any:
    """A share may be given as 1, and is then read as 1.0."""
    if isinstance(value, bytes):
        return value.hex()
    return float(value) if FIELDS[name].kind == "share" and value is not None else value


def to_json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
