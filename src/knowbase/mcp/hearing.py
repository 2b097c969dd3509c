"""What the log says of a call, for a client that asked to hear it.

Only the event and its numbers are told: a text among the facts may be a path, a service's address
or another project's name.
"""

import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import mcp_types as types

from knowbase.logs import heard_when

if TYPE_CHECKING:
    from collections.abc import Iterator

LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
MOST_HEARD = 100  # lines of one call

_heard: ContextVar["list[Line] | None"] = ContextVar("heard", default=None)


class Line(NamedTuple):
    level: types.LoggingLevel
    data: dict[str, Any]


class _Listener(logging.Handler):
    """Keeps what is logged where somebody listens, in whichever thread that happens."""

    def emit(self, record: logging.LogRecord) -> None:
        lines = _heard.get()
        name = record.levelname.lower()
        if lines is None or len(lines) >= MOST_HEARD or name not in LEVELS:
            return
        facts = getattr(record, "facts", {})
        numbers = {key: one for key, one in facts.items() if isinstance(one, int | float)}
        event = getattr(record, "event", "")
        if event:
            lines.append(Line(name, {"event": event, **numbers}))


_LISTENER = _Listener()
heard_when(lambda: _heard.get() is not None)


@contextmanager
def hearing() -> "Iterator[list[Line]]":
    """The lines that are logged meanwhile, in this context and in the threads that it starts."""
    logger = logging.getLogger("knowbase")
    if _LISTENER not in logger.handlers:
        logger.addHandler(_LISTENER)
    lines: list[Line] = []
    held = _heard.set(lines)
    try:
        yield lines
    finally:
        _heard.reset(held)


def from_level(level: str) -> frozenset[str]:
    """This level, and the graver ones."""
    return frozenset(LEVELS[LEVELS.index(level) :])
