"""What a file says about itself: who wrote it, when, about what."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from knowbase.read.archive import Archive
from knowbase.read.markup import optional_tree

_LONGEST = 1000  # characters of a value
_SEPARATORS = re.compile(r"[,;]")


def stated(
    metadata: Mapping[str, str | None], keywords: str = "", written: str | None = None
) -> dict[str, Any]:
    """The fields of a document that this says: what is empty is left out."""
    kept = {
        key: " ".join(value.split())[:_LONGEST]
        for key, value in metadata.items()
        if value and value.strip()
    }
    tags = [" ".join(word.split()) for word in _SEPARATORS.split(keywords)]
    found: dict[str, Any] = {"metadata": kept} if kept else {}
    if any(tags):
        found["tags"] = tuple(dict.fromkeys(tag for tag in tags if tag))
    if written is not None:
        found["updated_at"] = written
    return found


def moment(text: str | None) -> str | None:
    """A time as a base keeps it; none for what is not one."""
    try:
        found = datetime.fromisoformat((text or "").strip())
        return stored(found)
    except (ValueError, OverflowError):
        return None


def stored(found: datetime) -> str:
    """A time as a base keeps it."""
    if found.tzinfo is not None:
        found = found.astimezone(UTC).replace(tzinfo=None)
    return found.isoformat(timespec="microseconds") + "Z"


def properties(archive: Archive, name: str) -> tuple[str | None, dict[str, Any]]:
    """The title and the fields that an office file's properties state."""
    found = optional_tree(archive.read(name), "properties")
    values: dict[str, str] = {}
    for element in found.all(
        "title", "creator", "initial-creator", "subject", "description", "keywords", "keyword",
        "created", "creation-date", "modified", "date",
    ):  # fmt: skip
        before = values.get(element.name)
        text = element.line_text
        values[element.name] = f"{before}, {text}" if before and text else before or text
    fields = {
        "author": values.get("creator") or values.get("initial-creator"),
        "subject": values.get("subject"),
        "description": values.get("description"),
        "created": values.get("created") or values.get("creation-date"),
    }
    words = values.get("keywords") or values.get("keyword") or ""
    written = moment(values.get("modified") or values.get("date"))
    return values.get("title") or None, stated(fields, words, written)
