"""Serving one client over standard input and output, until it closes them."""

from collections import Counter
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from knowbase.logs import log
from knowbase.mcp.greeting import Opening
from knowbase.mcp.messages import ENDS, NoMessage, message_of, too_long
from knowbase.mcp.server import build_server

if TYPE_CHECKING:
    from anyio.abc import ObjectReceiveStream, ObjectSendStream

    from knowbase.base import Base

LAST_SECONDS = 5.0  # for the answers to what was asked before the client closed its side


def serve(base: "Base", opening: Opening, tools: tuple[str, ...] = ()) -> None:
    """Answer what comes in; nothing but the protocol goes out."""
    try:
        anyio.run(_serve, base, opening, tools)
    except* BrokenPipeError:
        pass  # the client did not wait for its last answers


async def _serve(base: "Base", opening: Opening, tools: tuple[str, ...]) -> None:
    """The SDK drops what is under way as soon as standard input ends. So it is told of the end
    only when everything is answered, or too late. And it drops what is no message; so lines are
    read here, and it is given none."""
    serving, under_way = build_server(base, tools=tools), _UnderWay()
    server = serving.server
    lines = _Lines(base.settings.serve_max_request_kb << 10, opening)
    to_server, of_client = anyio.create_memory_object_stream[Any](0)
    to_client, of_server = anyio.create_memory_object_stream[Any](0)
    nothing: Any = _Nothing()
    async with stdio_server(stdin=nothing) as (_, outgoing), anyio.create_task_group() as group:
        group.start_soon(_requests, lines, to_server, outgoing.clone(), under_way)
        group.start_soon(_answers, of_server, outgoing, under_way, opening.answered)
        async with anyio.create_task_group() as meanwhile:
            meanwhile.start_soon(serving.watching.run)
            await server.run(of_client, to_client, server.create_initialization_options())
            meanwhile.cancel_scope.cancel()
        nothing.ended.set()


class _Nothing:
    """An input without lines, for the SDK."""

    def __init__(self) -> None:
        self.ended = anyio.Event()

    def __aiter__(self) -> "_Nothing":
        return self

    async def __anext__(self) -> str:
        await self.ended.wait()
        raise StopAsyncIteration


class _Lines:
    """The lines of standard input, none of them longer than may be kept; the first has been
    read already."""

    def __init__(self, most: int, opening: Opening) -> None:
        self._most = most
        self._wire = opening.wire
        self._first: bytes | None = opening.first

    async def next(self) -> bytes | None:
        """The next line; None when there is none any more."""
        line = await self._read()
        if len(line) <= self._most or line.endswith(b"\n"):
            return line or None
        first, last = line[:ENDS], line[-ENDS:]
        while line and not line.endswith(b"\n"):
            line = await self._read()
            last = (last + line)[-ENDS:]
        raise too_long(self._most, first, last)

    async def _read(self) -> bytes:
        first, self._first = self._first, None
        if first is not None:
            return first
        return await anyio.to_thread.run_sync(self._wire.readline, self._most + 1)


class _UnderWay:
    """The requests that have no answer yet; a number may be asked twice."""

    def __init__(self) -> None:
        self._asked: Counter[Any] = Counter()

    def note(self, message: Any) -> None:
        """What goes in or out."""
        if isinstance(message, JSONRPCRequest):
            self._asked[message.id] += 1
        elif isinstance(message, JSONRPCResponse | JSONRPCError):
            self._asked[message.id] -= 1
        elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
            self._asked.pop((message.params or {}).get("requestId"), None)
        self._asked = +self._asked

    async def none(self) -> None:
        while self._asked:
            await anyio.sleep(0.01)


async def _requests(
    lines: _Lines, to_server: "ObjectSendStream[Any]", outgoing: Any, under_way: _UnderWay
) -> None:
    async with to_server, outgoing:
        while True:
            try:
                line = await lines.next()
                if line is None:
                    break
                if not line.strip():
                    continue
                message = message_of(line)
            except NoMessage as wrong:
                if wrong.answer is not None:
                    await outgoing.send(SessionMessage(wrong.answer))
                continue
            under_way.note(message)
            await to_server.send(SessionMessage(message))
        with anyio.move_on_after(LAST_SECONDS):
            await under_way.none()


async def _answers(
    of_server: "ObjectReceiveStream[Any]",
    outgoing: Any,
    under_way: _UnderWay,
    answered: int | str | None,
) -> None:
    """Everything that the SDK says, but what was answered before it was there."""
    async with outgoing:
        async for one in of_server:
            if answered is not None and getattr(one.message, "id", None) == answered:
                answered = None
                if isinstance(one.message, JSONRPCError):
                    log("warning", "a client was greeted, and then refused", reason=one.message)
            else:
                await outgoing.send(one)
            under_way.note(one.message)
