"""Streamable HTTP: an application for a server to mount, which checks nobody itself.

To mount it, route its path to it and run its lifespan with that of the server:

    agents = app(base)
    routes = [Route(PATH, endpoint=agents)]
    ... async with agents.router.lifespan_context(agents): ...

Under which name the server was called, from which page and with which token is for the server to
check. What a request may do is what `knowbase.values.access.current` holds when the application is
called: a middleware before it sets the variable. There are no sessions between requests, so each
one is held to its own access, and any process can answer it.
"""

from typing import TYPE_CHECKING

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.routing import Mount

from knowbase.mcp.server import build_server

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.mcp.server import Run

PATH = "/mcp"


def app(base: "Base", run: "Run | None" = None) -> Starlette:
    """An application that speaks MCP, of either era, at whichever path it is put. `run` does the
    blocking work of a call, for a server that bounds how much of it there is."""
    manager = StreamableHTTPSessionManager(
        app=build_server(base, run),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return Starlette(
        routes=[Mount("/", app=manager.handle_request)], lifespan=lambda _: manager.run()
    )
