"""Where the blocking work of a request is done."""

from collections.abc import Callable
from typing import Protocol, TypeVar

import anyio
import anyio.to_thread

from knowbase import deadline
from knowbase.errors import TookTooLong

MOST_AT_ONCE = 8  # calls that run at the same time; the others wait

Result = TypeVar("Result")


class Run(Protocol):
    """Does blocking work away from the event loop, in the context of whoever asks."""

    async def __call__(self, work: Callable[[], Result]) -> Result: ...


class Threads:
    """Each work in a thread of its own: searches must not hold up other requests."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._limiter: anyio.CapacityLimiter | None = None

    async def __call__(self, work: Callable[[], Result]) -> Result:
        """What the work gives, if it is done in time; a thread that overstays is left to itself."""
        if self._limiter is None:  # it belongs to the event loop, which runs only now
            self._limiter = anyio.CapacityLimiter(MOST_AT_ONCE)
        with anyio.move_on_after(self._seconds):
            return await anyio.to_thread.run_sync(
                self._in_time, work, limiter=self._limiter, abandon_on_cancel=True
            )
        raise TookTooLong(
            f"no answer within {self._seconds:g} seconds", hint="ask for less at once"
        )

    def _in_time(self, work: Callable[[], Result]) -> Result:
        with deadline.within(self._seconds):
            return work()
