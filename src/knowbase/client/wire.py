"""One call over HTTP: JSON there and back, and every failure one of ours."""

import http.client
import json
import urllib.error
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from knowbase.errors import (
    BaseBusy,
    BaseUnreachable,
    InvalidInput,
    KnowbaseError,
    NotABase,
    NotAllowed,
    TookTooLong,
    from_dict,
)
from knowbase.values.hosts import is_loopback

LARGEST_ANSWER = 256 << 20
VARIABLE = "KB_TOKEN"
_OF_SERVERS: dict[str, type[KnowbaseError]] = {
    "unauthorized": NotAllowed,
    "too_many_requests": BaseBusy,
    "overloaded": BaseBusy,
    "stopping": BaseBusy,
    "request_timeout": TookTooLong,
    "malformed": InvalidInput,
    "too_large": InvalidInput,
}
"""What only a server says, as the errors that there are without one."""


class _Stay(HTTPRedirectHandler):
    """A token must not travel to where somebody else points."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Wire:
    """Posts to one server. The token goes into the request's header and nowhere else."""

    def __init__(self, url: str, token: str, timeout: float) -> None:
        self.url = _address(url)
        self._token = token
        self._timeout = timeout
        if token and self.url.startswith("http:") and not _is_local(self.url):
            raise InvalidInput(
                "a token is not sent over plain http to another machine",
                field="base",
                hint="use https, or a tunnel to localhost",
            )

    def post(self, path: str, values: Mapping[str, Any]) -> Any:
        """What the server answers."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = json.dumps(values).encode()
        request = Request(self.url + path, data, headers)  # noqa: S310 - checked: http or https
        try:
            with self._opener().open(request, timeout=self._timeout) as response:
                return self._json(response.read(LARGEST_ANSWER + 1))
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (OSError, http.client.HTTPException) as error:  # URLError is an OSError
            raise self._unreachable(getattr(error, "reason", error)) from None

    def _opener(self) -> OpenerDirector:
        direct = [ProxyHandler({})] if _is_local(self.url) else []
        return build_opener(_Stay, *direct)

    def _json(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except ValueError:
            raise self._stranger() from None

    def _refused(self, error: urllib.error.HTTPError) -> KnowbaseError:
        try:
            told = json.loads(error.read(1 << 20)).get("error")
            said = {name: told[name] for name in ("code", "message", "field", "hint")}
        except (OSError, ValueError, AttributeError, TypeError, KeyError):
            return self._stranger(f": HTTP {error.code}")
        ours = _OF_SERVERS.get(said["code"])
        if ours is None:
            return from_dict(said)
        hint = f"{VARIABLE} is the token that is sent" if error.code == 401 else said["hint"]
        return ours(said["message"], field=said["field"], hint=hint)

    def _stranger(self, more: str = "") -> NotABase:
        return NotABase(
            f"{self.url} does not answer as a knowbase server does{more}",
            field="base",
            hint="kb serve prints the address to use",
        )

    def _unreachable(self, reason: object) -> KnowbaseError:
        if isinstance(reason, TimeoutError):
            return TookTooLong(f"{self.url} gave no answer within {self._timeout:g} s")
        return BaseUnreachable(
            f"no server answers at {self.url}: {str(reason) or type(reason).__name__}",
            field="base",
            hint="is kb serve running there?",
        )


def is_server(base: str) -> bool:
    """Whether a base is named by the address of a server."""
    return base.partition("://")[0].lower() in ("http", "https") and "://" in base


def _address(url: str) -> str:
    """The server's own address; what else stands in a URL is refused, not ignored."""
    try:
        parts = urlsplit(url)
        is_whole = bool(is_server(url) and parts.hostname and parts.port != 0)
    except ValueError:
        is_whole = False
    if not is_whole or parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput(
            "this is not the address of a server",
            field="base",
            hint=f"such as http://localhost:8620, with the token in {VARIABLE}",
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _is_local(url: str) -> bool:
    return is_loopback(urlsplit(url).hostname)
