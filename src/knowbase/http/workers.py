"""Blocking work in a fixed number of threads: each has its connection to the base, no more."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from knowbase.http.failures import Overloaded, TimedOut

Result = TypeVar("Result")


class Workers:
    """Runs work for whoever awaits it; refuses what would wait too long."""

    def __init__(self, workers: int, waiting: int, seconds: float) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="kb-serve")
        self._most = workers + waiting
        self._seconds = seconds
        self._taken = 0
        self._counting = threading.Lock()

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work gives. After too long the caller is told; the thread ends its work."""
        self._take()
        job = self._pool.submit(copy_context().run, work)
        job.add_done_callback(self._leave)
        waiting = asyncio.ensure_future(asyncio.wrap_future(job))
        done, _ = await asyncio.wait({waiting}, timeout=self._seconds)
        if not done:
            waiting.cancel()  # and the job, if no thread has begun it
            raise TimedOut(f"no answer within {self._seconds:g} seconds", hint="serve.timeout")
        return waiting.result()

    async def close(self, seconds: float) -> None:
        """Wait for what is under way, but not for ever."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        end = asyncio.get_running_loop().time() + seconds
        while self._taken and asyncio.get_running_loop().time() < end:
            await asyncio.sleep(0.01)

    def _take(self) -> None:
        with self._counting:
            if self._taken >= self._most:
                raise Overloaded("too many requests wait already", hint="try again later")
            self._taken += 1

    def _leave(self, _: "Future[Any]") -> None:
        with self._counting:
            self._taken -= 1
