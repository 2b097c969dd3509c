"""`kb mcp` and `kb mcp install`, declared like operations; nothing of the SDK is loaded here."""

import gc
import os
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.access import Access, current
from knowbase.errors import InvalidInput
from knowbase.logs import show_on
from knowbase.operations.declare import Operation, Param

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowbase.base import Base
    from knowbase.mcp.install import Installed

CLIENTS = ("claude-code", "cursor", "vscode", "codex")
LOCAL = ("127.0.0.1", "localhost", "::1")
READ_ONLY = Param("without the tools that write")
PROJECT = Param("only this project's documents; what is remembered belongs to it")


class Serve(NamedTuple):
    http: Annotated[bool, Param("serve at http://HOST:PORT/mcp instead")] = False
    host: Annotated[str, Param("the address; any but loopback needs KB_TOKEN")] = "127.0.0.1"
    port: Annotated[int, Param("the port; 0: any free one", least=0, most=65535, metavar="N")] = (
        8621
    )
    read_only: Annotated[bool, READ_ONLY] = False
    project: Annotated[str | None, PROJECT] = None


class Serving(NamedTuple):
    """Where the tools are served over HTTP."""

    base: str
    address: str
    open: bool  # nobody is asked for a token


def serve(base: "Base", request: Serve) -> "Iterator[Serving]":
    """Serve until the client leaves, or until it is stopped."""
    current.set(Access(write=not request.read_only, project=request.project))
    show_on(sys.stderr, as_json=False)
    if not request.http:
        gc.disable()  # a seventh of what it takes to load the SDK
        from knowbase.mcp.stdio import serve as serve_stdio

        gc.enable()
        if sys.stdin.isatty():
            print("waiting for an MCP client on standard input; Ctrl-C stops", file=sys.stderr)
        serve_stdio(base)
        return
    token = os.environ.get("KB_TOKEN", "")
    if request.host not in LOCAL and not token:
        raise InvalidInput(
            f"{request.host} can be reached by others, and there is no token",
            field="host",
            hint="set KB_TOKEN, or serve on 127.0.0.1",
        )
    from knowbase.mcp.web import PATH, listen
    from knowbase.mcp.web import serve as serve_http

    listening = listen(request.host, request.port)
    host, port = listening.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    yield Serving(base.shown, address + PATH, not token)
    serve_http(base, listening, token, is_local=request.host in LOCAL)


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
            "mcp",
            "Serve the base to agents as MCP tools, over standard input and output",
            Serve,
            serve,
            local=True,
            examples=(
                "kb mcp",
                "kb mcp --read-only --project web",
                "kb mcp --http --port 8621",
            ),
        ),
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
