"""What blocks, for those who await: each call in one of a few threads, the event loop goes on."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from knowbase.errors import BaseError

Held = TypeVar("Held")
P = ParamSpec("P")
R = TypeVar("R")
Kept_co = TypeVar("Kept_co", covariant=True)  # its methods may be those of a class above

THREADS = 4  # each has its own connection


class Threads:
    """Runs what blocks. What was begun is finished, also when nobody waits for it any more."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="knowbase")
        self._is_closed = False

    async def run(self, call: Callable[[], R]) -> R:
        context = copy_context()
        if self._is_closed:
            raise BaseError("the base is closed", hint="open it again")
        return await asyncio.get_running_loop().run_in_executor(
            self._pool, partial(context.run, call)
        )

    def close(self) -> None:
        self._is_closed = True
        self._pool.shutdown(wait=False)


class Awaiting(Generic[Kept_co]):
    """An object whose methods are awaited; whoever needs it synchronously has `held`."""

    def __init__(self, held: Kept_co, threads: Threads | None = None) -> None:
        self.held = held
        self._threads = threads or Threads()


def awaited(
    method: Callable[Concatenate[Held, P], R],
) -> Callable[Concatenate[Awaiting[Held], P], Coroutine[Any, Any, R]]:
    """The method of the object that is held, to be awaited."""

    @wraps(method)
    async def call(self: Awaiting[Held], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._threads.run(partial(method, self.held, *args, **kwargs))

    return call
