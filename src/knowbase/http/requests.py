"""From an HTTP request to the values of an operation's request."""

import asyncio
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knowbase.http.failures import TooLarge, TooSlow, Unreadable, WrongMediaType
from knowbase.operations.declare import Operation
from knowbase.text.analysis import clean
from knowbase.values.parameters import parameters

TRUTH = {"true": True, "1": True, "": True, "false": False, "0": False}


class Bounds(NamedTuple):
    """How long a request may be, and how long it may take to arrive."""

    most_bytes: int
    seconds: float


async def values_of(request: Request, operation: Operation, bounds: Bounds) -> dict[str, Any]:
    """What was given, by name; whether it may be is for the declaration to say."""
    if request.method != "POST":
        return _from_query(operation, request.query_params.multi_items())
    if request.query_params:
        raise Unreadable("a POST takes its values as JSON", hint='send {"query": "words"}')
    body = await body_of(request, bounds)
    if not body.strip():
        return {}
    if not _is_json(request.headers.get("content-type", "")):
        raise WrongMediaType("the body must be JSON", hint="Content-Type: application/json")
    return _from_json(body)


class Bounded:
    """An application that gets requests once they are there, and none that is too long."""

    def __init__(self, app: ASGIApp, bounds: Bounds) -> None:
        self._app = app
        self._bounds = bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await body_of(Request(scope, receive), self._bounds)
        whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receiving() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, receiving, send)


async def body_of(request: Request, bounds: Bounds) -> bytes:
    """The whole body, if it comes in time."""
    try:
        async with asyncio.timeout(bounds.seconds):
            return await _body(request, bounds.most_bytes)
    except TimeoutError:
        raise TooSlow("the request did not arrive in time", hint="serve.timeout") from None


async def _body(request: Request, most: int) -> bytes:
    """The body, read no further than it may be long."""
    told = request.headers.get("content-length", "0")
    size = int(told) if told.isdecimal() else 0
    parts = []
    if size <= most:
        size = 0
        async for part in request.stream():
            size += len(part)
            parts.append(part)
            if size > most:
                break
    if size > most:
        raise TooLarge(f"the request is longer than {most >> 10} kB", hint="serve.max_request_kb")
    return b"".join(parts)


def _is_json(media_type: str) -> bool:
    kind, *parameters = (part.strip() for part in media_type.lower().split(";"))
    told = {parameter.replace('"', "") for parameter in parameters}
    return kind == "application/json" and told <= {"", "charset=utf-8"}


def _from_json(body: bytes) -> dict[str, Any]:
    try:
        values = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "it cannot be read")
        raise Unreadable(f"this is not JSON: {reason}", hint='such as {"query": "words"}') from None
    if not isinstance(values, dict):
        raise Unreadable("a JSON object is wanted", hint='such as {"query": "words"}')
    return {clean(name): _cleaned(value) for name, value in values.items()}


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _cleaned(value: Any) -> Any:
    """Texts that a database can hold, as they come from the command line. What is within lists
    of lists is left as it is: no field takes that."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean(one) if isinstance(one, str) else one for one in value]
    return value


def _from_query(operation: Operation, items: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Query parameters: what is a list may be said several times, or with commas."""
    kinds = {field.name: field.kind for field in parameters(operation.request)}
    values: dict[str, Any] = {}
    for name, raw in items:
        text = clean(raw)
        if kinds.get(name) is tuple:
            values.setdefault(name, []).append(text)
        elif name in values:
            raise Unreadable(f"{name[:100]} is given twice")
        else:
            values[name] = TRUTH.get(text.lower(), text) if kinds.get(name) is bool else text
    return values
