"""Connections: how many there may be, and how long one may keep the server waiting.

uvicorn waits for ever for a request whose headers never end, and for a client that never reads its
answer. Here such connections are closed; when there are too many, the one that has waited longest
makes room for the new one, so whoever sends a request at once is served.
"""

import asyncio
import time
from contextlib import suppress
from http import HTTPStatus
from typing import NamedTuple

from uvicorn.protocols.http.h11_impl import H11Protocol

from knowbase.errors import KnowbaseError
from knowbase.http.clients import address_of
from knowbase.http.failures import Overloaded, TooSlow, Unreadable, response_to
from knowbase.http.guard import HEADERS

EVERY = 0.5  # seconds between two looks at the connections
LEAST_RATE = 1024  # bytes a second of an answer that a client has to take
SPARE_FILES = 256  # what the base, its models and the log have open beside the connections


def _last_words(error: KnowbaseError) -> bytes:
    """An answer to what never became a request: like every other error, and the end."""
    answer = response_to(error, HEADERS)
    status = answer.status_code
    answer.headers["connection"] = "close"
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
    lines += [name + b": " + value for name, value in answer.raw_headers]
    return b"\r\n".join([*lines, b"", bytes(answer.body)])


SLOW = _last_words(TooSlow("the headers did not arrive in time", hint="serve.header_timeout"))
FULL = _last_words(Overloaded("there are too many connections", hint="try again later"))
NOT_HTTP = _last_words(Unreadable("this is not a request of HTTP/1.1"))


class Patience(NamedTuple):
    """How many connections there may be, and what is waited for."""

    connections: int
    of_one_client: int
    header_seconds: float  # for the headers of a request, once a connection or request began
    idle_seconds: float  # between two requests
    taking_seconds: float = 10.0  # without taking enough of an answer


class Connection(H11Protocol):
    """A connection that the crowd knows of."""

    crowd: "Crowd"
    began: float | None = None  # since when headers are waited for
    idle: float | None = None  # since when there was no request
    untaken: tuple[float, int] | None = None  # when how much of an answer was not taken yet
    address = ""

    @property
    def is_waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.began = time.monotonic()
        self.address = address_of(self.client[0]) if self.client else ""
        if not self.crowd.enter(self):
            self.close(FULL)

    def connection_lost(self, exc: Exception | None) -> None:
        self.crowd.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self.is_waiting and self.began is None:
            self.began = time.monotonic()
        super().data_received(data)
        if not self.is_waiting:
            self.began = self.idle = None

    def on_response_complete(self) -> None:
        self.began, self.idle = None, time.monotonic()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own words
        """Nothing of ours has seen what was sent; it is answered as what ours refuses, unless an
        answer is on its way already."""
        has_begun = not self.is_waiting and self.cycle.response_started
        self.close(b"" if has_begun else NOT_HTTP)

    def close(self, last_words: bytes = b"") -> None:
        if not self.transport.is_closing():
            if last_words:
                self.transport.write(last_words)
            self.transport.close()


class Crowd:
    """All connections, by client."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._by_client: dict[str, dict[Connection, None]] = {}
        self._number = 0
        self._looking: asyncio.TimerHandle | None = None

    def protocol(self) -> type[Connection]:
        """What speaks HTTP on each connection."""
        return type("CrowdedConnection", (Connection,), {"crowd": self})

    def enter(self, new: Connection) -> bool:
        """Let a connection in; False if there is no room and nobody who can make some."""
        own = self._by_client.setdefault(new.address, {})
        if len(own) >= self._patience.of_one_client:
            has_room = self._make_room(own)
        elif self._number >= self._patience.connections:
            others = sorted(self._by_client.values(), key=len, reverse=True)
            has_room = any(self._make_room(one) for one in others)
        else:
            has_room = True
        if not has_room:
            self._forget_client(new.address)
            return False
        own = self._by_client.setdefault(new.address, {})
        own[new] = None
        self._number += 1
        if self._looking is None:
            self._look_again()
        return True

    def leave(self, gone: Connection) -> None:
        own = self._by_client.get(gone.address, {})
        if gone in own:
            del own[gone]
            self._number -= 1
        self._forget_client(gone.address)

    def _forget_client(self, address: str) -> None:
        if not self._by_client.get(address, True):
            del self._by_client[address]

    def _make_room(self, connections: dict[Connection, None]) -> bool:
        """Close the one whose headers are waited for longest, or else the idlest."""
        waiting = [one for one in connections if one.is_waiting]
        unfinished = [one for one in waiting if one.began is not None]
        chosen = min(unfinished or waiting, key=_since, default=None)
        if chosen is None:
            return False
        self.leave(chosen)
        chosen.transport.abort()
        return True

    def _look_again(self) -> None:
        loop = asyncio.get_running_loop()
        self._looking = loop.call_later(EVERY, self._look)

    def _look(self) -> None:
        """Close whoever keeps the server waiting."""
        now = time.monotonic()
        for connections in list(self._by_client.values()):
            for one in list(connections):
                self._check(one, now)
        self._looking = None
        if self._number:
            self._look_again()

    def _check(self, one: Connection, now: float) -> None:
        if one.transport.get_write_buffer_size():
            if not _takes(one, now, self._patience.taking_seconds):
                one.transport.abort()
            return
        one.untaken = None
        if not one.is_waiting:
            return
        if one.began is not None and now - one.began > self._patience.header_seconds:
            one.close(SLOW)
        elif one.idle is not None and now - one.idle > self._patience.idle_seconds:
            one.close()


def _since(one: Connection) -> float:
    """Since when a connection has kept the server waiting."""
    return one.began or one.idle or 0.0


def _takes(one: Connection, now: float, seconds: float) -> bool:
    """Whether a client takes enough of its answer."""
    left = one.transport.get_write_buffer_size()
    if one.untaken is None:
        one.untaken = (now, left)
    since, was = one.untaken
    if now - since < seconds:
        return True
    one.untaken = (now, left)
    return was - left >= seconds * LEAST_RATE


def room_for(connections: int) -> int:
    """As many connections as the system lets this process have open, at most those wished for."""
    try:
        import resource
    except ImportError:
        return connections  # Windows has no such limit
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):  # macOS may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    if soft == resource.RLIM_INFINITY:
        return connections
    return max(1, min(connections, soft - SPARE_FILES))
