"""How much one client may have under way, from the first byte of a request to the last of its
answer: what others ask then finds room, too."""

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from knowbase.http.clients import client
from knowbase.http.failures import TooMany, response_to
from knowbase.http.guard import OPEN_PATHS

STREAMS = 16  # answers without an end that one client may listen to


class Admission:
    """Refuses what one client asks for beyond its share; who it is, is known already."""

    def __init__(self, app: ASGIApp, most: int, streams: tuple[str, ...]) -> None:
        self._app = app
        self._most = max(1, most)
        self._streams = streams
        self._under_way: Counter[tuple[str, bool]] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in (*OPEN_PATHS, "/metrics"):
            await self._app(scope, receive, send)
            return
        is_stream = scope["method"] == "GET" and scope["path"] in self._streams
        key, most = (client.get(), is_stream), STREAMS if is_stream else self._most
        if self._under_way[key] >= most:
            error = TooMany(f"this client has {most} requests under way already")
            await response_to(error)(scope, receive, send)
            return
        self._under_way[key] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way[key] -= 1
            if not self._under_way[key]:
                del self._under_way[key]
