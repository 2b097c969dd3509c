"""`kb mcp install` and `kb mcp clients`, declared like operations, and `kb mcp` over standard input
and output.

The command `kb mcp` itself is declared in `http/agents.py`, since it can serve over HTTP too.
Nothing of the SDK is loaded here.
"""

import gc
import sys
from typing import TYPE_CHECKING

from knowbase.base.background import embedding
from knowbase.logs import LogStyle, show_on
from knowbase.mcp.clients import Install
from knowbase.operations.declare import NoParameters, Operation
from knowbase.values.access import Access, current

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.mcp.agents import AgentList
    from knowbase.mcp.install import Installed


def over_stdio(base: "Base", access: Access, style: LogStyle, tools: tuple[str, ...] = ()) -> None:
    """Serve one client until it leaves."""
    from knowbase.mcp.greeting import greet
    from knowbase.mcp.tools import chosen

    chosen(tools or base.settings.serve_tools)  # refuses an unknown one before anybody waits
    current.set(access)
    show_on(sys.stderr, style)
    if sys.stdin.isatty():
        print("waiting for an MCP client on standard input; Ctrl-C stops", file=sys.stderr)
    opening = greet(base.settings.serve_max_request_kb << 10)
    gc.disable()  # a seventh of what it takes to load the SDK
    from knowbase.mcp.stdio import serve

    gc.enable()
    with embedding(base, when=access.write):
        serve(base, opening, tools)


def install(base: "Base", request: Install) -> "Installed":
    """Write the client's configuration into the working folder, or show it."""
    from knowbase.mcp.install import install as write

    return write(base.path, request)


def show_agents(base: "Base", request: NoParameters) -> "AgentList":
    from knowbase.mcp.agents import agents

    return agents(base, request)


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
        Operation(
            "mcp clients",
            "Show the programs of agents: what each is to be told, and when it last asked",
            NoParameters,
            show_agents,
            near=True,
            whole=True,
            examples=("kb mcp clients", "kb mcp clients --json"),
        ),
    )
}
