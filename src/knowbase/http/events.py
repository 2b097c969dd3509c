"""Events: that the base has changed, and how long work goes on, told as it happens (SSE).

Other processes write to a base too. So it is looked at now and then, while somebody listens, with
the access of whoever does: one project is told nothing of another.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterable
from functools import partial
from hashlib import blake2b
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from knowbase.base import Base
from knowbase.base.tasks import TaskLine, Tasks
from knowbase.errors import KnowbaseError
from knowbase.http.failures import TooMany
from knowbase.http.workers import Workers
from knowbase.query.conditions import FORGOTTEN, Not
from knowbase.values.access import Access, current
from knowbase.values.times import timestamp

PATH = "/api/events"
INTERVAL = 1.0  # seconds between two looks
HEARTBEAT = 15.0  # seconds of silence, until a line that means nothing keeps the stream open
LONGEST = 3600.0  # seconds of one stream: then its client asks again, with its token
MOST_LISTENING = 256
SETTLED = 3  # looks after which the rate of work is told


class Seen(NamedTuple):
    """What one look finds."""

    state: tuple[Hashable, int]  # of the base and of what was written here: the same one, no look
    documents: int
    mark: tuple[Any, ...]  # another one when something has changed
    embedded: int
    chunks: int

    @property
    def id(self) -> str:
        """The mark as clients have it, and say it when they come back."""
        return blake2b(repr(self.mark).encode(), digest_size=8).hexdigest()


class Progress(NamedTuple):
    """Work under way; of a task, its id and what became of it."""

    task: str
    done: int
    total: int
    rate: float | None  # a second
    left_s: float | None
    what: str
    id: str = ""
    state: str = "running"


def progress_of(tasks: Iterable[TaskLine]) -> list[Progress]:
    """What is told of tasks, ended ones included: who listens has seen them run."""
    return [
        Progress(one.task, one.done, one.total, one.rate, one.left_s, one.what, one.id, one.state)
        for one in tasks
        if one.task != "watch"  # which is never further than it was
    ]


class Events:
    """Tells those who listen."""

    def __init__(self, base: Base, watchers: Workers, tasks: Tasks) -> None:
        self._base = base
        self._watchers = watchers
        self._tasks = tasks
        self._looks: dict[Access, tuple[float, Seen | None]] = {}
        self._last: dict[Access, Seen] = {}
        self._looking: dict[Access, asyncio.Lock] = {}
        self._written: Counter[str | None] = Counter()  # by project; None: by whoever has all
        self._something = asyncio.Event()
        self._listening = 0
        self._closed = False

    def wrote(self, access: Access) -> None:
        """Something was written here: nobody need wait for the next look."""
        self._written[access.project] += 1
        self._looks.clear()
        self._something.set()
        self._something = asyncio.Event()

    def close(self) -> None:
        """The server stops: every stream ends."""
        self._closed = True
        self._something.set()

    async def listen(self, request: Request) -> Response:
        """A stream of events; who comes back is told at once if something changed meanwhile."""
        if self._listening >= MOST_LISTENING:
            raise TooMany("too many listen already")
        headers = {"X-Accel-Buffering": "no"}
        told = self._stream(current.get(), request.headers.get("last-event-id", ""))
        return StreamingResponse(told, media_type="text/event-stream", headers=headers)

    async def _stream(self, access: Access, known: str) -> AsyncIterator[str]:
        self._listening += 1
        try:
            yield "retry: 3000\n\n"
            async for event in self._told(access, known):
                yield event
        finally:
            self._listening -= 1

    async def _told(self, access: Access, known: str) -> AsyncIterator[str]:
        began = said = time.monotonic()
        last = await self._seen(access)
        if last is not None:
            yield _changed(last, access) if known not in ("", last.id) else f"id: {last.id}\n\n"
        rate = Rate(last)
        shown = progress_of(self._tasks.all())
        while not self._closed and time.monotonic() - began < LONGEST:
            await self._pause()
            seen = await self._seen(access)
            events = []
            if seen is not None and last is not None and seen.mark != last.mark:
                events.append(_changed(seen, access))
            under_way = self._under_way(seen, rate, access)
            events += [_event("progress", one._asdict()) for one in under_way if one not in shown]
            shown = under_way
            last = seen or last
            if not events and time.monotonic() - said >= HEARTBEAT:
                events.append(": \n\n")
            for event in events:
                said = time.monotonic()
                yield event

    async def _pause(self) -> None:
        something = self._something
        try:
            await asyncio.wait_for(something.wait(), INTERVAL)
        except TimeoutError:
            return

    async def _seen(self, access: Access) -> Seen | None:
        """One look an interval for all with the same access; None when it could not be had."""
        async with self._looking.setdefault(access, asyncio.Lock()):
            at, seen = self._looks.get(access, (0.0, None))
            if time.monotonic() - at < INTERVAL / 2:
                return seen
            try:
                written = self._written[access.project] if access.project else self._writes
                look = partial(_look, self._base, access, written, self._last.get(access))
                seen = self._last[access] = await self._watchers.run(look)
            except KnowbaseError:  # busy, or gone for a moment: the next look tells
                seen = None
            self._looks[access] = (time.monotonic(), seen)
            return seen

    @property
    def _writes(self) -> int:
        return sum(self._written.values())

    def _under_way(self, seen: Seen | None, rate: "Rate", access: Access) -> list[Progress]:
        if access.project is not None:
            return []
        found = progress_of(self._tasks.all())
        known = any(one.task == "embed" and one.state == "running" for one in found)
        if seen is None or known or not self._base.settings.embed_vectors:
            return found
        if (progress := rate.progress(seen)) is not None:
            found.append(progress)
        return found


class Rate:
    """How fast vectors are made, by whichever process makes them."""

    def __init__(self, seen: Seen | None) -> None:
        self._first = seen
        self._began = time.monotonic()
        self._was_under_way = seen is not None and seen.chunks > seen.embedded

    def progress(self, seen: Seen) -> Progress | None:
        """None when nothing is under way; the last one says that all is done."""
        missing = seen.chunks - seen.embedded
        if self._first is None or (not missing and not self._was_under_way):
            self._first, self._began = seen, time.monotonic()
            return None
        self._was_under_way = missing > 0
        seconds = time.monotonic() - self._began
        made = seen.embedded - self._first.embedded
        rate = made / seconds if made > 0 and seconds >= SETTLED * INTERVAL else None
        left = missing / rate if rate else None
        return Progress(
            "embed",
            seen.embedded,
            seen.chunks,
            round(rate, 1) if rate else None,
            round(left, 1) if left is not None else None,
            "passages with a vector",
        )


def _look(base: Base, access: Access, written: int, last: Seen | None) -> Seen:
    """Nothing is counted while nobody writes."""
    state = (base.store.generation(), written)
    if last is not None and last.state == state:
        return last
    store = base.within(access).store
    counts = store.counts()
    mark = (counts.documents, counts.forgotten, store.digest(Not(FORGOTTEN)), written)
    return Seen(state, counts.documents, mark, counts.embedded, counts.chunks)


def _changed(seen: Seen, access: Access) -> str:
    """Who may do less is told that something changed, and no more."""
    at = {"at": timestamp(time.time())}
    told = {"documents": seen.documents, **at} if access.is_full else at
    return f"id: {seen.id}\n{_event('changed', told)}"


def _event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"
