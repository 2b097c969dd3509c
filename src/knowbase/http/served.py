"""What is served: every operation that is not this machine's own, and the entries for agents."""

from functools import cache

from knowbase.contracts.entries import OPERATIONS as ENTRIES
from knowbase.http.token_commands import COMMANDS
from knowbase.mcp.commands import COMMANDS as OF_AGENTS
from knowbase.operations import NAMES, load
from knowbase.operations.declare import Operation


@cache
def served() -> dict[str, Operation]:
    """Each by its path."""
    operations = [load(name) for name in NAMES]
    shown = [*(one for one in operations if not one.local), *ENTRIES.values()]
    shown += [one for one in (*COMMANDS.values(), *OF_AGENTS.values()) if one.near]
    return {path_of(one): one for one in shown}


def path_of(operation: Operation) -> str:
    """session start → /api/session/start."""
    return "/api/" + operation.name.replace(" ", "/")


def methods_of(operation: Operation) -> tuple[str, ...]:
    """What writes is never a GET: links and pictures of other pages send those."""
    return ("POST",) if operation.writes else ("GET", "POST")
