"""Rows as values: how SQLite keeps the fields of a document."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from knowbase.store.rows import CHUNK, Rows, file_columns, file_records, from_json
from knowbase.values.documents import FIELDS

__all__ = [
    "CHUNK",
    "DOCUMENT",
    "TAGS",
    "chunk",
    "document",
    "file_columns",
    "file_records",
    "passage",
    "to_json",
    "written",
]

TAGS = (
    "(SELECT group_concat(name, char(31)) FROM"
    " (SELECT name FROM tags WHERE document = d.seq ORDER BY name))"
)
DOCUMENT = ", ".join(TAGS if name == "tags" else f"d.{name}" for name in FIELDS)


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


def _names(text: str) -> tuple[str, ...]:
    """A list of texts; without anything escaped, it needs no parser."""
    if "\\" not in text:
        return tuple(text[2:-2].split('", "')) if text != "[]" else ()
    return tuple(from_json(text, list))


_ROWS = Rows(
    {
        "tags": lambda text: tuple(text.split("\x1f")) if text else (),
        "names": _names,
        "flag": bool,
        "other": lambda text: LazyJson(text) if text != "{}" else {},
    }
)
document = _ROWS.document
chunk = _ROWS.chunk
passage = _ROWS.passage


def written(name: str, value: Any) -> Any:
    """A field's value as its column holds it."""
    kind = FIELDS[name].kind
    if kind == "other":
        return to_json(dict(value))
    return to_json(value) if kind == "names" else value


def to_json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
