"""AsyncBase: a base whose methods are awaited.

>>> async with knowbase.open_async("my.db") as base:
...     answer = await base.search("how do I set up version control", tags=["ops"])
"""

from collections.abc import Awaitable, Callable, Generator
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

from knowbase.base.awaiting import Awaiting, Threads, awaited
from knowbase.base.base import Base, create
from knowbase.base.base import open as open_base
from knowbase.base.filling import Path
from knowbase.graph import Graph
from knowbase.memory.lifecycle import Lifecycle
from knowbase.memory.sessions import Sessions
from knowbase.memory.undoing import History
from knowbase.search.saved import SavedSearches
from knowbase.search.synonyms import SynonymService

T = TypeVar("T", bound="Awaiting[Any]")


class AsyncGraph(Awaiting[Graph]):
    """`base.graph`, to be awaited."""

    communities = awaited(Graph.communities)
    communities_among = awaited(Graph.communities_among)
    export = awaited(Graph.export)
    links = awaited(Graph.links)
    neighbourhood = awaited(Graph.neighbourhood)
    path = awaited(Graph.path)
    query = awaited(Graph.query)
    rank = awaited(Graph.rank)
    rebuild = awaited(Graph.rebuild)
    related = awaited(Graph.related)
    show = awaited(Graph.show)


class AsyncLifecycle(Awaiting[Lifecycle]):
    """`base.lifecycle`, to be awaited."""

    archive = awaited(Lifecycle.archive)
    due = awaited(Lifecycle.due)
    extend = awaited(Lifecycle.extend)
    forget = awaited(Lifecycle.forget)
    forgotten = awaited(Lifecycle.forgotten)
    restore = awaited(Lifecycle.restore)
    supersede = awaited(Lifecycle.supersede)


class AsyncHistory(Awaiting[History]):
    """`base.history`, to be awaited."""

    at = awaited(History.at)
    diff = awaited(History.diff)
    erase = awaited(History.erase)
    identify = awaited(History.identify)
    log = awaited(History.log)
    moment = awaited(History.moment)
    of = awaited(History.of)
    prune = awaited(History.prune)
    restore = awaited(History.restore)
    split = awaited(History.split)
    undo = awaited(History.undo)
    undoable = awaited(History.undoable)


class AsyncSessions(Awaiting[Sessions]):
    """`base.sessions`, to be awaited."""

    context = awaited(Sessions.context)
    contexts = awaited(Sessions.contexts)
    end = awaited(Sessions.end)
    get = awaited(Sessions.get)
    recent = awaited(Sessions.recent)
    relate = awaited(Sessions.relate)
    show = awaited(Sessions.show)
    start = awaited(Sessions.start)
    timeline = awaited(Sessions.timeline)


class AsyncSavedSearches(Awaiting[SavedSearches]):
    """`base.saved`, to be awaited."""

    add = awaited(SavedSearches.add)
    all = awaited(SavedSearches.all)
    get = awaited(SavedSearches.get)
    remove = awaited(SavedSearches.remove)
    run = awaited(SavedSearches.run)


class AsyncSynonyms(Awaiting[SynonymService]):
    """`base.synonyms`, to be awaited."""

    add = awaited(SynonymService.add)
    all = awaited(SynonymService.all)
    load = awaited(SynonymService.load)
    remove = awaited(SynonymService.remove)


class AsyncBase(Awaiting[Base]):
    """A base, to be awaited. What was begun is finished, also when its task is cancelled."""

    add = awaited(Base.add)
    add_history = awaited(Base.add_history)
    backup = awaited(Base.backup)
    brief = awaited(Base.brief)
    browse = awaited(Base.browse)
    check = awaited(Base.check)
    compact = awaited(Base.compact)
    doctor = awaited(Base.doctor)
    calibrate = awaited(Base.calibrate)
    documents = awaited(Base.documents)
    embed = awaited(Base.embed)
    expire = awaited(Base.expire)
    feedback = awaited(Base.feedback)
    ignore = awaited(Base.ignore)
    get = awaited(Base.get)
    inbox = awaited(Base.inbox)
    note = awaited(Base.note)
    notes = awaited(Base.notes)
    named = awaited(Base.named)
    original = awaited(Base.original)
    plan = awaited(Base.plan)
    relate = awaited(Base.relate)
    remember = awaited(Base.remember)
    remove = awaited(Base.remove)
    render = awaited(Base.render)
    search = awaited(Base.search)
    count_search = awaited(Base.count_search)
    searches = awaited(Base.searches)
    status = awaited(Base.status)
    sync = awaited(Base.sync)
    tag = awaited(Base.tag)
    tags = awaited(Base.tags)
    verdict = awaited(Base.verdict)
    why_not = awaited(Base.why_not)

    def as_of(self, when: str) -> "Opening[AsyncBase]":
        """The base as it was: `async with base.as_of("2026-03-01") as then`."""
        return Opening(lambda: _made(lambda: self.held.as_of(when)))

    @cached_property
    def graph(self) -> AsyncGraph:
        return AsyncGraph(self.held.graph, self._threads)

    @cached_property
    def history(self) -> AsyncHistory:
        return AsyncHistory(self.held.history, self._threads)

    @cached_property
    def lifecycle(self) -> AsyncLifecycle:
        return AsyncLifecycle(self.held.lifecycle, self._threads)

    @cached_property
    def sessions(self) -> AsyncSessions:
        return AsyncSessions(self.held.sessions, self._threads)

    @cached_property
    def saved(self) -> AsyncSavedSearches:
        return AsyncSavedSearches(self.held.saved, self._threads)

    @cached_property
    def synonyms(self) -> AsyncSynonyms:
        return AsyncSynonyms(self.held.synonyms, self._threads)

    async def close(self) -> None:
        await self._threads.run(self.held.close)
        self._threads.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


class Opening(Generic[T]):
    """What is being opened: to be awaited, or to be entered with `async with`."""

    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._made: T | None = None

    def __await__(self) -> Generator[Any, None, T]:
        return self._make().__await__()

    async def __aenter__(self) -> T:
        self._made = await self._make()
        return self._made

    async def __aexit__(self, *_: object) -> None:
        if self._made is not None:
            await self._made.close()  # type: ignore[attr-defined]


def open_async(path: Path | None = None) -> Opening[AsyncBase]:
    """An existing base, to be awaited; by its path or found upwards from the working folder."""
    return Opening(lambda: _made(lambda: open_base(path)))


def create_async(path: Path | None = None) -> Opening[AsyncBase]:
    """A new base, to be awaited."""
    return Opening(lambda: _made(lambda: create(path)))


async def _made(make: Callable[[], Base]) -> AsyncBase:
    threads = Threads()
    try:
        return AsyncBase(await threads.run(make), threads)
    except BaseException:
        threads.close()
        raise
