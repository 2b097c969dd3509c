"""Streamable HTTP: an application for a server to mount, which checks nobody itself.

To mount it, route its path to it and run its lifespan with that of the server:

    agents = app(base)
    routes = [Route(PATH, endpoint=agents)]
    ... async with agents.router.lifespan_context(agents): ...

Under which name the server was called, from which page and with which token is for the server to
check. What a request may do is what `knowbase.values.access.current` holds when the application is
called: a middleware before it sets the variable. Each request is held to its own access, and any
process can answer it: the session that a client of the earlier era is given names nothing but the
stream that it is told of changes on. `state.end_streams` ends those, for a server that stops.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import LOG_LEVEL_META_KEY, JSONRPCNotification, JSONRPCRequest
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount
from starlette.types import Message, Receive, Scope, Send

from knowbase.mcp.listeners import SESSION_HEADER, name_in
from knowbase.mcp.messages import NoMessage, message_of
from knowbase.mcp.server import build_server

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.mcp.listeners import Clients, Name
    from knowbase.mcp.running import Run
    from knowbase.mcp.server import Serving

PATH = "/mcp"
PING = 15.0  # seconds of silence on a stream, until a line that means nothing keeps it open
LONGEST = 3600.0  # seconds of one stream: then its client asks again, with its token


def app(base: "Base", run: "Run | None" = None, tools: Sequence[str] = ()) -> Starlette:
    """An application that speaks MCP, of either era, at whichever path it is put. `run` does the
    blocking work of a call, for a server that bounds how much of it there is."""
    from knowbase.mcp.tools import chosen

    chosen(tools or base.settings.serve_tools)  # refuses an unknown one
    serving = build_server(base, run, tools)
    # An answer is JSON, unless the client is to hear something before it.
    whole, streamed = (_manager(serving, json_response) for json_response in (True, False))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with whole.run(), streamed.run(), anyio.create_task_group() as group:
            group.start_soon(serving.watching.run)
            yield
            group.cancel_scope.cancel()

    routes = [Mount("/", app=_Checked(serving.clients, whole, streamed))]
    application = Starlette(routes=routes, lifespan=lifespan)
    application.state.end_streams = serving.clients.close
    return application


def _manager(serving: "Serving", json_response: bool) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        app=serving.server,
        json_response=json_response,
        stateless=True,
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


class _Checked:
    """Answers what is no message in the words that standard input gets, and the streams."""

    def __init__(
        self,
        clients: "Clients",
        whole: StreamableHTTPSessionManager,
        streamed: StreamableHTTPSessionManager,
    ) -> None:
        self._clients = clients
        self._whole = whole
        self._streamed = streamed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        is_modern = headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS
        method = scope.get("method")
        if method == "POST":
            await self._post(scope, receive, send)
        elif method == "GET" and not is_modern:
            await self._stream(headers)(scope, receive, send)
        elif method == "DELETE":  # there is nothing that a client would have to end
            await Response(status_code=405, headers={"Allow": "GET, POST"})(scope, receive, send)
        else:
            await self._whole.handle_request(scope, receive, send)

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        message: Any = None
        try:
            message = message_of(body)
        except NoMessage as wrong:
            if wrong.answer is not None:
                told = wrong.answer.model_dump_json(by_alias=True, exclude_unset=True)
                response = Response(told, status_code=400, media_type="application/json")
                await response(scope, receive, send)
                return
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receiving() -> Message:
            return whole.pop() if whole else await receive()

        manager = self._streamed if self._is_told(message, Headers(scope=scope)) else self._whole
        sending = self._named(send, message) if _method(message) == "initialize" else send
        await manager.handle_request(scope, receiving, sending)

    def _is_told(self, message: Any, headers: Headers) -> bool:
        """Whether the client wants to hear something before the answer, and can."""
        if not isinstance(message, JSONRPCRequest) or _EVENTS not in headers.get("accept", ""):
            return False
        meta = (message.params or {}).get("_meta")
        asks = isinstance(meta, Mapping) and ("progressToken" in meta or LOG_LEVEL_META_KEY in meta)
        return asks or self._clients.hears(name_in(headers))

    def _named(self, send: Send, message: Any) -> Send:
        """An answer to a client that begins: with the name that it goes by from now on."""

        program = _program(message)

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                MutableHeaders(scope=message)[SESSION_HEADER] = self._clients.new_name(program)
            await send(message)

        return sending

    def _stream(self, headers: Headers) -> Response:
        accepted = headers.get("accept", "")
        if _EVENTS not in accepted and "*/*" not in accepted:
            return Response(status_code=406)
        told = self._told(name_in(headers))
        return StreamingResponse(told, media_type=_EVENTS, headers={"X-Accel-Buffering": "no"})

    async def _told(self, name: "Name | None") -> AsyncIterator[bytes]:
        """What the server says unasked, until it stops."""
        stream = self._clients.stream(name)
        until = anyio.current_time() + LONGEST
        told = b": open\r\n\r\n"
        try:
            while anyio.current_time() < until:
                yield told
                told = b": ping\r\n\r\n"
                with anyio.move_on_after(PING):
                    told = _event(await stream.receive())
        except anyio.EndOfStream:
            return
        finally:
            stream.close()
            self._clients.left(name)


_EVENTS = "text/event-stream"


def _program(message: Any) -> str:
    """What a client that begins calls itself."""
    said = (message.params or {}).get("clientInfo")
    return str(said.get("name", "")) if isinstance(said, Mapping) else ""


def _method(message: Any) -> str:
    return message.method if isinstance(message, JSONRPCRequest) else ""


def _event(notification: Any) -> bytes:
    data = notification.model_dump(by_alias=True, mode="json", exclude_none=True)
    told = JSONRPCNotification(jsonrpc="2.0", method=data["method"], params=data.get("params"))
    line = told.model_dump_json(by_alias=True, exclude_none=True)
    return f"event: message\r\ndata: {line}\r\n\r\n".encode()
