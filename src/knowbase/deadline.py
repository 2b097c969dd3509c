"""Until when the work of this thread is waited for: whoever waits says it, the parts that can
stop in the middle look at it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from knowbase.errors import TookTooLong

_ends: ContextVar[float | None] = ContextVar("ends", default=None)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Work that nobody waits for longer than this; what is within it has no more time."""
    ends = time.monotonic() + seconds
    sooner = _ends.get()
    token = _ends.set(ends if sooner is None else min(ends, sooner))
    try:
        yield
    finally:
        _ends.reset(token)


def seconds_left() -> float | None:
    """None when nobody said; never below 0."""
    ends = _ends.get()
    return None if ends is None else max(0.0, ends - time.monotonic())


def is_over() -> bool:
    return seconds_left() == 0.0


def check() -> None:
    """Stop here when nobody waits any longer."""
    if is_over():
        raise TookTooLong("this took too long", hint="ask for less at once")
