"""Answers as JSON, with as much of each document as was asked for.

`full` is what `kb … --json` prints. What is left out below that is left out everywhere: nulls,
empty lists, and fields that no agent has a use for.
"""

from collections.abc import Mapping
from typing import Any

from knowbase.base.status import Status
from knowbase.contracts.entry import Entry, SearchMetadata
from knowbase.memory.brief import Brief
from knowbase.operations.results import plain
from knowbase.search.answer import Answer, Copy, Hit
from knowbase.text.sections import SectionText
from knowbase.values.documents import Document

DOCUMENT = (
    "id", "code", "title", "type", "tags", "path", "project", "parent", "confidence", "expires_at",
    "superseded_by", "created_at", "updated_at",
)  # fmt: skip
ENTRY = (
    "id", "code", "title", "entry_type", "project", "tags", "confidence", "created_at",
    "updated_at", "score", "relation", "shared_tags", "proximity", "path", "line", "page",
    "heading", "section", "snippet", "is_relaxed", "copies", "explanation",
)  # fmt: skip
HIT = ("code", "title", "type", "path", "section", "line", "page", "snippet", "score")

KEPT: dict[str, dict[type, tuple[str, ...]]] = {
    "ids": {
        Document: ("id", "code", "title"),
        Entry: ("id", "code", "title", "score", "relation"),
        SearchMetadata: tuple(name for name in SearchMetadata._fields if name != "debug_info"),
    },
    "snippets": {
        Document: DOCUMENT,
        Entry: ENTRY,
        Hit: HIT,
        Answer: ("verdict", "query", "hits", "total", "notices"),
        Copy: ("code", "path", "project", "line"),
        SectionText: ("section", "heading", "line", "page"),  # the text is told as a whole
        Brief: ("project", "max_tokens", "tokens", "left_out", "text"),  # its parts are the text
    },
}
PARTS = (Document, Entry, Hit, Copy, SectionText)  # of which there may be many: empty lists go, too
ALWAYS = (Status,)  # shown whole: it is asked for to see what is not there


def shaped(value: Any, detail: str) -> Any:
    """The JSON of an answer."""
    if detail == "full" or isinstance(value, ALWAYS):
        return plain(value)
    if hasattr(value, "_fields"):
        names = KEPT[detail].get(type(value)) or KEPT["snippets"].get(type(value), value._fields)
        found = {name: shaped(getattr(value, name), detail) for name in names}
        left_out: tuple[Any, ...] = (None, []) if type(value) in PARTS else (None,)
        return {name: part for name, part in found.items() if part not in left_out}
    if isinstance(value, Mapping):
        return {name: shaped(part, detail) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [shaped(part, detail) for part in value]
    return value
