"""Running the application on a socket until it is told to stop."""

import ctypes
import logging
import math
import os
import signal
import sys
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import uvicorn

from knowbase.base import Base
from knowbase.base.background import embedding
from knowbase.config import Settings
from knowbase.errors import InvalidInput
from knowbase.http.application import Mounting, application
from knowbase.http.crowd import Crowd, Patience, room_for
from knowbase.http.gate import Gate
from knowbase.http.guard import MOST_HEADER_BYTES, Door, Names, is_loopback
from knowbase.http.issuer import Issuer, Resource
from knowbase.http.listening import address_of, listen
from knowbase.http.searchers import Searchers
from knowbase.http.tokens import tokens_file
from knowbase.logs import LogStyle, log, show_on
from knowbase.mcp import web as agents
from knowbase.process import collect_rarely
from knowbase.values.access import Access

if TYPE_CHECKING:
    import socket

ARENA_MAX, MMAP_THRESHOLD, TRIM_THRESHOLD = -8, -3, -1  # as malloc.h numbers them
KEPT_ALIVE = 30  # seconds that a connection may idle


class Serving(NamedTuple):
    """Where the base is served."""

    address: str
    base: str
    open: bool  # nobody needs a token


class Place(NamedTuple):
    """Where to serve, the most that anybody may do there, and whether it is for agents alone."""

    host: str
    port: int
    most: Access = Access()
    agents_only: bool = False
    tools: tuple[str, ...] = ()  # of agents; else as serve.tools says
    log: LogStyle = LogStyle()
    processes: int = 1  # that search
    opens: bool = False  # the page, in the browser of whoever starts it


def mounted(base: Base, tools: tuple[str, ...] = ()) -> Mapping[str, Mounting]:
    """Other applications by their path. Host, origin and token are checked before them."""
    return {agents.PATH: lambda run: agents.app(base, run, tools)}


def serve(base: Base, place: Place) -> Iterator[Serving]:
    """Say where, then serve until SIGTERM or Ctrl-C; what is under way is answered first."""
    return_memory()
    collect_rarely()
    settings = base.settings
    gate = Gate(tokens_file(base, os.environ), os.environ)
    listening = listen(place.host, place.port)
    issuer = _issuer(settings, place.host, address_of(listening))
    if gate.is_open and issuer is None and not is_loopback(place.host):
        raise InvalidInput(
            "an address that others can reach wants a token",
            field="host",
            hint="kb token new makes one; or set KB_TOKEN",
        )
    own = urlsplit(settings.serve_url).hostname
    hosts = (*settings.serve_hosts, *((own,) if own else ()))
    names = Names(place.host, hosts, settings.serve_origins)
    door = Door(names, gate, place.most, issuer)
    show_on(sys.stderr, place.log)
    searchers = _searchers(base, place)
    app = application(
        base,
        door,
        mounted(base, place.tools),
        only_mounted=place.agents_only,
        searchers=searchers,
    )
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    server = Listening(
        uvicorn.Config(
            app,
            http=_crowd(settings).protocol(),
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_keep_alive=KEPT_ALIVE,
            timeout_graceful_shutdown=math.ceil(settings.serve_shutdown),
        )
    )
    address = address_of(listening) + (agents.PATH if place.agents_only else "")
    server.hear_signals()  # before anybody knows that there is a server to be stopped
    yield Serving(address, base.shown, gate.is_open and issuer is None)
    log("info", "serving", address=address)
    if place.opens:
        open_page(address)
    with embedding(base, when=place.most.write):
        server.run(sockets=[listening])
    gate.uses.write()
    if searchers is not None:
        searchers.close()
    if app.state.is_busy():
        # A thread still works for nobody. Its connection cannot be closed under it: the process
        # ends as if it were killed, which loses nothing that was answered.
        log("warning", "stopped while work was under way")
        sys.stdout.flush()
        os._exit(0)


def _searchers(base: Base, place: Place) -> Searchers | None:
    if place.processes < 2 or place.agents_only:
        return None
    return Searchers(base.path, place.processes, place.log)


def open_page(address: str) -> None:
    """Open the page in a browser, which waits at the socket until the server answers. A browser
    of the terminal may run until it is left: not in our way."""
    where = address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
    threading.Thread(target=webbrowser.open, args=(where,), daemon=True).start()


def _issuer(settings: Settings, host: str, address: str) -> Issuer | None:
    """Whose tokens are good here, if somebody has said so."""
    if not settings.serve_oauth_issuer:
        return None
    if not settings.serve_url and not is_loopback(host):
        raise InvalidInput(
            "tokens of an issuer are for an address, and this server does not know its own",
            field="serve.url",
            hint="such as https://kb.example.com",
        )
    return Issuer(settings, Resource((settings.serve_url or address).rstrip("/")))


class Listening(uvicorn.Server):
    """To be stopped is no failure here, and a signal that is ignored stays ignored: nohup and a
    shell's & start a server so."""

    async def shutdown(self, sockets: "list[socket.socket] | None" = None) -> None:
        """Answers without an end would be waited for, and then cut off."""
        self.config.app.state.end_streams()  # type: ignore[union-attr]
        await super().shutdown(sockets)

    def hear_signals(self) -> None:
        """From now on a signal ends the server, or has it end as soon as it has begun."""
        for number in (signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGBREAK", None)):
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self.handle_exit)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """They are heard already."""
        yield


def _crowd(settings: Settings) -> Crowd:
    connections = room_for(settings.serve_connections)
    if connections < settings.serve_connections:
        log("warning", "the system allows fewer connections", connections=connections)
    return Crowd(
        Patience(
            connections,
            min(settings.serve_client_connections, connections),
            settings.serve_header_timeout,
            KEPT_ALIVE,
        )
    )


def return_memory() -> None:
    """Let the C library give back what large arrays took, rather than keep it for each thread:
    under load that is 250 MB instead of 660 (bench/serve.py, 8 workers, 10,000 chunks). What one
    search takes beside them is kept for the next: to have each page of it made anew took 6 % of
    its time."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # not glibc
    mallopt(ARENA_MAX, 2)
    mallopt(MMAP_THRESHOLD, 1 << 20)
    mallopt(TRIM_THRESHOLD, 8 << 20)  # by itself it is 128 kB where the other one is set
