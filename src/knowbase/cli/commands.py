"""Every command: the operations on a base, and what a surface adds, declared the same way."""

from importlib import import_module
from typing import cast

from knowbase import operations
from knowbase.operations.declare import Operation

SURFACES = {
    "daemon status": "knowbase.operations.daemon",
    "daemon stop": "knowbase.operations.daemon",
    "mcp": "knowbase.http.agents",
    "mcp install": "knowbase.mcp.commands",
    "mcp clients": "knowbase.mcp.commands",
    "serve": "knowbase.http.commands",
    "web": "knowbase.http.commands",
    "token new": "knowbase.http.token_commands",
    "token list": "knowbase.http.token_commands",
    "tokens": "knowbase.http.token_commands",
    "token revoke": "knowbase.http.token_commands",
}
"""Commands that are no operations, and the module whose COMMANDS declare them."""

NAMES = (*operations.NAMES, *SURFACES)

COMPLETION = "completion"
"""Answered by the command line itself, and no operation."""


def load(name: str) -> Operation:
    """The command of that name."""
    if name not in SURFACES:
        return operations.load(name)
    return cast("Operation", import_module(SURFACES[name]).COMMANDS[name])


def below(first: str) -> list[str]:
    """The second words that may follow a first one: session → start, end, show."""
    pairs = (name.partition(" ") for name in NAMES)
    return [second for start, _, second in pairs if second and start == first]
