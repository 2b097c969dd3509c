"""Who is let in: under which name the server was called, from which page, with which token.

A page elsewhere can make a browser ask 127.0.0.1, and can give its own name that address (DNS
rebinding). So the name that was called (Host) and the page that asks (Origin) must be known,
also on loopback.
"""

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knowbase.errors import KnowbaseError, NotAllowed
from knowbase.http.failures import NotAuthenticated, Unreadable, response_to
from knowbase.http.tokens import Gate
from knowbase.values.access import Access, current

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = ("/", "/health", "/health/live", "/health/ready", "/openapi.json")
"""They tell nothing of what the base holds."""

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
"""For every answer that does not say otherwise itself, as a page would."""


class Names(NamedTuple):
    """What the server may be called, and which pages may ask it."""

    host: str  # the address that it listens on
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    def check_host(self, told: str) -> None:
        name = host_name(told)
        if name in LOOPBACK and is_loopback(self.host):
            return
        if name and name in (self.host.lower(), *(one.lower() for one in self.hosts)):
            return
        # A name can be made to lead here; an address leads where it leads.
        if is_everywhere(self.host) and (is_address(name) or name in LOOPBACK):
            return
        raise NotAllowed(
            f"this server is not called {told[:200]!r}", field="Host", hint="add it to serve.hosts"
        )

    def check_origin(self, origin: str | None, site: str | None, told: str) -> None:
        """The page that asks: one of this server, or one that is configured."""
        if origin in self.origins:
            return
        if origin is None and site in (None, "none", "same-origin"):
            return
        if origin is not None and _place(origin) == told.lower() != "":
            return
        raise NotAllowed(
            "pages from elsewhere may not ask this server",
            field="Origin",
            hint="add the page's origin to serve.origins",
        )


def _place(origin: str) -> str:
    """The name and port of a page's origin."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def host_name(told: str) -> str:
    """The name of a Host header, without the port."""
    try:
        return (urlsplit(f"//{told}").hostname or "").lower()
    except ValueError:
        return ""


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether nobody but this machine can reach an address."""
    return host == "localhost" or (is_address(host) and ipaddress.ip_address(host).is_loopback)


def is_everywhere(host: str) -> bool:
    return is_address(host) and ipaddress.ip_address(host).is_unspecified


class Door(NamedTuple):
    """Under which names, with which tokens, and for what at most somebody is let in."""

    names: Names
    gate: Gate
    most: Access = Access()


class Guard:
    """Lets in who may come in, and says in `access.current` what they may do."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._names, self._gate, self._most = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            access = self._checked(scope)
        except KnowbaseError as error:
            await response_to(error)(scope, receive, send)
            return
        token = current.set(access)
        try:
            await self._app(scope, receive, send)
        finally:
            current.reset(token)

    def _checked(self, scope: Scope) -> Access:
        headers = Headers(scope=scope)
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy may believe the one and this server the other: where does the request end?
            raise Unreadable("its length is told twice", hint="Content-Length alone")
        told = headers.getlist("host")
        self._names.check_host(told[0] if len(told) == 1 else "")
        if scope["path"] in OPEN_PATHS and scope["method"] in ("GET", "HEAD"):
            return Access(write=False)
        self._names.check_origin(headers.get("origin"), headers.get("sec-fetch-site"), told[0])
        if self._gate.is_open:
            return self._most
        if scope["method"] == "OPTIONS" and "origin" in headers:
            return Access(write=False)  # a browser asks what it may ask, without the token
        kind, _, token = headers.get("authorization", "").partition(" ")
        access = self._gate.access(token.strip()) if kind.lower() == "bearer" else None
        if access is None:
            raise NotAuthenticated(
                "a token is wanted", field="Authorization", hint="Authorization: Bearer TOKEN"
            )
        return access.within(self._most)


class SafeHeaders:
    """Adds the headers that keep browsers from doing what nobody asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, sending)
