"""From an HTTP request to the values of an operation's request."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knowbase.errors import Conflict, InvalidInput
from knowbase.http.failures import Overloaded, TooLarge, TooSlow, Unreadable, WrongMediaType
from knowbase.operations.declare import Operation
from knowbase.operations.wire import most_bytes_of, refuse_surrogates
from knowbase.values.parameters import LONGEST_SHOWN, parameters

_NAMES: dict[type, str] = {
    int: "a whole number",
    float: "a number",
    tuple: 'a list of texts, such as ["one"]',
}
KEY_HEADER = "Idempotency-Key"
TRUTH = {"true": True, "1": True, "": True, "false": False, "0": False}


class Bounds(NamedTuple):
    """How long a request may be, how long it may take to arrive, and how long all that are under
    way may be together."""

    most_bytes: int
    seconds: float
    held: "Held"

    def of(self, operation: Operation) -> "Bounds":
        """The bounds of an operation: no larger than it says."""
        return self._replace(most_bytes=min(self.most_bytes, most_bytes_of(operation)))


class Held:
    """The bytes of requests that are under way."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._now = 0

    @contextmanager
    def counting(self) -> Iterator[Callable[[int], None]]:
        """Take some; all of them are given back in the end."""
        own = 0

        def take(size: int) -> None:
            nonlocal own
            if self._now + size > self._most:
                raise Overloaded("too much is being sent at once", hint="try again later")
            own += size
            self._now += size

        try:
            yield take
        finally:
            self._now -= own


Take = Callable[[int], None]


async def values_of(
    request: Request, operation: Operation, bounds: Bounds, take: Take
) -> dict[str, Any]:
    """What was given, by name; whether it may be is for the declaration to say."""
    if request.method != "POST":
        return _from_query(operation, _asked(request))
    if request.query_params:
        raise Unreadable("a POST takes its values as JSON", hint='send {"query": "words"}')
    body = await body_of(request, bounds.of(operation), take)
    if not body.strip():
        return {}
    if not _is_json(request.headers.get("content-type", "")):
        raise WrongMediaType("the body must be JSON", hint="Content-Type: application/json")
    values = _with_key(request, operation, _from_json(body))
    refuse_other_kinds(operation.request, values)
    return values


def _with_key(request: Request, operation: Operation, values: dict[str, Any]) -> dict[str, Any]:
    """A key may be told as a header, as programs do that send a request again by themselves."""
    key = request.headers.get(KEY_HEADER)
    if key is None:
        return values
    if "key" not in {one.name for one in parameters(operation.request)}:
        if operation.writes:  # whoever sends it relies on it
            raise InvalidInput(
                f"{operation.name} takes no key", field=KEY_HEADER, hint="POST /api/notes takes one"
            )
        return values
    if values.get("key") not in (None, key):
        raise Conflict("the key is told twice", field=KEY_HEADER, hint="as a header alone")
    return {**values, "key": key}


def refuse_other_kinds(request: type, values: Mapping[str, Any]) -> None:
    """JSON has numbers and lists: here no text stands for one, as it does in a URL."""
    for field in parameters(request):
        value = values.get(field.name)
        if field.param.of is not None and isinstance(value, list):
            for one in value:
                if isinstance(one, Mapping):
                    refuse_other_kinds(field.param.of, one)
            value = next((one for one in value if isinstance(one, str)), None)
        if isinstance(value, str) and field.kind in _NAMES:
            raise InvalidInput(
                f"{field.name} cannot be the text {value[:LONGEST_SHOWN]!r}",
                field=field.name,
                hint=f"it must be {_NAMES[field.kind]}",
            )


class Bounded:
    """An application that gets requests once they are there, and none that is too long."""

    def __init__(self, app: ASGIApp, bounds: Bounds) -> None:
        self._app = app
        self._bounds = bounds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._bounds.held.counting() as take:
            body = await body_of(Request(scope, receive), self._bounds, take)
            whole: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

            async def receiving() -> Message:
                return whole.pop() if whole else await receive()

            await self._app(scope, receiving, send)


async def body_of(request: Request, bounds: Bounds, take: Take) -> bytes:
    """The whole body, if it comes in time."""
    try:
        async with asyncio.timeout(bounds.seconds):
            return await _body(request, bounds.most_bytes, take)
    except TimeoutError:
        raise TooSlow("the request did not arrive in time", hint="serve.timeout") from None


async def _body(request: Request, most: int, take: Take) -> bytes:
    """The body, read no further than it may be long."""
    told = request.headers.get("content-length", "0")
    size = int(told) if told.isascii() and told.isdecimal() and len(told) < 20 else 0
    parts = []
    if size <= most:
        size = 0
        async for part in request.stream():
            size += len(part)
            take(len(part))
            parts.append(part)
            if size > most:
                break
    if size > most:
        raise TooLarge(f"the request is longer than {most >> 10} kB", hint="send less at once")
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
    refuse_surrogates(values)
    return values


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _asked(request: Request) -> list[tuple[str, str]]:
    """The query parameters. Starlette would put a mark where a letter cannot be read."""
    query = request.scope["query_string"]
    try:
        return parse_qsl(query.decode("latin-1"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Unreadable("the query is not UTF-8", hint="encode it as UTF-8, then as %XX") from None


def _from_query(operation: Operation, items: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Query parameters: what is a list may be said several times, or with commas."""
    kinds = {field.name: field.kind for field in parameters(operation.request)}
    values: dict[str, Any] = {}
    for name, text in items:
        if kinds.get(name) is tuple:
            values.setdefault(name, []).append(text)
        elif name in values:
            raise Unreadable(f"{name[:100]} is given twice")
        else:
            values[name] = TRUTH.get(text.lower(), text) if kinds.get(name) is bool else text
    return values
