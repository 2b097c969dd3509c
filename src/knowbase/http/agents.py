"""`kb mcp`: over standard input and output, or over HTTP with the same checks as `kb serve`."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.http.commands import LOG_FORMAT, LOG_LEVEL, log_style
from knowbase.mcp.clients import PROJECT, READ_ONLY, TOOLS
from knowbase.operations.declare import Operation
from knowbase.values.access import Access
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowbase.base import Base
    from knowbase.http.server import Serving


class Serve(NamedTuple):
    http: Annotated[bool, Param("serve at http://HOST:PORT/mcp instead")] = False
    host: Annotated[str, Param("the address; other than loopback, it wants a token")] = "127.0.0.1"
    port: Annotated[int, Param("the port; 0: any free one", least=0, most=65535, metavar="N")] = (
        8621
    )
    read_only: Annotated[bool, READ_ONLY] = False
    project: Annotated[str | None, PROJECT] = None
    tools: Annotated[tuple[str, ...], TOOLS] = ()
    log_level: Annotated[str | None, LOG_LEVEL] = None
    log_format: Annotated[str | None, LOG_FORMAT] = None


def serve(base: "Base", request: Serve) -> "Iterator[Serving]":
    """Serve until the client leaves, or until it is stopped."""
    access = Access(write=not request.read_only, project=request.project)
    style = log_style(base.settings, request.log_level, request.log_format)
    if not request.http:
        from knowbase.mcp.commands import over_stdio

        over_stdio(base, access, style, request.tools)
        return
    from knowbase.http.server import Place
    from knowbase.http.server import serve as run

    place = Place(
        request.host, request.port, access, agents_only=True, tools=request.tools, log=style
    )
    yield from run(base, place)


COMMANDS = {
    "mcp": Operation(
        "mcp",
        "Serve the base to agents as MCP tools, over standard input and output",
        Serve,
        serve,
        local=True,
        streams=True,
        examples=(
            "kb mcp",
            "kb mcp --read-only --project web",
            "kb mcp --tools default,kb_edit,kb_saved",
            "kb mcp --http --port 8621",
        ),
    )
}
