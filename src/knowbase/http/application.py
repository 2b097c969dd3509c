"""The application: routes made from the declarations, and what stands before them."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Scope, Send

import knowbase
from knowbase.base import Base
from knowbase.base.tasks import Tasks, tasks_of
from knowbase.errors import KnowbaseError, NotAllowed
from knowbase.http import events, reference
from knowbase.http import metrics as numbers
from knowbase.http.admission import Admission
from knowbase.http.api import Api, as_json, unless_known
from knowbase.http.clients import share
from knowbase.http.failures import (
    TOLD,
    Internal,
    response_to,
    shown,
    status_of,
    unknown_path,
    wrong_method,
)
from knowbase.http.guard import Door, Guard, SafeHeaders
from knowbase.http.issuer import METADATA, Issuer
from knowbase.http.near import Nearness
from knowbase.http.negotiation import Packed
from knowbase.http.observe import Observed
from knowbase.http.openapi import document
from knowbase.http.page.places import route_of as page_of
from knowbase.http.page.routes import Page, wants_page
from knowbase.http.readiness import Readiness
from knowbase.http.requests import KEY_HEADER, Bounded
from knowbase.http.searchers import Searchers
from knowbase.http.served import methods_of, served
from knowbase.http.workers import Workers
from knowbase.logs import log
from knowbase.mcp.running import Run
from knowbase.operations.declare import Operation
from knowbase.operations.grammar import Known
from knowbase.operations.tasks import start_watch
from knowbase.values.access import current

Endpoint = Callable[[Request], Awaitable[Response]]
Mounting = Callable[[Run], Starlette]  # given what does its blocking work
Result = TypeVar("Result")
WORTH_PACKING = 1024  # bytes
OF_AGENTS = (
    "Mcp-Protocol-Version", "Mcp-Session-Id", "Mcp-Method", "Mcp-Name", "Last-Event-ID",
)  # fmt: skip
"""Headers that a page's MCP client sends."""
WATCHING = 16  # questions about the server that may wait


class Server:
    """What the routes share."""

    def __init__(
        self,
        base: Base,
        mounted: Mapping[str, Mounting],
        operations: Mapping[str, Operation],
        issuer: Issuer | None = None,
        host: str = "",  # the address that it listens on
        searchers: Searchers | None = None,
    ) -> None:
        settings = base.settings
        self.base = base
        self.issuer = issuer
        self.operations = operations
        self.metrics = numbers.Metrics()
        self.workers = Workers(
            settings.serve_workers, settings.serve_waiting, settings.serve_timeout
        )
        # Whoever watches the server is answered however busy it is.
        self.watchers = Workers(1, WATCHING, settings.serve_timeout)
        if base.access.project is None:
            base.searches(count=True)  # from now on
        self.readiness = Readiness(base, self.workers, self.watchers)
        self.page = Page(base, self.workers)
        self.tasks = tasks_of(base) if base.access.is_full else Tasks()
        self.tasks.is_served = True
        self.events = events.Events(base, self.watchers, self.tasks)
        self.nearness = Nearness(host, settings)
        self.api = Api(
            base, self.workers, self.metrics, self.nearness, self.events.wrote, searchers
        )
        self.mounted = {path: make(self.run) for path, make in mounted.items()}

    def end_streams(self) -> None:
        """Those of events, and of what is mounted."""
        self.events.close()
        for app in self.mounted.values():
            app.state.end_streams()

    async def run(self, work: Callable[[], Result]) -> Result:
        """The work of what is mounted: as bounded, and as counted, as that of /api."""
        found = await self.workers.run(work, "mounted")
        self.metrics.searched(found)
        return found

    def routes(self) -> list[BaseRoute]:
        """They are tried in this order: first what is asked for most."""
        return [
            Route("/", self.index, methods=["GET"]),
            Route("/metrics", self.show_metrics, methods=["GET"]),
            Route("/health", self.ready, methods=["GET"]),
            Route("/health/live", self.live, methods=["GET"]),
            Route("/health/ready", self.ready, methods=["GET"]),
            *(
                Route(path, self._endpoint(operation), methods=list(methods_of(operation)))
                for path, operation in self.operations.items()
            ),
            *self._described(),
            *(self.page.routes() if self.operations else ()),
            *self._protected(),
            *(
                Route(path, endpoint=Bounded(app, self.api.bounds))
                for path, app in self.mounted.items()
            ),
        ]

    def _described(self) -> list[BaseRoute]:
        if not self.operations:
            return []
        return [
            Route("/openapi.json", self.openapi, methods=["GET"]),
            Route("/docs", self.docs, methods=["GET"]),
            Route("/api/access", self.access, methods=["GET"]),
            Route(events.PATH, self.events.listen, methods=["GET"]),
        ]

    def _protected(self) -> list[BaseRoute]:
        """RFC 9728, for the server and for each path that is mounted."""
        if self.issuer is None:
            return []
        paths = ("", *self.mounted)
        return [Route(METADATA + path, self._metadata_of(path), methods=["GET"]) for path in paths]

    def _metadata_of(self, path: str) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            told = as_json(self.issuer.metadata(path)) if self.issuer else b""
            return unless_known(request, told, {})

        return endpoint

    def _endpoint(self, operation: Operation) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            return await self.api.call(operation, request)

        return endpoint

    async def access(self, request: Request) -> Response:
        """What whoever asks may do, and whether they sit at this machine."""
        allowed = current.get()
        told = {
            "write": allowed.write,
            "project": allowed.project,
            "local": self.nearness.is_near(request),
            "cypher": self.base.settings.serve_cypher,
        }
        return Response(as_json(told), media_type="application/json")

    async def index(self, request: Request) -> Response:
        """The page for people, what is served for programs."""
        if self.operations and wants_page(request):
            return await self.page.search(request)
        described = ("/openapi.json", "/docs", events.PATH) if self.operations else ()
        paths = [*described, "/health", "/metrics", *self.mounted, *self.operations]
        told = {"name": "knowbase", "version": knowbase.__version__, "paths": paths}
        return Response(as_json(told), headers={"Vary": "Accept"}, media_type="application/json")

    async def openapi(self, request: Request) -> Response:
        return unless_known(request, self._description, {})

    async def docs(self, request: Request) -> Response:
        """The same for people."""
        answer = unless_known(request, self._page, reference.HEADERS)
        answer.headers["Content-Type"] = "text/html; charset=utf-8"
        return answer

    @cached_property
    def _page(self) -> bytes:
        return reference.page(json.loads(self._description)).encode()

    @cached_property
    def _description(self) -> bytes:
        known = Known(self.base.types, tuple(self.base.profiles()))
        return as_json(document(known, self.base.settings.serve_url or "/"))

    async def live(self, _: Request) -> Response:
        return Response(as_json({"alive": True}), media_type="application/json")

    async def ready(self, _: Request) -> Response:
        """Whether a request that came now would be answered."""
        error = await self.readiness.trouble()
        if error is not None:
            told = {"alive": True, "ready": False, "error": shown(error)}
            return Response(as_json(told), 503, media_type="application/json")
        return Response(as_json({"alive": True, "ready": True}), media_type="application/json")

    async def show_metrics(self, _: Request) -> Response:
        if current.get().project is not None:
            raise NotAllowed("metrics concern the whole base")
        counts = await self.watchers.run(self.base.store.counts)
        return Response(self.metrics.text(counts), media_type=numbers.MEDIA_TYPE)

    def route_of(self, path: str) -> str:
        """The route that a path is counted as; all unknown ones are one."""
        if (
            path in self.operations
            or path in ("/", "/openapi.json", "/docs", "/metrics", "/api/access", events.PATH)
            or path in ("/health", "/health/live", "/health/ready")
        ):
            return path
        if self.operations and (name := page_of(path)):
            return name
        below = (one for one in self.mounted if path == one or path.startswith(one + "/"))
        return next(below, "other")

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """The model is loaded before anybody waits for it; what is mounted lives as long."""
        async with AsyncExitStack() as stack:
            for app in self.mounted.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            try:
                await self.workers.run(self._warm_up)
                if self.operations:
                    await self.workers.run(lambda: self._page)
            except KnowbaseError as error:
                log("warning", "the embedding model is not ready", reason=error.message)
            await self.workers.run(self._watch)
            yield
        await asyncio.to_thread(self.tasks.close)
        for workers in (self.workers, self.watchers):
            await workers.close(self.base.settings.serve_shutdown)

    def _watch(self) -> None:
        """Follow the sources that the settings name, of those that there are still."""
        named = self.base.settings.index_watch
        if not named or not self.base.access.is_full:
            return
        try:
            known = {one.path for one in self.base.store.sources()}
            if wanted := [one for one in named if one in known]:
                start_watch(self.base, wanted)
        except KnowbaseError as error:  # who asks is told of it; a server is no less there
            log("warning", "no source is watched", reason=error.message)

    def _warm_up(self) -> None:
        if self.base.settings.embed_vectors and self.base.store.model() is not None:
            # A text that no cache has: only then is the model loaded.
            self.base.embedder.embed_query(f"ready {time.time()}")


def application(
    base: Base,
    door: Door,
    mounted: Mapping[str, Mounting] | None = None,
    *,
    only_mounted: bool = False,
    searchers: Searchers | None = None,
) -> Starlette:
    """The application for a base. `mounted` makes further ones by their path, such as /mcp: they
    stand behind the same checks and limits, and find the caller's access in `access.current`."""
    from_door = door.issuer, door.names.host
    operations = {} if only_mounted else served()
    server = Server(base, mounted or {}, operations, *from_door, searchers)
    stack = [
        Middleware(Observed, metrics=server.metrics, route_of=server.route_of),
        Middleware(SafeHeaders),
        *_cors(door.names.origins),  # first, so that a page can read why it was refused
        Middleware(Guard, door=door),
        Middleware(
            Admission, most=share(_most_under_way(base)), streams=(events.PATH, *server.mounted)
        ),
        Middleware(Packed, minimum_size=WORTH_PACKING),
    ]
    app = Starlette(
        routes=server.routes(),
        middleware=stack,
        lifespan=server.lifespan,
        exception_handlers={KnowbaseError: _refused, HTTPException: _not_routed},
    )
    app.router.redirect_slashes = False
    app.state.end_streams = server.end_streams
    app.state.is_busy = lambda: server.workers.is_busy or server.watchers.is_busy
    return app


def _most_under_way(base: Base) -> int:
    return base.settings.serve_workers + base.settings.serve_waiting


TOLD_BY_PAGES = ("Authorization", "Content-Type", "If-None-Match", KEY_HEADER)


class _Cors(CORSMiddleware):
    """For the pages that are configured; any other one hears what the guard says."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = Headers(scope=scope).get("origin") if scope["type"] == "http" else None
        known = origin is not None and self.is_allowed_origin(origin)
        await (super().__call__ if known else self.app)(scope, receive, send)


def _cors(origins: tuple[str, ...]) -> list[Middleware]:
    if not origins:
        return []
    return [
        Middleware(
            _Cors,
            allow_origins=list(origins),
            allow_methods=["GET", "POST"],
            allow_headers=[*TOLD_BY_PAGES, *OF_AGENTS],
            expose_headers=["ETag", "Link", "Retry-After", "X-Request-Id", "Mcp-Session-Id"],
        )
    ]


async def _refused(request: Request, error: Any) -> Response:
    if status_of(error) >= 500 and not isinstance(error, TOLD):
        facts = {"request": request.scope["knowbase.request"], "path": request.url.path}
        log("error", "request refused", **facts, reason=str(error), exc_info=error)
    return response_to(error)


async def _not_routed(request: Request, error: Any) -> Response:
    path = request.url.path
    if error.status_code == 404:
        return response_to(unknown_path(path))
    if error.status_code == 405:
        return response_to(wrong_method(request.method, path), error.headers)
    return response_to(Internal(str(error.detail)))
