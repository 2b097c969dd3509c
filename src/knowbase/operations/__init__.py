"""What can be asked of a base: each operation declared once, and loaded when it is used."""

from importlib import import_module
from typing import cast

from knowbase.operations.declare import Operation

_HOMES = {
    "init": "filling",
    "add": "filling",
    "note": "filling",
    "notes": "filling",
    "remember": "memory",
    "search": "search",
    "saved add": "saved",
    "saved list": "saved",
    "saved run": "saved",
    "saved rm": "saved",
    "get": "finding",
    "list": "finding",
    "browse": "arranging",
    "tags": "finding",
    "timeline": "memory",
    "context": "memory",
    "brief": "memory",
    "relate": "memory",
    "feedback": "memory",
    "supersede": "lifecycle",
    "forget": "lifecycle",
    "restore": "lifecycle",
    "archive": "lifecycle",
    "expire": "lifecycle",
    "tag": "arranging",
    "sessions": "sessions",
    "session start": "sessions",
    "session end": "sessions",
    "session show": "sessions",
    "links": "graph",
    "related": "graph",
    "path": "graph",
    "communities": "graph",
    "rank": "graph",
    "graph export": "graph",
    "graph query": "graph",
    "graph show": "graph",
    "graph rebuild": "graph",
    "rm": "filling",
    "sync": "filling",
    "watch": "filling",
    "move": "move",
    "export": "exchange",
    "import": "exchange",
    "backup": "upkeep",
    "backup restore": "upkeep",
    "check": "upkeep",
    "repair": "upkeep",
    "embed": "models",
    "models": "models",
    "status": "finding",
    "config": "finding",
    "profiles": "ranking",
    "profiles show": "ranking",
    "why-not": "ranking",
    "query": "ranking",
    "eval": "evaluating",
}

NAMES = tuple(_HOMES)


def load(name: str) -> Operation:
    """The operation of that name."""
    module = import_module(f"knowbase.operations.{_HOMES[name]}")
    return cast("Operation", module.OPERATIONS[name])
