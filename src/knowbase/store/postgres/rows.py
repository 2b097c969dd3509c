"""Rows as values: how PostgreSQL keeps the fields of a document."""

import json
from typing import Any, TypeVar

from knowbase.store.rows import CHUNK, Rows, file_columns, file_records, from_json
from knowbase.values.documents import FIELDS

__all__ = [
    "CHUNK",
    "DOCUMENT",
    "chunk",
    "clean",
    "document",
    "file_columns",
    "file_records",
    "passage",
    "written",
]

T = TypeVar("T")
DOCUMENT = ", ".join(f"d.{name}" for name in FIELDS)
_ROWS = Rows({"tags": tuple, "names": tuple, "other": lambda text: from_json(text, dict)})
chunk = _ROWS.chunk
document = _ROWS.document
passage = _ROWS.passage


def written(name: str, value: Any) -> Any:
    """A field's value as its column holds it."""
    kind = FIELDS[name].kind
    if kind == "other":
        return json.dumps(dict(value), ensure_ascii=True)
    return [clean(one) for one in value] if kind in ("tags", "names") else clean(value)


def clean(value: T) -> T:
    """PostgreSQL has no NUL in text."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) else value  # type: ignore[return-value]
