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
