"""Saying how far something is that a server does, while it is waited for."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from knowbase.errors import BaseError

PAUSE = 0.5  # seconds


@contextmanager
def watched(
    tell: Callable[[int, int], None] | None,
    look: Callable[[], tuple[int, int] | None],
    pause: float = PAUSE,
) -> Iterator[None]:
    """Look now and then from a thread of its own, and tell how many of how many are done."""
    if tell is None:
        yield
        return
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(pause):
            try:
                found = look()
            except BaseError:
                return  # what is watched says what is wrong, if anything is
            if found is not None and found[1]:
                tell(*found)

    thread = threading.Thread(target=go_on, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
