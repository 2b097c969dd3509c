"""The addresses of the page. It has no rights of its own: what it shows here, /api gives, too."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Scope

from knowbase.base import Base
from knowbase.errors import KnowbaseError, NotFound
from knowbase.http.failures import response_to, status_of, unknown_path
from knowbase.http.negotiation import qualities
from knowbase.http.page import html
from knowbase.http.page.bundle import FOREVER, PREFIX, built
from knowbase.http.page.places import BY_SCRIPT, STRANGER, route_of
from knowbase.http.workers import Workers
from knowbase.operations.declare import held_to
from knowbase.search.request import MODES, SearchRequest
from knowbase.values.access import current
from knowbase.values.documents import Page as Newest
from knowbase.values.parameters import build

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data: blob:; connect-src 'self'; font-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
    "Vary": "Accept, Authorization",
}
"""Nothing inline, nothing from elsewhere. A form may ask this server alone: without a script, the
search is one."""

NEWEST = 12  # documents, before anything is asked


def wants_page(request: Request) -> bool:
    """Whether a person looks: programs that name nothing get JSON at / as before."""
    return qualities(request.headers.get("accept", "")).get("text/html", 0.0) > 0


class Nowhere(Route):
    """A browser at an address that nobody else answers. Programs get JSON, as does who is astray
    within the API."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        if match is not Match.FULL or scope["path"].startswith("/api/"):
            return Match.NONE, {}
        others = (one for one in scope["app"].routes if one is not self)
        if not wants_page(Request(scope)) or any(one.matches(scope)[0].value for one in others):
            return Match.NONE, {}
        return match, child


class Page:
    """Answers what browsers ask."""

    def __init__(self, base: Base, workers: Workers) -> None:
        self._base = base
        self._workers = workers

    def routes(self) -> list[BaseRoute]:
        """All but `/`, which programs ask, too."""
        return [
            Route("/d/{reference:path}", self.document, methods=["GET"]),
            Route("/g/{reference:path}", self.by_script, methods=["GET"]),
            *(Route(path, self.by_script, methods=["GET"]) for path in BY_SCRIPT),
            Route(PREFIX + "{name}", self.file, methods=["GET"]),
            Nowhere("/{path:path}", self.nowhere, methods=["GET"]),
        ]

    async def file(self, request: Request) -> Response:
        found = built().get(request.path_params["name"])
        if found is None:
            return response_to(unknown_path(request.url.path))
        headers = {"Cache-Control": FOREVER}
        return Response(found.content, headers=headers, media_type=found.media_type)

    async def nowhere(self, request: Request) -> Response:
        return _answer(request, "No such page", html.nowhere(), 404)

    async def by_script(self, request: Request) -> Response:
        title = BY_SCRIPT.get(route_of(request.url.path) or "", "")
        return _answer(request, title, html.by_script(title))

    async def search(self, request: Request) -> Response:
        """`/`, with or without a question."""
        query = request.query_params.get("q", "")
        if request.scope.get(STRANGER):
            return _answer(request, "knowbase", html.closed())
        base = self._allowed()
        try:
            if not query.strip():
                listing = await self._workers.run(
                    lambda: base.documents(page=Newest(limit=NEWEST)), "page"
                )
                return _answer(request, "Search", html.beginning(listing.documents, listing.total))
            values = _values(request, query)
            asked = build(SearchRequest, held_to(current.get().project, SearchRequest, values))
            answer = await self._workers.run(lambda: base.search(asked), "page")
            return _answer(request, query, html.hits(answer, base.moment_of(asked)))
        except KnowbaseError as error:
            return _answer(request, query, html.failed(error, query), status_of(error))

    async def document(self, request: Request) -> Response:
        reference, query = request.path_params["reference"], request.query_params.get("q", "")
        if request.scope.get(STRANGER):
            return _answer(request, "knowbase", html.closed())
        base = self._allowed()
        try:
            told = request.query_params.get("line", "")
            line = int(told[:9]) if told.isdecimal() and int(told[:9]) else None
            shown = await self._workers.run(lambda: base.render(reference, query, line), "page")
        except KnowbaseError as error:
            status = 404 if isinstance(error, NotFound) else status_of(error)
            return _answer(request, reference, html.failed(error, query), status)
        return _answer(request, shown.title, html.document(shown, query))

    def _allowed(self) -> Base:
        """The base as this caller sees it; a page that is opened writes nothing."""
        return self._base.within(current.get()._replace(write=False))


def _values(request: Request, query: str) -> dict[str, Any]:
    """What the address asks for; what it cannot mean is left out."""
    given = request.query_params
    values: dict[str, Any] = {"query": query, "top": html.PAGE}
    if given.get("mode") in MODES:
        values["mode"] = given["mode"]
    if given.get("unit") in ("chunk", "document"):
        values["unit"] = given["unit"]
    if given.get("offset", "").isdecimal():
        values["offset"] = min(int(given["offset"][:9]), 100_000)
    return values


def _answer(request: Request, title: str, main: str, status: int = 200) -> Response:
    is_held = current.get().project is not None
    text = html.whole(title, request.url.path, main, is_held=is_held)
    content = text.encode("utf-8", "replace")
    return Response(content, status, HEADERS, "text/html; charset=utf-8")
