"""One request to /api: checked, run in a worker thread, answered as JSON."""

import hashlib
import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from knowbase.base import Base
from knowbase.config import Settings, dotted
from knowbase.errors import NotAllowed
from knowbase.http.metrics import Metrics
from knowbase.http.near import Nearness, check_values
from knowbase.http.negotiation import JSON
from knowbase.http.requests import Bounds, Held, values_of
from knowbase.http.searchers import Searchers
from knowbase.http.workers import Workers
from knowbase.operations.declare import Operation, held_to
from knowbase.operations.results import plain
from knowbase.store.acting import acting
from knowbase.values.access import Access, current
from knowbase.values.parameters import build

MOST_HELD = 16  # of the largest requests, under way at the same time
REVALIDATED = "private, no-cache"  # kept by the client, asked for again each time


class Rendered(NamedTuple):
    """A result, and its JSON."""

    result: Any
    body: bytes


class Api:
    """Runs operations for those who ask."""

    def __init__(
        self,
        base: Base,
        workers: Workers,
        metrics: Metrics,
        nearness: Nearness,
        wrote: Callable[[Access], None] = lambda _: None,
        searchers: Searchers | None = None,
    ) -> None:
        self._base = base
        self._nearness = nearness
        self._wrote = wrote  # what is told that something was written
        self._workers = workers
        self._searchers = searchers
        self._metrics = metrics
        settings = base.settings
        most = settings.serve_max_request_kb << 10
        self.bounds = Bounds(most, settings.serve_timeout, Held(MOST_HELD * most))

    async def call(self, operation: Operation, request: Request) -> Response:
        """The answer to one request."""
        check_access(operation, current.get())
        self._nearness.check(operation, request, current.get())
        check_switch(operation, self._base.settings)
        with self.bounds.held.counting() as take:
            values = await values_of(request, operation, self.bounds, take)
            check_values(operation, values)
            return await self._answer(operation, request, values)

    async def _answer(
        self, operation: Operation, request: Request, values: dict[str, Any]
    ) -> Response:
        access = current.get()
        values = dict(held_to(access.project, operation.request, values))
        asked = build(operation.request, values)
        is_writing = operation.is_writing(asked)
        if is_writing:
            check_writing(access)
            check_post(operation, request)
        if request.method != "POST" and not operation.near:  # what is near notes no use
            access = access._replace(write=False)  # not even that something was used
        base = self._base.within(access)

        def work() -> Rendered:
            found = self._elsewhere(operation, values, base)
            if found is not None:
                if not asked.request.draft:
                    base.count_search(asked.request.query, found.result)
                return found
            with acting("http", operation.name):
                result = operation.run(base, asked)
            return Rendered(result, as_json(plain(result)))

        found = await self._workers.run(work, operation.name)
        self._metrics.searched(found.result)
        if is_writing:
            self._wrote(access)
        if request.method == "POST":
            return Response(found.body, media_type=JSON)
        following = _next_page(request, asked, found.result)
        if hasattr(found.result, "query_time_ms"):
            return Response(found.body, headers=following, media_type=JSON)
        return unless_known(request, found.body, following)

    def _elsewhere(
        self, operation: Operation, values: dict[str, Any], base: Base
    ) -> Rendered | None:
        """What another process finds, where there are any."""
        if self._searchers is None or not self._searchers.can(operation):
            return None
        found = self._searchers.search(values, base.access)
        return None if found is None else Rendered(found.result, found.body)


def check_access(operation: Operation, access: Access) -> None:
    """Refuse what this access is not enough for."""
    if operation.writes:
        check_writing(access)
    if operation.whole and access.project is not None:
        raise NotAllowed(
            f"the operation {operation.name} concerns the whole base",
            hint="a token without a project may",
        )


def check_writing(access: Access) -> None:
    """Refuse who may only read."""
    if not access.write:
        raise NotAllowed("this token is for reading alone", hint="kb token new --scope write")


def check_post(operation: Operation, request: Request) -> None:
    """Refuse to write for a GET: links and pictures of other pages send those."""
    if request.method != "POST":
        raise NotAllowed(f"{operation.name} writes when it is asked so", hint="by POST")


def check_switch(operation: Operation, settings: Settings) -> None:
    """Refuse what is not served unless somebody has said so."""
    if operation.switch is not None and not getattr(settings, operation.switch):
        raise NotAllowed(
            f"{operation.name} is not served here",
            hint=f"the base's owner can set {dotted(operation.switch)} = true",
        )


def as_json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")


def unless_known(request: Request, body: bytes, headers: dict[str, str]) -> Response:
    """The body with its tag; nothing but the tag for a client that has it already."""
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"Cache-Control": REVALIDATED, "Vary": "Authorization", **headers, "ETag": tag}
    known = {one.strip() for one in request.headers.get("if-none-match", "").split(",")}
    if {tag, tag.removeprefix("W/"), "*"} & known:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=JSON)


def _next_page(request: Request, asked: Any, result: Any) -> dict[str, str]:
    """Where the list goes on, if it does."""
    cursor = getattr(result, "next_cursor", None)
    if cursor is not None:
        return _link(request, "cursor", cursor)
    limit, offset = getattr(asked, "limit", None), getattr(asked, "offset", None)
    total = getattr(result, "total", None)
    if limit is None or offset is None or total is None or offset + limit >= total:
        return {}
    return _link(request, "offset", str(offset + limit))


def _link(request: Request, name: str, value: str) -> dict[str, str]:
    """The same URL with another place to go on from."""
    items = [
        one for one in request.query_params.multi_items() if one[0] not in ("offset", "cursor")
    ]
    query = urlencode([*items, (name, value)])
    return {"Link": f'<{request.url.path}?{query}>; rel="next"'}
