"""Serving one client over standard input and output, until it closes them."""

import signal
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from knowbase.mcp.server import build_server

if TYPE_CHECKING:
    from anyio.abc import ObjectReceiveStream, ObjectSendStream

    from knowbase.base import Base

LAST_SECONDS = 5.0  # for the answers to what was asked before the client closed its side


def serve(base: "Base") -> None:
    """Answer what comes in; nothing but the protocol goes out."""
    # A thread waits for the terminal, and asyncio would wait for the thread: Ctrl-C ends both.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        anyio.run(_serve, base)
    except* BrokenPipeError:
        pass  # the client did not wait for its last answers


async def _serve(base: "Base") -> None:
    """The SDK drops what is under way as soon as standard input ends. So it is told of the end
    only when everything is answered, or too late."""
    server, under_way = build_server(base), _UnderWay()
    to_server, of_client = anyio.create_memory_object_stream[Any](0)
    to_client, of_server = anyio.create_memory_object_stream[Any](0)
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        group.start_soon(_requests, incoming, to_server, under_way)
        group.start_soon(_answers, of_server, outgoing, under_way)
        await server.run(of_client, to_client, server.create_initialization_options())


class _UnderWay:
    """The requests that have no answer yet."""

    def __init__(self) -> None:
        self._asked: set[Any] = set()

    def note(self, message: Any) -> None:
        """What goes in or out."""
        if isinstance(message, JSONRPCRequest):
            self._asked.add(message.id)
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            self._asked.discard(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
            self._asked.discard((message.params or {}).get("requestId"))

    async def none(self) -> None:
        while self._asked:
            await anyio.sleep(0.01)


async def _requests(
    incoming: Any, to_server: "ObjectSendStream[Any]", under_way: _UnderWay
) -> None:
    async with to_server:
        async for one in incoming:
            under_way.note(getattr(one, "message", None))
            await to_server.send(one)
        with anyio.move_on_after(LAST_SECONDS):
            await under_way.none()


async def _answers(
    of_server: "ObjectReceiveStream[Any]", outgoing: Any, under_way: _UnderWay
) -> None:
    async with outgoing:
        async for one in of_server:
            await outgoing.send(one)
            under_way.note(one.message)
