"""Rows as values: how SQLite keeps the fields of a document."""

from typing import Any

from knowbase.store.rows import CHUNK, FILE, Rows, file_record
from knowbase.values.documents import FIELDS

__all__ = ["CHUNK", "DOCUMENT", "FILE", "document", "file_record", "passage", "to_json", "written"]

_TAGS = (
    "(SELECT group_concat(name, char(31)) FROM"
    " (SELECT name FROM tags WHERE document = d.seq ORDER BY name))"
)
DOCUMENT = ", ".join(_TAGS if name == "tags" else f"d.{name}" for name in FIELDS)


def _json(text: str) -> Any:
    """A column of JSON; most are empty, and those need no parser."""
    if text in ("[]", "{}"):
        return () if text == "[]" else {}
    import json

    return json.loads(text)


_ROWS = Rows(
    {
        "tags": lambda text: tuple(text.split("\x1f")) if text else (),
        "names": lambda text: tuple(_json(text)),
        "flag": bool,
        "other": _json,
    }
)
document = _ROWS.document
passage = _ROWS.passage


def written(name: str, value: Any) -> Any:
    """A field's value as its column holds it."""
    return to_json(value) if FIELDS[name].kind in ("names", "other") else value


def to_json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
