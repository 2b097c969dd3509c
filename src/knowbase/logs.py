"""Log lines with facts, through `logging`, if the program that uses us has loaded it.

A program that never imported `logging` has nobody who listens, and importing it takes longer
than the rest of a keyword search's start-up.
"""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

LEVELS = ("error", "warning", "requests", "info", "debug")
FORMATS = ("text", "json")
_listeners: list[Callable[[str], None]] = []
_hearers: list[Callable[[], bool]] = []
SERVING = ("request", "serving")  # events of a server itself
_left_out = False  # what is no warning, but for these


class LogStyle(NamedTuple):
    """What a server shows of its log, and how. `requests` is one line a request beside warnings
    and errors: `info` and `debug` have each part of a search too, and the start of its query."""

    level: str = "requests"
    format: str = "text"


def log(level: str, event: str, **facts: Any) -> None:
    """One line of the logger `knowbase`: the event, and what is to be known about it.

    `exc_info` among the facts is an error whose traceback belongs to the line.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("knowbase")
    number = getattr(logging, level.upper())
    if logger.isEnabledFor(number) and _is_for_somebody(event, number <= logging.INFO):
        exc_info = facts.pop("exc_info", None)
        extra = {"event": event, "facts": facts}
        told = " ".join(f"{name}={value!r}" for name, value in facts.items())
        line = f"{event} {told}" if told else event
        logger.log(number, "%s", line, exc_info=exc_info, extra=extra)


def _is_for_somebody(event: str, is_quiet: bool) -> bool:
    """A search says four things that a server's log leaves out: to put them in words first would
    take a hundredth of its time."""
    if not (_left_out and is_quiet) or event in SERVING:
        return True
    return any(hears() for hears in _hearers)


def heard_when(hears: Callable[[], bool]) -> None:
    """Name somebody who wants all that is logged while this is true, shown or not."""
    _hearers.append(hears)


def announce(text: str) -> None:
    """What whoever waits at a terminal should know, beside the log."""
    log("warning", text)
    for listener in _listeners:
        listener(text)


def listen(listener: Callable[[str], None]) -> None:
    """Hear what is announced from now on."""
    _listeners.append(listener)


def show_on(stream: Any, style: LogStyle = LogStyle()) -> None:  # noqa: B008 - a value
    """Show the log on a stream, one line each."""
    import json
    import logging

    class Lines(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            moment = self.formatTime(record, "%Y-%m-%dT%H:%M:%S")
            if style.format != "json":
                line = f"{moment} {record.levelname.lower()} {_visible(record.getMessage())}"
                stack = self.formatException(record.exc_info) if record.exc_info else ""
                # Indented: whatever stands in an error's message, it begins no line of its own.
                return "\n  ".join([line, *map(_visible, stack.split("\n") if stack else ())])
            told = {"at": moment, "level": record.levelname.lower()}
            told["event"] = getattr(record, "event", record.getMessage())
            told |= getattr(record, "facts", {})
            if record.exc_info:
                told["traceback"] = self.formatException(record.exc_info)
            return _visible(json.dumps(told, ensure_ascii=False, default=str))

    global _left_out
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines())
    _left_out = style.level == "requests"
    if _left_out:
        handler.addFilter(
            lambda record: record.levelno > logging.INFO or getattr(record, "event", "") in SERVING
        )
    logging.getLogger().addHandler(handler)
    level = "info" if style.level == "requests" else style.level
    logging.getLogger("knowbase").setLevel(level.upper())


def _visible(text: str) -> str:
    """The text on one line, with nothing that steers a terminal or cannot be written."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
