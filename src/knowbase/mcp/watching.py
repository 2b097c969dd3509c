"""Documents that clients watch: a changed one is told, whoever changed it.

Others write to a base too, in other processes. So what is watched is looked at now and then, and
only while somebody listens; each with the access of whoever asked.
"""

from collections.abc import Awaitable, Callable, Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import anyio
import mcp_types as types
from mcp.server.subscriptions import (
    SUBSCRIPTION_ID_META_KEY,
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp.shared.exceptions import MCPError

from knowbase.errors import KnowbaseError
from knowbase.logs import log
from knowbase.mcp.links import reference_in
from knowbase.values.access import Access, current

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.mcp.running import Run
    from knowbase.values.documents import Document

INTERVAL = 1.0  # seconds between two looks
MOST_WATCHED = 1000  # resources of one client
MOST_LISTENING = 1024
LONGEST = 3600.0  # seconds of one stream over HTTP: then its client asks again, with its token
LIST = "kb://"  # stands for the list of resources
OF_USE = ("access_count", "last_accessed_at", "confirmed", "salience")
"""Fields that searching a document changes: they are no change of the document."""

Mark: TypeAlias = Any
Tell: TypeAlias = Callable[[str], Awaitable[None]]


class Watch:
    """What one client watches, and how it is told."""

    def __init__(self, access: Access, tell: Tell, listens: Callable[[], bool]) -> None:
        self.access = access
        self.tell = tell
        self.listens = listens
        self.marks: dict[str, Mark] = {}


class Watching:
    """Everything that is watched in one base."""

    def __init__(self, base: "Base", run: "Run") -> None:
        self._base = base
        self._run = run
        self._watches: dict[object, Watch] = {}
        self._listening: set[ListenHandler] = set()

    async def add(self, who: object, uris: Iterable[str], watch: Watch) -> None:
        """Watch these resources, too, from now on."""
        watch = self._watches.setdefault(who, watch)
        new = [uri for uri in dict.fromkeys(uris) if uri not in watch.marks]
        if len(watch.marks) + len(new) > MOST_WATCHED:
            message = f"at most {MOST_WATCHED} resources can be watched"
            raise MCPError(code=types.INVALID_PARAMS, message=message)
        watch.marks |= await self._marks(watch.access, new)

    def remove(self, who: object, uri: str) -> None:
        watch = self._watches.get(who)
        if watch is not None:
            watch.marks.pop(uri, None)
            if not watch.marks:
                del self._watches[who]

    def drop(self, who: object) -> None:
        self._watches.pop(who, None)

    async def listen(
        self, context: Any, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """One stream of `subscriptions/listen`, until its client leaves or the server stops; over
        HTTP not for longer than any other stream."""
        if len(self._listening) >= MOST_LISTENING:
            raise MCPError(code=types.INTERNAL_ERROR, message="too many listen already")
        bus = InMemorySubscriptionBus()
        handler, wanted = ListenHandler(bus), params.notifications

        async def tell(uri: str) -> None:
            await bus.publish(ResourcesListChanged() if uri == LIST else ResourceUpdated(uri))

        uris = [
            *(wanted.resource_subscriptions or ()),
            *[LIST] * bool(wanted.resources_list_changed),
        ]
        if uris:
            await self.add(handler, uris, Watch(current.get(), tell, lambda: True))
        self._listening.add(handler)
        try:
            with anyio.move_on_after(None if context.request is None else LONGEST):
                return await handler(context, params)
        finally:
            self._listening.discard(handler)
            self.drop(handler)
        return types.SubscriptionsListenResult(_meta={SUBSCRIPTION_ID_META_KEY: context.request_id})

    def close(self) -> None:
        """End every stream as the protocol ends one."""
        for handler in self._listening:
            handler.close()

    async def run(self) -> None:
        """Look for changes until it is cancelled."""
        while True:
            await anyio.sleep(INTERVAL)
            for who, watch in [*self._watches.items()]:
                if watch.listens():
                    await self._look(who, watch)

    async def _look(self, who: object, watch: Watch) -> None:
        try:
            marks = await self._marks(watch.access, [*watch.marks])
            for uri, mark in marks.items():
                if who in self._watches and watch.marks.get(uri, mark) != mark:
                    watch.marks[uri] = mark
                    await watch.tell(uri)
        except KnowbaseError:
            return  # the base is busy, or gone for a moment: the next look tells
        except Exception as error:  # whoever watches must not end the others' server
            log("error", "a watched resource could not be looked at", exc_info=error)
            self.drop(who)

    async def _marks(self, access: Access, uris: Collection[str]) -> dict[str, Mark]:
        return await self._run(partial(_marks, self._base, access, uris)) if uris else {}


def _marks(base: "Base", access: Access, uris: Collection[str]) -> dict[str, Mark]:
    seen = base.within(access)
    return {uri: _mark(seen, uri) for uri in uris}


def _mark(base: "Base", uri: str) -> Mark:
    """What is another one when the resource has changed; None while there is none."""
    if uri == LIST:
        from knowbase.values.documents import Page

        found = base.documents(page=Page(50))
        return found.total, tuple(one.id for one in found.documents)
    reference = reference_in(uri)
    try:
        document = _found(base, reference) if reference else None
    except KnowbaseError:
        return None
    if document is None:
        return None
    return tuple(value for name, value in document._asdict().items() if name not in OF_USE)


def _found(base: "Base", reference: str) -> "Document | None":
    """The document of a reference or of its section. What there is not is looked for each second,
    so nothing is sought that is near it."""
    found = base.references.find(reference)
    front, colon, _ = reference.rpartition(":")
    return base.references.find(front) if found is None and colon else found
