"""`kb mcp install`, declared like an operation, and `kb mcp` over standard input and output.

The command `kb mcp` itself is declared in `http/agents.py`, since it can serve over HTTP too.
Nothing of the SDK is loaded here.
"""

import gc
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.logs import show_on
from knowbase.operations.declare import Operation, Param
from knowbase.values.access import Access, current

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.mcp.install import Installed

CLIENTS = ("claude-code", "cursor", "vscode", "codex")
READ_ONLY = Param("without the tools that write")
PROJECT = Param("only this project's documents; what is remembered belongs to it")


def over_stdio(base: "Base", access: Access) -> None:
    """Serve one client until it leaves."""
    current.set(access)
    show_on(sys.stderr, as_json=False)
    gc.disable()  # a seventh of what it takes to load the SDK
    from knowbase.mcp.stdio import serve

    gc.enable()
    if sys.stdin.isatty():
        print("waiting for an MCP client on standard input; Ctrl-C stops", file=sys.stderr)
    serve(base)


class Install(NamedTuple):
    client: Annotated[str, Param("the program that the agent runs in", choices=CLIENTS)]
    name: Annotated[str, Param("what the server is called there")] = "knowbase"
    read_only: Annotated[bool, READ_ONLY] = False
    project: Annotated[str | None, PROJECT] = None
    write: Annotated[bool, Param("codex: write to the user's own file, too")] = False
    dry_run: Annotated[bool, Param("show what would be written, and write nothing")] = False


def install(base: "Base", request: Install) -> "Installed":
    """Write the client's configuration into the working folder, or show it."""
    from knowbase.mcp.install import install as write

    return write(base.path, request)


COMMANDS = {
    command.name: command
    for command in (
        Operation(
            "mcp install",
            "Tell an agent's program about the base: write its MCP configuration",
            Install,
            install,
            local=True,
            examples=(
                "kb mcp install --client claude-code",
                "kb mcp install --client codex",
                "kb mcp install --client cursor --dry-run",
            ),
        ),
    )
}
