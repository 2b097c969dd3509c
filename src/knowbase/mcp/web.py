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
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knowbase.mcp.messages import NoMessage, message_of
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
        routes=[Mount("/", app=_Checked(manager.handle_request))], lifespan=lambda _: manager.run()
    )


class _Checked:
    """Answers what is no message in the words that standard input gets."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        try:
            message_of(body)
        except NoMessage as wrong:
            if wrong.answer is not None:
                told = wrong.answer.model_dump_json(by_alias=True, exclude_unset=True)
                response = Response(told, status_code=400, media_type="application/json")
                await response(scope, receive, send)
                return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receiving() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, receiving, send)
