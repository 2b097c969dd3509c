"""What may be read where a base lags a little: everything that an operation reads which only reads.

Whoever writes, and reads to know what, reads where it writes.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound=type)


class Reading:
    """One operation that only reads: where its first question was answered, the others are."""

    def __init__(self) -> None:
        self.places: dict[object, Any] = {}


_reading: ContextVar[Reading | None] = ContextVar("reading", default=None)
_writes = 0


def current() -> Reading | None:
    """The operation under way; None when it must not lag."""
    return _reading.get()


@contextmanager
def afresh() -> Iterator[None]:
    """What is read within it is no older than anything written."""
    token = _reading.set(None)
    try:
        yield
    finally:
        _reading.reset(token)


def may_lag(*names: str) -> Callable[[Kind], Kind]:
    """A class whose methods of these names only read."""

    def decorate(kind: Kind) -> Kind:
        for name in names:
            setattr(kind, name, _reading_alone(vars(kind)[name]))
        return kind

    return decorate


def _reading_alone(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def read(*values: Any, **named: Any) -> Any:
        if _reading.get() is not None:  # a part of another one
            return method(*values, **named)
        token = _reading.set(Reading())
        try:
            return method(*values, **named)
        finally:
            _reading.reset(token)

    return read


def writes() -> int:
    """How often this process has written, or those for whom it answers."""
    return _writes


def wrote() -> None:
    """From now on, nothing older than this moment is read."""
    global _writes  # of the process, as what it has written is
    _writes += 1
