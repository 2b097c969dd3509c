"""Every request: counted, timed, logged on one line, and answered whatever happens."""

import asyncio
import re
import time
import uuid
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from knowbase.http.failures import Internal, Stopping, response_to
from knowbase.http.metrics import Metrics
from knowbase.logs import log

REQUEST_ID = "X-Request-Id"
LEFT = 499  # who asked is gone before all was sent: nobody is answered, and nothing went wrong
_SANE = re.compile(r"[\w.:-]{1,64}")


class Observed:
    """The outermost layer of ours."""

    def __init__(self, app: ASGIApp, metrics: Metrics, route_of: Callable[[str], str]) -> None:
        self._app = app
        self._metrics = metrics
        self._route_of = route_of  # few names: whatever is asked for, metrics stay small

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = Headers(scope=scope).get(REQUEST_ID, "")
        request = given if _SANE.fullmatch(given) else uuid.uuid4().hex[:16]
        scope["knowbase.request"] = request
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = int(message["status"])  # an HTTPStatus prints its name
                MutableHeaders(scope=message)[REQUEST_ID] = request
            await send(message)

        started = time.perf_counter()
        self._metrics.in_flight += 1
        try:
            await self._app(scope, receive, sending)
        except asyncio.CancelledError:
            if not status:  # serve.shutdown is over: this is the last that can be said
                await response_to(Stopping("the server is being stopped"))(scope, receive, sending)
            raise
        except ClientDisconnect:
            status = status or LEFT
        except Exception as error:
            log("error", "request failed", request=request, path=scope["path"], exc_info=error)
            if not status:
                await response_to(_masked(request))(scope, receive, sending)
        finally:
            self._metrics.in_flight -= 1
            self._record(scope, request, status, time.perf_counter() - started)

    def _record(self, scope: Scope, request: str, status: int, seconds: float) -> None:
        route, method = self._route_of(scope["path"]), _method(scope["method"])
        self._metrics.answered(method, route, status, seconds)
        ms = round(seconds * 1000, 3)
        log("info", "request", method=method, route=route, status=status, ms=ms, request=request)


def _masked(request: str) -> Internal:
    return Internal(
        "something went wrong inside knowbase", hint=f"the server's log has it as {request}"
    )


def _method(method: str) -> str:
    """Any word can be sent as a method; few are counted."""
    return method if method in ("GET", "HEAD", "POST", "OPTIONS", "DELETE", "PUT") else "OTHER"
