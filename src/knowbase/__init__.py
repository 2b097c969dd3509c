"""knowbase: put files and notes in, find them again by words and by meaning.

>>> import knowbase
>>> base = knowbase.create("my.db")
>>> base.add("docs")
>>> base.search("how do I set up version control", path="docs/").hits
"""

TYPE_CHECKING = False  # the module of that name takes as long to load as a command that is answered
if TYPE_CHECKING:
    from typing import Any

    from knowbase.base import Base, create, open  # noqa: A004 - knowbase.open reads well
    from knowbase.base.awaited import AsyncBase, create_async, open_async
    from knowbase.base.upkeep import repair, restore
    from knowbase.client import Client, connect
    from knowbase.client.awaited import AsyncClient, connect_async
    from knowbase.contracts.entries import KnowledgeBaseSearch
    from knowbase.errors import KnowbaseError
    from knowbase.search.answer import Answer, Hit
    from knowbase.search.request import SearchRequest
    from knowbase.values.notes import Note

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "AsyncBase",
    "AsyncClient",
    "Base",
    "Client",
    "Hit",
    "KnowbaseError",
    "KnowledgeBaseSearch",
    "Note",
    "SearchRequest",
    "connect",
    "connect_async",
    "create",
    "create_async",
    "open",
    "open_async",
    "repair",
    "restore",
]

_HOMES = {
    "Answer": "knowbase.search.answer",
    "AsyncBase": "knowbase.base.awaited",
    "AsyncClient": "knowbase.client.awaited",
    "Base": "knowbase.base",
    "Client": "knowbase.client",
    "Hit": "knowbase.search.answer",
    "KnowbaseError": "knowbase.errors",
    "KnowledgeBaseSearch": "knowbase.contracts.entries",
    "Note": "knowbase.values.notes",
    "SearchRequest": "knowbase.search.request",
    "connect": "knowbase.client",
    "connect_async": "knowbase.client.awaited",
    "create": "knowbase.base",
    "create_async": "knowbase.base.awaited",
    "open": "knowbase.base",
    "open_async": "knowbase.base.awaited",
    "repair": "knowbase.base.upkeep",
    "restore": "knowbase.base.upkeep",
}


def __getattr__(name: str) -> "Any":
    """Names are loaded when first used: importing knowbase costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'knowbase' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
