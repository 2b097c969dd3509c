"""Whether an answer may lack what lies on a server that is away: only where that was asked for."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Part:
    """An answer that may be a part of what there is."""

    is_partial = False  # whether it is one


_part: ContextVar[Part | None] = ContextVar("part", default=None)


def current() -> Part | None:
    """The answer under way; None when it must be whole."""
    return _part.get()


@contextmanager
def allowed(is_allowed: bool = True) -> Iterator[Part]:
    """What is answered within it may lack a part, if that is allowed."""
    part = Part()
    token = _part.set(part if is_allowed else None)
    try:
        yield part
    finally:
        _part.reset(token)
