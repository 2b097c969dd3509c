"""What is served: every operation that is not this machine's own, and the entries for agents."""

from functools import cache
from typing import TYPE_CHECKING

from knowbase.entries import (
    RelatedInput,
    SearchInput,
    SearchOutput,
    kb_get_related,
    kb_search,
)
from knowbase.operations import NAMES, load
from knowbase.operations.declare import Operation

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.graph.related import RelatedAnswer


def _search(base: "Base", request: SearchInput) -> SearchOutput:
    return kb_search(base, **request._asdict())


def _related(base: "Base", request: RelatedInput) -> "RelatedAnswer":
    return kb_get_related(base, **request._asdict())


ENTRIES = (
    Operation("kb_search", "Search a team's entries, as agents ask for them", SearchInput, _search),
    Operation("kb_get_related", "Show what is related to an entry", RelatedInput, _related),
)


@cache
def served() -> dict[str, Operation]:
    """Each by its path."""
    operations = [load(name) for name in NAMES]
    shown = [*(one for one in operations if not one.local), *ENTRIES]
    return {path_of(one): one for one in shown}


def path_of(operation: Operation) -> str:
    """session start → /api/session/start."""
    return "/api/" + operation.name.replace(" ", "/")


def methods_of(operation: Operation) -> tuple[str, ...]:
    """What writes is never a GET: links and pictures of other pages send those."""
    return ("POST",) if operation.writes else ("GET", "POST")
