"""Fetching one page that somebody has named: within a size and a time, over HTTP alone.

A page may send its reader elsewhere. It may not send one that lies in the open into a private
network: what answers there may believe whoever asks from this machine.
"""

import http.client
import ipaddress
import socket
import threading
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

from knowbase.errors import InvalidInput, ReadError

if TYPE_CHECKING:
    from email.message import Message

SECONDS = 30.0  # for all of it
WAIT = 10.0  # for the next bytes
MOST_REDIRECTS = 5
_STEP = 1 << 16
_GONE = (404, 410)
_UNCHANGED = 304
_ELSEWHERE = (301, 302, 303, 307, 308)
_PACKED = ("gzip", "x-gzip", "deflate")
_ACCEPT = "text/html,application/xhtml+xml,application/pdf,text/markdown,text/plain;q=0.9,*/*;q=0.5"


class Unreachable(ReadError):
    """Its server could not be asked, or says nothing: so it is with its other pages."""


class Known(NamedTuple):
    """What a server said of the page when it was fetched last."""

    etag: str | None = None
    modified: str | None = None


class Fetched(NamedTuple):
    """What a server has answered."""

    status: str  # new, unchanged or gone
    address: str  # where it was in the end
    type: str = ""  # text/html …
    charset: str | None = None
    data: bytes = b""
    known: Known = Known()
    code: int = 200


def address_of(text: str) -> str:
    """An address as it is kept: one way to write one, and no password in it."""
    try:
        parts = urlsplit(text.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port, parts = "", None, urlsplit("")
    if not host or parts.scheme.lower() not in ("http", "https"):
        raise InvalidInput(f"{text!r} is not an address", field="paths", hint="https://…")
    if parts.username or parts.password:
        raise InvalidInput(
            "an address with a name or password is not kept", field="paths", hint="leave them out"
        )
    try:
        ascii_host = host if ":" in host else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise InvalidInput(f"{host!r} is not the name of a host", field="paths") from None
    shown = f"[{ascii_host}]" if ":" in ascii_host else ascii_host
    default = {"http": 80, "https": 443}[parts.scheme.lower()]
    place = shown if port in (None, default) else f"{shown}:{port}"
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]")
    return urlunsplit((parts.scheme.lower(), place, path, query, ""))


def fetch(address: str, known: Known, most_bytes: int) -> Fetched:
    """The page, unless it is as it was or gone; ReadError when nothing usable comes back."""
    guard = _Guard()
    watch = threading.Timer(SECONDS, guard.give_up)
    watch.daemon = True
    watch.start()
    try:
        return _fetched(address, known, most_bytes, guard)
    except ReadError:
        raise
    except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
        is_silent = isinstance(error, TimeoutError) or not guard.has_connected
        kind = Unreachable if is_silent else ReadError
        raise kind(f"it cannot be fetched: {_reason(error, guard)}") from error
    finally:
        watch.cancel()
        guard.close()


def _fetched(address: str, known: Known, most_bytes: int, guard: "_Guard") -> Fetched:
    headers = {"User-Agent": "knowbase (kb add)", "Accept": _ACCEPT, "Accept-Encoding": "gzip"}
    if known.etag:
        headers["If-None-Match"] = known.etag
    if known.modified:
        headers["If-Modified-Since"] = known.modified
    request = urllib.request.Request(address, headers=headers)  # noqa: S310 - checked
    try:
        answer = _opener(guard).open(request, timeout=WAIT)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == _UNCHANGED:
                return Fetched("unchanged", error.url or address, known=known, code=error.code)
            if error.code in _GONE:
                return Fetched("gone", error.url or address, code=error.code)
            if error.code in _ELSEWHERE:
                raise ReadError("it leads on and on, or to something that is not a page") from error
            raise ReadError(f"it cannot be fetched: the server answers {error.code}") from error
    with answer:
        told: Message = answer.headers
        data = b"".join(_bounded(answer, told.get("Content-Encoding", ""), most_bytes))
        if guard.is_late:  # which ends a page without a length as if that was all
            raise http.client.IncompleteRead(b"")
        return Fetched(
            "new",
            answer.url,
            told.get_content_type(),
            told.get_content_charset(),
            data,
            Known(told.get("ETag"), told.get("Last-Modified")),
            answer.status,
        )


def _bounded(answer: http.client.HTTPResponse, encoding: str, most: int) -> Iterator[bytes]:
    """What the server sends, unpacked, and no more of it than a file may have; but all of it, since
    half a page must not take the place of a whole one."""
    unpack = _Unpacking() if encoding.strip().lower() in _PACKED else None
    announced, received, size = answer.length, 0, 0
    while piece := answer.read1(_STEP):
        received += len(piece)
        for plain in unpack.plain(piece) if unpack else (piece,):
            size += len(plain)
            if size > most:
                raise ReadError(f"it is larger than {most >> 20} MB", hint="index.max_file_mb")
            yield plain
    if (announced is not None and received < announced) or (unpack and not unpack.is_whole):
        raise http.client.IncompleteRead(b"")


class _Unpacking:
    """Unpacks what comes in pieces: one member, or several one after another."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._member = zlib.decompressobj(zlib.MAX_WBITS | 32)

    @property
    def is_whole(self) -> bool:
        return self._member.eof

    def plain(self, piece: bytes) -> Iterator[bytes]:
        while piece:
            if self._member.eof:
                if not piece.startswith(b"\x1f"):
                    return  # some servers send a line end after it
                self._begin()
            yield self._member.decompress(piece, _STEP)
            piece = self._member.unconsumed_tail or self._member.unused_data


def _opener(guard: "_Guard") -> urllib.request.OpenerDirector:
    """For HTTP alone: neither files nor other protocols, whatever an answer says."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Requests(guard),
        _Redirects(guard),
    ):
        opener.add_handler(handler)
    return opener


class _Guard:
    """What holds for one fetch, however often it is sent elsewhere."""

    def __init__(self) -> None:
        self.only_public = False
        self.is_late = False
        self._open: list[socket.socket] = []  # a connection forgets its own before all is read

    @property
    def has_connected(self) -> bool:
        return bool(self._open)

    def connected(self, connection: http.client.HTTPConnection, *, by_proxy: bool) -> None:
        self._open.append(connection.sock)
        if by_proxy:  # where that leads is not seen from here, and counts as the open
            self.only_public = True
            return
        peer = str(connection.sock.getpeername()[0])
        if self.only_public and not _is_public(peer):
            connection.close()
            raise ReadError(f"it leads into a private network ({peer}), and is not followed there")
        self.only_public = _is_public(peer)

    def give_up(self) -> None:
        """In another thread: whatever is being waited for ends now."""
        self.is_late = True
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        for one in self._open:
            one.close()


def _is_public(peer: str) -> bool:
    try:
        return ipaddress.ip_address(peer.partition("%")[0]).is_global
    except ValueError:
        return False


class _Connection(http.client.HTTPConnection):
    def __init__(self, host: str, *, guard: _Guard, by_proxy: bool, **more: Any) -> None:
        super().__init__(host, **more)
        self._guard = guard
        self._by_proxy = by_proxy

    def connect(self) -> None:
        super().connect()
        self._guard.connected(self, by_proxy=self._by_proxy)


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    pass


class _Requests(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    def __init__(self, guard: _Guard) -> None:
        super().__init__()
        self._guard = guard

    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._opened(_Connection, req)

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self._opened(_SecureConnection, req)

    def _opened(
        self, connection: type[_Connection], req: urllib.request.Request
    ) -> http.client.HTTPResponse:
        is_tunnel = getattr(req, "_tunnel_host", None) is not None
        by_proxy = is_tunnel or req.has_proxy()
        return self.do_open(partial(connection, guard=self._guard, by_proxy=by_proxy), req)


class _Redirects(urllib.request.HTTPRedirectHandler):
    max_redirections = MOST_REDIRECTS
    max_repeats = 2

    def __init__(self, guard: _Guard) -> None:
        self._guard = guard

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        """Only to another page, and with nothing of ours but what a first request has."""
        try:
            target = address_of(urljoin(req.full_url, newurl))
        except InvalidInput as error:
            raise ReadError("it leads to something that is not a page") from error
        return super().redirect_request(req, fp, code, msg, headers, target)


def _reason(error: Exception, guard: _Guard) -> str:
    if guard.is_late:
        return f"it takes longer than {SECONDS:.0f} seconds"
    if isinstance(error, http.client.IncompleteRead):
        return "the server answers with a part of it alone"
    inner = getattr(error, "reason", None)
    if isinstance(inner, ReadError):
        return inner.message
    if isinstance(inner, socket.gaierror):
        return "its host is not known"
    if isinstance(error, TimeoutError) or isinstance(inner, TimeoutError):
        return f"nothing comes for {WAIT:.0f} seconds"
    told = getattr(inner, "strerror", None) or getattr(error, "strerror", None) or inner or error
    return str(told).strip().lower() or type(error).__name__
