"""What the server tells a client unasked: changes that it subscribed to, log lines, progress.

Over standard input and output there is one client. Over HTTP a client of the earlier era is known
by the name that it was given when it began (`Mcp-Session-Id`), by which it also opens the stream
that it is told on. The name opens nothing else: each request is held to its own access. A client of
the newest era has no name; it is told in the answer to its request.
"""

import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio
import mcp_types as types
from mcp.server.connection import allowed_log_levels
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from knowbase.mcp.hearing import Line, from_level
from knowbase.mcp.watching import Watch
from knowbase.values.access import Access, current

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from knowbase.mcp.watching import Watching

SESSION_HEADER = "mcp-session-id"
MOST_SESSIONS = 1000  # clients that subscribed to something; who has no stream goes first
RETURN = 300.0  # seconds for a client whose stream ended to open another: then it is forgotten
MOST_PROGRAMS = 10_000  # sessions of which is known by what program they were begun
MOST_UNREAD = 100  # messages on a stream that its client does not read
BEAT = 2.0  # seconds between two reports of progress

Result = TypeVar("Result")


class Name(NamedTuple):
    """What a client goes by: another access is another client."""

    session: str
    access: Access


class Mailbox:
    """What is known of one client of the earlier era."""

    def __init__(self) -> None:
        self.level: str | None = None
        self.streams: set[MemoryObjectSendStream[types.ServerNotification]] = set()
        self.left_at: float | None = None  # when its last stream ended

    async def post(self, uri: str) -> None:
        params = types.ResourceUpdatedNotificationParams(uri=uri)
        for stream in [*self.streams]:
            try:
                stream.send_nowait(types.ResourceUpdatedNotification(params=params))
            except (anyio.WouldBlock, anyio.BrokenResourceError):
                self.streams.discard(stream)
                stream.close()


class Clients:
    """The clients of a server, as far as something has to be remembered of them."""

    def __init__(self, watching: "Watching") -> None:
        self._watching = watching
        self._mailboxes: OrderedDict[Name, Mailbox] = OrderedDict()
        self._streams: set[MemoryObjectSendStream[types.ServerNotification]] = set()
        self._programs: OrderedDict[str, str] = OrderedDict()  # by session
        self._level: str | None = None  # over standard input and output

    def new_name(self, program: str) -> str:
        """What a client goes by that begins, and says which program it is."""
        name = secrets.token_hex(16)
        self._programs[name] = program
        if len(self._programs) > MOST_PROGRAMS:
            self._programs.popitem(last=False)
        return name

    def program(self, context: Any) -> str:
        """What the program of a client calls itself; empty where it does not say."""
        said = context.session.client_params
        if said is not None:
            return str(said.client_info.name)
        name = _name(context)
        return self._programs.get(name.session, "") if name else ""

    async def subscribe(self, context: Any, params: types.SubscribeRequestParams) -> Any:
        name, uri = _name(context), str(params.uri)
        if context.request is None:
            watch = Watch(current.get(), context.session.send_resource_updated, lambda: True)
        elif name is None:
            return types.EmptyResult()  # there is no stream that it could be told on
        else:
            box = self._mailbox(name)
            watch = Watch(name.access, box.post, lambda: bool(box.streams))
        await self._watching.add(name, [uri], watch)
        return types.EmptyResult()

    async def unsubscribe(self, context: Any, params: types.UnsubscribeRequestParams) -> Any:
        self._watching.remove(_name(context), str(params.uri))
        return types.EmptyResult()

    async def set_level(self, context: Any, params: types.SetLevelRequestParams) -> Any:
        name = _name(context)
        if context.request is None:
            self._level = params.level
        elif name is not None:
            self._mailbox(name).level = params.level
        return types.EmptyResult()

    def _mailbox(self, name: "Name") -> Mailbox:
        self._forget_gone()
        box = self._mailboxes.get(name)
        if box is None:
            while len(self._mailboxes) >= MOST_SESSIONS:
                idle = (one for one, other in self._mailboxes.items() if not other.streams)
                self._forget(next(idle, next(iter(self._mailboxes))))
            box = self._mailboxes[name] = Mailbox()
        return box

    def _forget_gone(self) -> None:
        """Forget whose stream ended a while ago and who opened no other."""
        until = time.monotonic() - RETURN
        gone = [
            name
            for name, box in self._mailboxes.items()
            if not box.streams and box.left_at is not None and box.left_at <= until
        ]
        for name in gone:
            self._forget(name)

    def _forget(self, name: "Name") -> None:
        for stream in self._mailboxes.pop(name).streams:
            stream.close()  # its client finds out, and begins again
        self._watching.drop(name)

    def hears(self, name: "Name | None") -> bool:
        """Whether a client of the earlier era wants to hear of its calls."""
        box = self._mailboxes.get(name) if name else None
        return box is not None and box.level is not None

    def stream(self, name: "Name | None") -> "MemoryObjectReceiveStream[types.ServerNotification]":
        """What a client is told, until the server stops; without a name, nothing."""
        sending, receiving = anyio.create_memory_object_stream[types.ServerNotification](
            MOST_UNREAD
        )
        self._streams.add(sending)
        if name is not None:
            box = self._mailbox(name)
            box.streams = {one for one in box.streams if one.statistics().open_receive_streams}
            box.streams.add(sending)
        return receiving

    def left(self, name: "Name | None") -> None:
        """Forget the streams that nobody reads any more."""
        gone = {one for one in self._streams if not one.statistics().open_receive_streams}
        self._streams -= gone
        box = self._mailboxes.get(name) if name else None
        if box is not None:
            box.streams -= gone
            box.left_at = None if box.streams else time.monotonic()
        self._forget_gone()

    def close(self) -> None:
        """End every stream."""
        self._watching.close()
        for stream in [*self._streams]:
            stream.close()
        self._streams.clear()

    async def tell(self, context: Any, lines: list[Line]) -> None:
        """What was logged of a call, at the level that its client asked for."""
        wanted = self._wanted(context) if lines else frozenset()
        for line in lines:
            if line.level in wanted:
                params = types.LoggingMessageNotificationParams(
                    level=line.level, logger="knowbase", data=line.data
                )
                await context.session.send_notification(
                    types.LoggingMessageNotification(params=params), context.request_id
                )

    def _wanted(self, context: Any) -> frozenset[str]:
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return frozenset(allowed_log_levels(context.protocol_version, context.meta))
        name = _name(context)
        box = self._mailboxes.get(name) if name else None
        level = self._level if context.request is None else box.level if box else None
        return from_level(level) if level is not None else frozenset()


def _name(context: Any) -> Name | None:
    return None if context.request is None else name_in(context.request.headers)


def name_in(headers: Mapping[str, str]) -> Name | None:
    """The client that a request says it comes from, as far as its access reaches."""
    told = headers.get(SESSION_HEADER)
    return Name(told, current.get()) if told else None


async def with_progress(session: Any, work: Callable[[], Awaitable[Result]]) -> Result:
    """What the work gives; a client that asked for it hears every few seconds that it goes on."""

    async def beat() -> None:
        seconds = 0.0
        while True:
            told = "working" if not seconds else f"working for {seconds:g} seconds"
            try:
                await session.report_progress(seconds, None, told)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                return  # nobody hears it any more; the answer finds that out, too
            await anyio.sleep(BEAT)
            seconds += BEAT

    async with anyio.create_task_group() as group:
        group.start_soon(beat)
        result = await work()
        group.cancel_scope.cancel()
    return result
