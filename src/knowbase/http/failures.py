"""Errors as HTTP says them: a status, and the same object everywhere."""

import json
import math
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from knowbase import errors
from knowbase.errors import KnowbaseError
from knowbase.http.negotiation import JSON, PROBLEM, wants_problem

PROBLEM_TYPE = "urn:knowbase:problem:"  # its code behind it


class Unreadable(KnowbaseError):
    """400: what was sent is not a JSON object."""

    code = "malformed"


class NotAuthenticated(KnowbaseError):
    """401: a token is wanted, and none that is known was given."""

    code = "unauthorized"


class IssuerUnavailable(KnowbaseError):
    """503: a token cannot be verified now."""

    code = "issuer_unavailable"
    outside = "the keys of the tokens' issuer cannot be had now"


class WrongMethod(KnowbaseError):
    """405."""

    code = "method_not_allowed"


class TooSlow(KnowbaseError):
    """408: the request did not arrive in time."""

    code = "request_timeout"


class TooLarge(KnowbaseError):
    """413."""

    code = "too_large"


class WrongMediaType(KnowbaseError):
    """415."""

    code = "unsupported_media_type"


class TooMany(KnowbaseError):
    """429: one client asks for too much at once, or with too many wrong tokens."""

    code = "too_many_requests"

    def __init__(self, message: str, seconds: float = 1.0, *, field: str | None = None) -> None:
        wait = max(1, math.ceil(seconds))
        super().__init__(message, field=field, hint=f"try again in {wait} s")
        self.wait = wait


class Overloaded(KnowbaseError):
    """503: too many wait already."""

    code = "overloaded"


class Stopping(KnowbaseError):
    """503: the server is stopped, and waits for the answer no longer."""

    code = "stopping"


class Internal(KnowbaseError):
    """500: a mistake of ours, which the log tells about."""

    code = "internal"


STATUSES: tuple[tuple[type[KnowbaseError], int, str], ...] = (
    (Unreadable, 400, "what was sent is not a JSON object"),
    (NotAuthenticated, 401, "a token is wanted"),
    (errors.NotAllowed, 403, "not with this token, from this page or under this name"),
    (errors.NotFound, 404, "no such document, session or path"),
    (WrongMethod, 405, "not with this method"),
    (TooSlow, 408, "the request did not arrive in time"),
    (errors.Conflict, 409, "it is taken, or the values do not go together"),
    (errors.ModelMismatch, 409, "the base was made with another embedding model"),
    (TooLarge, 413, "the request is too large"),
    (WrongMediaType, 415, "the body is not application/json"),
    (errors.InvalidInput, 422, "a value cannot be accepted"),
    (TooMany, 429, "too many requests of one client at once, or too many wrong tokens"),
    (errors.ToolMissing, 501, str(errors.ToolMissing.outside)),
    (Overloaded, 503, "too many requests wait already"),
    (IssuerUnavailable, 503, IssuerUnavailable.outside),
    (Stopping, 503, "the server is being stopped"),
    (errors.EmbeddingError, 503, str(errors.EmbeddingError.outside)),
    (errors.TookTooLong, 504, "the answer took too long"),
    (errors.DiskFull, 507, str(errors.DiskFull.outside)),
    (errors.BaseError, 503, str(errors.BaseError.outside)),
    (Internal, 500, "something went wrong inside knowbase"),
)
"""The first class that an error is of decides."""

TOLD = (Overloaded, Stopping, errors.TookTooLong, Internal)
"""Trouble of the server that is no secret."""


def status_of(error: KnowbaseError) -> int:
    return next((status for kind, status, _ in STATUSES if isinstance(error, kind)), 500)


def shown(error: KnowbaseError) -> dict[str, str | None]:
    """The error for whoever asked: of the server's own trouble only which it is."""
    if status_of(error) < 500 or isinstance(error, TOLD):
        return error.as_dict()
    about = error.outside or Internal.code
    return {"code": error.code, "message": about, "field": None, "hint": None}


class Refusal(Response):
    """An error for whoever asked: as our own object, or as a problem (RFC 9457) for who says
    that those are wanted. Which it is, the request tells that it answers."""

    def __init__(self, error: KnowbaseError, headers: Mapping[str, str] | None = None) -> None:
        self.error = error
        status = status_of(error)
        more = {"Vary": "Accept", **(headers or {})}
        if status == 401:
            more.setdefault("WWW-Authenticate", "Bearer")
        if status in (429, 503):
            more["Retry-After"] = str(getattr(error, "wait", 1))
        super().__init__(encoded({"error": shown(error)}), status, more, JSON)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if wants_problem(scope):
            self.body = encoded(problem(self.error))
            self.headers["content-length"] = str(len(self.body))
            self.headers["content-type"] = PROBLEM
        await super().__call__(scope, receive, send)


def response_to(error: KnowbaseError, headers: Mapping[str, str] | None = None) -> Response:
    """The one shape of every error."""
    return Refusal(error, headers)


def problem(error: KnowbaseError) -> dict[str, Any]:
    """The error as RFC 9457 has it, with what ours has beyond it."""
    told = shown(error)
    return {
        "type": f"{PROBLEM_TYPE}{told['code']}",
        "title": next((text for kind, _, text in STATUSES if isinstance(error, kind)), ""),
        "status": status_of(error),
        "detail": told["message"],
        **{name: told[name] for name in ("code", "field", "hint")},
    }


def encoded(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def unknown_path(path: str) -> errors.NotFound:
    return errors.NotFound(f"there is no {path[:200]}", hint="/openapi.json names every path")


def wrong_method(method: str, path: str) -> WrongMethod:
    return WrongMethod(f"{path[:200]} takes no {method}", hint="see /openapi.json")
