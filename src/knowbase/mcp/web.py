"""Streamable HTTP: an application to mount in a server, and a small server of its own.

To mount it, route its path to it and run its lifespan with that of the server:

    agents = app(base, hosts=())
    routes = [Route("/mcp", endpoint=agents)]
    ... async with agents.router.lifespan_context(agents): ...

What a request may do is what `knowbase.access.current` holds when the application is called: a
middleware before it sets the variable after it has checked the token; nothing here does. There
are no sessions between requests, so each one is held to its own access, and any process can
answer it.
"""

import hmac
import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from knowbase.errors import InvalidInput
from knowbase.mcp.server import build_server

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from knowbase.base import Base

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PATH = "/mcp"


def app(base: "Base", hosts: Iterable[str] = LOOPBACK) -> Starlette:
    """An application that speaks MCP, of either era, at whichever path it is put.

    `hosts` are the names that requests may be addressed to, and whose pages may ask. Without
    any, neither is checked: for a server that does so itself.
    """
    manager = StreamableHTTPSessionManager(
        app=build_server(base),
        json_response=True,
        stateless=True,
        security_settings=_security(tuple(hosts)),
    )
    return Starlette(
        routes=[Mount("/", app=manager.handle_request)], lifespan=lambda _: manager.run()
    )


def _security(hosts: tuple[str, ...]) -> TransportSecuritySettings:
    """Against pages in a browser that make a name of theirs mean this machine."""
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(hosts),
        allowed_hosts=[one for host in hosts for one in (host, f"{host}:*")],
        allowed_origins=[
            one
            for host in hosts
            for scheme in ("http", "https")
            for one in (f"{scheme}://{host}", f"{scheme}://{host}:*")
        ],
    )


class TokenGate:
    """Lets those pass who know the token."""

    def __init__(self, application: "ASGIApp", token: str) -> None:
        self._application = application
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        given = Headers(scope=scope).get("authorization", "").encode()
        if hmac.compare_digest(given, self._expected):
            await self._application(scope, receive, send)
            return
        refusal = {"error": {"code": "unauthorized", "message": "a token is needed"}}
        headers = {"WWW-Authenticate": "Bearer"}
        await JSONResponse(refusal, 401, headers)(scope, receive, send)


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections from now on."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise InvalidInput(
            f"{host}:{port} cannot be listened on: {error.strerror}",
            field="port",
            hint="choose another --host or --port",
        ) from error


def serve(base: "Base", listening: socket.socket, token: str, *, is_local: bool) -> None:
    """Serve one base at PATH until it is stopped."""
    import uvicorn

    agents = app(base, LOOPBACK if is_local else ())
    endpoint = TokenGate(agents, token) if token else agents
    application = Starlette(
        routes=[Route(PATH, endpoint=endpoint)], lifespan=agents.router.lifespan_context
    )
    uvicorn.Server(uvicorn.Config(application, log_config=None)).run(sockets=[listening])
