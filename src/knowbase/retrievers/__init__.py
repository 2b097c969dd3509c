"""Retrievers for frameworks: what a chain or an agent of theirs asks a base for.

Each is in a module of its own, and needs an extra: knowbase[langchain], knowbase[llamaindex].
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

from knowbase.base import Base
from knowbase.client import Client
from knowbase.search.answer import Hit

Searched: TypeAlias = Base | Client


class Found(NamedTuple):
    """A hit as frameworks hold one."""

    text: str
    metadata: dict[str, Any]
    hit: Hit

    @property
    def id(self) -> str:
        """The same for the same text, whatever was asked."""
        return f"{self.hit.section}#{sha256(self.text.encode()).hexdigest()[:8]}"


def found(base: Searched, query: str, keywords: Mapping[str, Any]) -> list[Found]:
    """The hits for a question. It has no operators unless `syntax="query"` is among the
    keywords: what a chain asks is natural language."""
    answer = base.search(query, **{"syntax": "plain", **keywords})
    return [Found(hit.text, _metadata(hit), hit) for hit in answer.hits]


def _metadata(hit: Hit) -> dict[str, Any]:
    """What is the same whatever was asked: frameworks tell by it whether two hits are one."""
    names = ("id", "code", "title", "type", "tags", "path", "section", "heading", "page")
    told = hit.to_dict()
    source = {"source": hit.path or hit.code, "created_at": hit.created_at}
    return {**{name: told[name] for name in names}, **source}
