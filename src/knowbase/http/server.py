"""Running the application on a socket until it is told to stop."""

import ctypes
import logging
import math
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import uvicorn
from starlette.applications import Starlette

from knowbase.base import Base
from knowbase.errors import InvalidInput
from knowbase.http.application import application
from knowbase.http.guard import Names, is_loopback
from knowbase.http.tokens import Gate, tokens_file
from knowbase.logs import log, show_on

BACKLOG = 2048  # connections that wait to be accepted
ARENA_MAX, MMAP_THRESHOLD = -8, -3  # as malloc.h numbers them
KEPT_ALIVE = 30  # seconds that a connection may idle


class Serving(NamedTuple):
    """Where the base is served."""

    address: str
    base: str
    open: bool  # nobody needs a token


def mounted(base: Base) -> Mapping[str, Starlette]:  # noqa: ARG001 - what is mounted asks the base
    """Other applications by their path. The MCP server's belongs here, at /mcp."""
    return {}


def serve(base: Base, host: str, port: int) -> Iterator[Serving]:
    """Say where, then serve until SIGTERM or Ctrl-C; what is under way is answered first."""
    return_memory()
    settings = base.settings
    gate = Gate(tokens_file(base, os.environ), os.environ)
    if gate.is_open and not is_loopback(host):
        raise InvalidInput(
            "an address that others can reach wants a token",
            field="host",
            hint="kb token new makes one; or set KB_TOKEN",
        )
    names = Names(host, settings.serve_hosts, settings.serve_origins)
    listening = listen(host, port)
    show_on(sys.stderr, as_json=settings.serve_log == "json")
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    server = uvicorn.Server(
        uvicorn.Config(
            application(base, names, gate, mounted(base)),
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
    yield Serving(address_of(listening), base.shown, gate.is_open)
    log("info", "serving", address=address_of(listening))
    # uvicorn raises the signal again when it is done: to be stopped is no failure here.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    server.run(sockets=[listening])


def return_memory() -> None:
    """Let the C library give back what large arrays took, rather than keep it for each thread:
    under load that is 250 MB instead of 660 (bench/serve.py, 8 workers, 10,000 chunks)."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return  # not glibc
    mallopt(ARENA_MAX, 2)
    mallopt(MMAP_THRESHOLD, 1 << 20)


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections from now on."""
    try:
        family, kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # Named TCP, or asyncio would not turn off the delay that waits for a full packet: 40 ms.
        listening = socket.socket(family, kind, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        return listening
    except OSError as error:
        raise InvalidInput(
            f"{host}:{port} cannot be listened on: {error.strerror}",
            field="port",
            hint="choose another --host or --port",
        ) from error


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
