"""Who is let in: under which name the server was called, from which page, with which token.

A page elsewhere can make a browser ask 127.0.0.1, and can give its own name that address (DNS
rebinding). So the name that was called (Host) and the page that asks (Origin) must be known,
also on loopback.
"""

import asyncio
import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knowbase.errors import KnowbaseError, NotAllowed
from knowbase.http.attempts import FORGIVEN, Attempts, too_many
from knowbase.http.clients import caller, client
from knowbase.http.failures import NotAuthenticated, Unreadable, response_to
from knowbase.http.gate import Gate
from knowbase.http.issuer import METADATA, Expired, Issuer, TooLittle, WrongToken
from knowbase.http.page.bundle import PREFIX
from knowbase.http.page.places import STRANGER, is_page
from knowbase.http.tokens import hashed
from knowbase.values.access import NOBODY, Access, current, speaker
from knowbase.values.hosts import is_loopback as is_loopback  # noqa: PLC0414 - others have it from here

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN_PATHS = (
    "/health", "/health/live", "/health/ready", "/openapi.json", "/docs",
    METADATA, METADATA + "/mcp",
)  # fmt: skip
"""They tell nothing of what the base holds."""

MOST_HEADER_BYTES = 32 << 10  # of a request's first line and headers

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
_RAW = tuple((name.lower().encode(), value.encode()) for name, value in HEADERS.items())


class Names(NamedTuple):
    """What the server may be called, and which pages may ask it."""

    host: str  # the address that it listens on
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    def check_host(self, told: str) -> None:
        name = host_name(told)
        if name in LOOPBACK and is_loopback(self.host):
            return
        if name and name in map(_plain, (self.host, *self.hosts)):
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
        if origin is not None and _is_page_of(origin, told):
            return
        raise NotAllowed(
            "pages from elsewhere may not ask this server",
            field="Origin",
            hint="add the page's origin to serve.origins",
        )


_NAMED = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?\.?)(?::([0-9]{1,5}))?")
_PORTS = {"http": 80, "https": 443}


class HostPort(NamedTuple):
    """The name in a Host header or an origin, as it is compared, and the port if one is told."""

    name: str
    port: int | None


@lru_cache(256)
def host_port(told: str) -> HostPort | None:
    """What a Host header says; None for whatever is not a name or an address, and a port: neither
    a user before an @ nor a path is part of it, nor any letter that no host's name has."""
    found = _NAMED.fullmatch(told.lower()) if told.isascii() else None
    if found is None:
        return None
    name, port = found[1], int(found[2]) if found[2] else None
    if name.startswith("[") and not (":" in name and is_address(name[1:-1])):
        return None
    if port is not None and port > 65535:
        return None
    return HostPort(_plain(name), port)


def _plain(name: str) -> str:
    """A name or an address as it is compared: one address has one spelling."""
    name = name.lower().strip("[]").removesuffix(".")
    return str(ipaddress.ip_address(name)) if is_address(name) else name


def host_name(told: str) -> str:
    """The name of a Host header, without the port; empty if it is none."""
    found = host_port(told)
    return found.name if found else ""


def _is_page_of(origin: str, told: str) -> bool:
    """Whether a page of this origin is one of the server that was called so."""
    scheme, _, place = origin.lower().partition("://")
    page, called = host_port(place), host_port(told)
    if scheme not in _PORTS or page is None or called is None:
        return False
    usual = _PORTS[scheme]
    return page.name == called.name and (page.port or usual) == (called.port or usual)


def is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_everywhere(host: str) -> bool:
    return is_address(host) and ipaddress.ip_address(host).is_unspecified


class Door(NamedTuple):
    """Under which names, with which tokens, and for what at most somebody is let in."""

    names: Names
    gate: Gate
    most: Access = Access()
    issuer: Issuer | None = None  # whose tokens are good here, too


class Guard:
    """Lets in who may come in, and says in `access.current` what they may do."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self._app = app
        self._names, self._gate, self._most, self._issuer = door
        self._attempts = Attempts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        who = client.set(caller(scope))
        held = current.set(Access(write=False))
        speaks = speaker.set(NOBODY)
        try:
            current.set(await self._checked(scope))
        except KnowbaseError as error:
            await response_to(error, self._challenge(error, scope["path"]))(scope, receive, send)
        else:
            await self._app(scope, receive, send)
        finally:
            current.reset(held)
            speaker.reset(speaks)
            client.reset(who)

    def _challenge(self, error: KnowbaseError, path: str) -> dict[str, str]:
        """What a client with an authorization server has to know to come back with a token."""
        if self._issuer is None or not isinstance(error, NotAuthenticated | TooLittle):
            return {}
        kind = "insufficient_scope" if isinstance(error, TooLittle) else ""
        if isinstance(error, WrongToken):
            kind = "invalid_token"
        told = self._issuer.challenge(path, kind, error.message if kind else "")
        return {"WWW-Authenticate": told}

    async def _checked(self, scope: Scope) -> Access:
        headers = Headers(scope=scope)
        line = len(scope["raw_path"]) + len(scope["query_string"])
        if line + sum(len(one) + len(two) for one, two in headers.raw) > MOST_HEADER_BYTES:
            # The protocol looks at what is not complete yet; this came all at once.
            raise Unreadable("its first line and headers are too long", hint="at most 32 kB")
        if "content-length" in headers and "transfer-encoding" in headers:
            # A proxy may believe the one and this server the other: where does the request end?
            raise Unreadable("its length is told twice", hint="Content-Length alone")
        told = headers.getlist("host")
        self._names.check_host(told[0] if len(told) == 1 else "")
        if scope["method"] in ("GET", "HEAD"):
            if is_page(scope["path"]):
                return await self._looking(scope, headers, told[0])
            if scope["path"] in OPEN_PATHS or scope["path"].startswith(PREFIX):
                return Access(write=False)
        self._check_origin(headers, told[0])
        if self._gate.is_open and self._issuer is None:
            return self._most
        if scope["method"] == "OPTIONS" and "origin" in headers:
            return Access(write=False)  # a browser asks what it may ask, without the token
        return await self._access(_bearer(headers))

    def _check_origin(self, headers: Headers, told: str) -> None:
        origins = headers.getlist("origin")
        origin = origins[0] if len(origins) == 1 else ",".join(origins) or None
        self._names.check_origin(origin, headers.get("sec-fetch-site"), told)

    async def _looking(self, scope: Scope, headers: Headers, told: str) -> Access:
        """Who opens a page. Any site may have a link to it, which sends no token: where one is
        wanted, the page comes without anything of the base, and asks for it."""
        if headers.get("sec-fetch-mode") != "navigate" or "origin" in headers:
            self._check_origin(headers, told)
        if self._gate.is_open and self._issuer is None:
            return self._most._replace(write=False)
        if "authorization" in headers:
            return await self._access(_bearer(headers))
        scope[STRANGER] = True
        return Access(write=False)

    async def _access(self, token: str) -> Access:
        """What whoever has this token may do."""
        address, sha256 = client.get(), hashed(token)
        if token and (seconds := self._attempts.delay(address, sha256)):
            await asyncio.sleep(seconds)
        known = self._gate.known(token)
        if known is not None:
            self._attempts.was_right(address, sha256)
            speaker.set(known.name)
            client.set(sha256)  # whoever has the token is one client, wherever it asks from
            return known.access.within(self._most)
        if self._issuer is not None and token.count(".") == 2:
            return await self._claimed(self._issuer, token)
        if token and self._attempts.was_wrong(address):
            raise too_many(FORGIVEN)
        raise NotAuthenticated(
            "a token is wanted", field="Authorization", hint="Authorization: Bearer TOKEN"
        )

    async def _claimed(self, issuer: Issuer, token: str) -> Access:
        """What a token of the issuer allows. Its owner is one client, with this token or the
        next; one that has expired is no attempt at anything."""
        try:
            claimed = await issuer.claimed(token)
        except WrongToken as error:
            if not isinstance(error, Expired) and self._attempts.was_wrong(client.get()):
                raise too_many(FORGIVEN) from None
            raise
        self._attempts.was_right(client.get(), hashed(token))
        client.set(hashed(claimed.subject))
        speaker.set(claimed.subject)
        return claimed.access.within(self._most)


def _bearer(headers: Headers) -> str:
    """The token that was sent, if one was."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


class SafeHeaders:
    """Adds the headers that keep browsers from doing what nobody asked for."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                said = {name for name, _ in message["headers"]}
                added = (one for one in _RAW if one[0] not in said)
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, sending)
