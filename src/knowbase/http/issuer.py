"""Tokens of an authorization server (OAuth 2.1): verified here, issued elsewhere.

A token is a JWT that the configured issuer has signed for this server. Its keys are fetched from
where the issuer publishes them, kept, and fetched again when they are old or a new one is named.
What a token allows is what its claims say, by the settings `serve.oauth_*`.
"""

import asyncio
import json
import threading
import time
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from knowbase.config import Settings
from knowbase.errors import InvalidInput, KnowbaseError, NotAllowed, ToolMissing
from knowbase.http.failures import IssuerUnavailable, NotAuthenticated
from knowbase.logs import log
from knowbase.values.access import Access
from knowbase.values.characters import composed
from knowbase.values.hosts import is_loopback

ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
"""Asymmetric ones alone: who can verify a token cannot make one."""

LEEWAY = 30  # seconds that two clocks may differ by
FRESH, STALE = 300.0, 3600.0  # seconds until keys are fetched again; until old ones are not used
COOLDOWN = 1.0  # seconds between two fetches, however many unknown keys are named
TIMEOUT = 10.0
MOST_BYTES = 1 << 20  # of a document of the issuer
WHOLE = "*"  # as a project: the whole base


class Claimed(NamedTuple):
    """What a token says once it is verified: who it is for, and what they may do."""

    subject: str
    access: Access


class Resource(NamedTuple):
    """This server as an issuer knows it."""

    url: str  # without a slash at the end
    paths: tuple[str, ...] = ("", "/mcp")

    @property
    def audiences(self) -> list[str]:
        return [self.url + path for path in (*self.paths, "/")]

    def metadata_url(self, path: str) -> str:
        """Where RFC 9728 has a client look for what this path wants."""
        own = next((one for one in self.paths if one and path.startswith(one)), "")
        return f"{self.url}{METADATA}{own}"


METADATA = "/.well-known/oauth-protected-resource"


class Issuer:
    """Knows what a token of the configured issuer allows."""

    def __init__(self, settings: Settings, resource: Resource) -> None:
        _load_jwt()
        self.resource = resource
        self._settings = settings
        self._audiences = list(settings.serve_oauth_audience) or resource.audiences
        self._keys = Keys(settings.serve_oauth_issuer, settings.serve_oauth_keys)

    def metadata(self, path: str) -> dict[str, Any]:
        """RFC 9728: what a client has to know to get a token for this path."""
        settings = self._settings
        return {
            "resource": self.resource.url + path,
            "authorization_servers": [settings.serve_oauth_issuer],
            "scopes_supported": [settings.serve_oauth_read, settings.serve_oauth_write],
            "bearer_methods_supported": ["header"],
            "resource_name": "knowbase",
        }

    def challenge(self, path: str, error: str = "", description: str = "") -> str:
        """The WWW-Authenticate of a refusal."""
        told = {
            "resource_metadata": self.resource.metadata_url(path),
            "error": error,
            "error_description": description,
            "scope": self._settings.serve_oauth_read if error == "insufficient_scope" else "",
        }
        return "Bearer " + ", ".join(f'{name}="{text}"' for name, text in told.items() if text)

    async def claimed(self, token: str) -> Claimed:
        """What a token allows; one that is not good is refused."""
        return self._allowed(await asyncio.to_thread(self._verified, token))

    def _verified(self, token: str) -> Mapping[str, Any]:
        jwt = _load_jwt()
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise WrongToken("the token is not signed by a key of its issuer's own")
            key = self._keys.key(header.get("kid"), algorithm)
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=self._audiences,
                issuer=self._settings.serve_oauth_issuer,
                leeway=LEEWAY,
                options={"require": ["exp", "iss", "aud"]},
            )
        except jwt.ExpiredSignatureError:
            raise Expired("the token has expired") from None
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            log("info", "a token was refused", reason=type(error).__name__)
            raise WrongToken("the token is not one for this server") from None
        return claims

    def _allowed(self, claims: Mapping[str, Any]) -> Claimed:
        settings = self._settings
        scopes = _texts(claims.get(settings.serve_oauth_scope_claim))
        writes = settings.serve_oauth_write in scopes
        if not writes and settings.serve_oauth_read not in scopes:
            raise TooLittle("the token has no scope of this server", hint=settings.serve_oauth_read)
        subject = f"{claims['iss']} {claims.get('sub') or claims.get('client_id') or ''}"
        return Claimed(subject, Access(writes, self._project(claims)))

    def _project(self, claims: Mapping[str, Any]) -> str | None:
        name = self._settings.serve_oauth_project_claim
        if not name:
            return None
        project = claims.get(name)
        if not isinstance(project, str) or not project.strip():
            raise TooLittle("the token names no project", hint=f"its claim {name}")
        return None if project == WHOLE else composed(project)


class WrongToken(NotAuthenticated):
    """A token that is not good here."""


class Expired(WrongToken):
    """A token that was good once: who has it is told to get another."""


class TooLittle(NotAllowed):
    """A good token that allows nothing here."""


def _texts(claim: Any) -> list[str]:
    """The scopes of a claim: a list, or one text with spaces."""
    if isinstance(claim, str):
        return claim.split()
    return [one for one in claim if isinstance(one, str)] if isinstance(claim, list) else []


class Keys:
    """The public keys of an issuer, by their names."""

    def __init__(self, issuer: str, url: str) -> None:
        for one in (issuer, url):
            _check_url(one)
        self._issuer = issuer
        self._url = url
        self._lock = threading.Lock()
        self._keys: list[Mapping[str, Any]] = []
        self._fetched = self._tried = -STALE

    def key(self, name: str | None, algorithm: str) -> Any:
        """The key of that name, for that algorithm alone."""
        found = self._known(name, algorithm)
        age = time.monotonic() - self._fetched
        if found is None or age > FRESH:
            self._refresh(waits=found is None or age > STALE)
            found = self._known(name, algorithm)
        if time.monotonic() - self._fetched > STALE:
            raise IssuerUnavailable("the issuer's keys cannot be had now")
        if found is None:
            raise WrongToken("the token is signed by a key that its issuer does not publish")
        return found

    def _refresh(self, *, waits: bool) -> None:
        """Fetch the keys, unless that was tried just now. Who has a key that will do does not
        wait for others who fetch; and a key that is known and fresh never comes here, so that
        nobody is held up by tokens that name unknown ones."""
        if not self._lock.acquire(blocking=waits):
            return
        try:
            if time.monotonic() - self._tried > COOLDOWN:
                self._fetch()
                self._tried = time.monotonic()  # from its end on: it may take long
        finally:
            self._lock.release()

    def _known(self, name: str | None, algorithm: str) -> Any:
        jwt = _load_jwt()
        fitting = [one for one in self._keys if one.get("use", "sig") == "sig"]
        fitting = [one for one in fitting if one.get("alg", algorithm) == algorithm]
        named = [one for one in fitting if one.get("kid") == name] if name else fitting
        if len(named) != 1:
            return None
        try:
            return jwt.PyJWK(dict(named[0]), algorithm)
        except jwt.PyJWTError:
            return None  # of another kind than the algorithm wants

    def _fetch(self) -> None:
        """Take the published keys; the old ones stay when that fails."""
        try:
            url = self._url or self._discovered()
            keys = _json(url).get("keys")
            if not isinstance(keys, list):
                raise ValueError("it has no keys")
        except (OSError, ValueError, KnowbaseError) as error:
            log("warning", "the issuer's keys cannot be fetched", reason=str(error))
            return
        self._keys = [one for one in keys if isinstance(one, dict) and one.get("kty") != "oct"]
        self._fetched = time.monotonic()

    def _discovered(self) -> str:
        """Where the issuer's own metadata says that its keys are (RFC 8414, OpenID)."""
        parts = urlsplit(self._issuer)
        path = parts.path.rstrip("/")
        places = (
            f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}",
            f"{self._issuer.rstrip('/')}/.well-known/openid-configuration",
        )
        for place in places:
            try:
                told = _json(place)
            except (OSError, ValueError):
                continue
            if told.get("issuer") == self._issuer and isinstance(told.get("jwks_uri"), str):
                _check_url(told["jwks_uri"])
                return str(told["jwks_uri"])
        raise ValueError("its metadata names no keys")


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def _json(url: str) -> Mapping[str, Any]:
    request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - checked before
    try:
        with build_opener(_NoRedirects).open(request, timeout=TIMEOUT) as answer:
            body = answer.read(MOST_BYTES + 1)
    except (URLError, HTTPException) as error:
        raise OSError(str(error)) from None
    if len(body) > MOST_BYTES:
        raise ValueError("it is too long")
    found = json.loads(body)
    if not isinstance(found, dict):
        raise ValueError("it is not an object")
    return found


def _check_url(url: str) -> None:
    """Keys that came over a wire that others can write to prove nothing."""
    parts = urlsplit(url)
    is_local = parts.scheme == "http" and is_loopback(parts.hostname)
    if not url or parts.scheme == "https" or is_local:
        return
    raise InvalidInput(
        "the issuer and its keys must be at an https address",
        field="serve.oauth_issuer",
        hint="http is for this machine alone",
    )


def _load_jwt() -> Any:
    try:
        import jwt
        from cryptography.hazmat.primitives import hashes  # noqa: F401 - jwt needs it for these
    except ImportError:
        raise ToolMissing(
            "tokens of an issuer need PyJWT", hint="pip install 'knowbase[oauth]'"
        ) from None
    return jwt
