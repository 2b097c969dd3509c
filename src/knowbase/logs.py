"""Log lines with facts, through `logging`, if the program that uses us has loaded it.

A program that never imported `logging` has nobody who listens, and importing it takes longer
than the rest of a keyword search's start-up.
"""

import sys
from typing import Any


def log(level: str, event: str, **facts: Any) -> None:
    """One line of the logger `knowbase`: the event, and what is to be known about it.

    `exc_info` among the facts is an error whose traceback belongs to the line.
    """
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("knowbase")
    number = getattr(logging, level.upper())
    if logger.isEnabledFor(number):
        exc_info = facts.pop("exc_info", None)
        extra = {"event": event, "facts": facts}
        told = " ".join(f"{name}={value!r}" for name, value in facts.items())
        line = f"{event} {told}" if told else event
        logger.log(number, "%s", line, exc_info=exc_info, extra=extra)


def show_on(stream: Any, *, as_json: bool) -> None:
    """Show requests, warnings and errors on a stream, one line each."""
    import json
    import logging

    class Lines(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            moment = self.formatTime(record, "%Y-%m-%dT%H:%M:%S")
            if not as_json:
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

    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines())
    # Each part of a search has its line too: for those who listen themselves.
    handler.addFilter(
        lambda record: (
            record.levelno > logging.INFO or getattr(record, "event", "") in ("request", "serving")
        )
    )
    logging.getLogger().addHandler(handler)
    logging.getLogger("knowbase").setLevel(logging.INFO)


def _visible(text: str) -> str:
    """The text on one line, with nothing that steers a terminal or cannot be written."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in text)
