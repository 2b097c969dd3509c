"""What children do in tests: a child imports this module."""

import ctypes
import os
import re
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

from knowbase.errors import InvalidInput


def run(facts: Mapping[str, Any], data: bytes) -> Any:
    """One of the things below, by its name."""
    return JOBS[facts["do"]](facts, data)


def _backtrack(*_: object) -> Any:
    return re.fullmatch("(a*)*b", "a" * 64)  # in C, and it never lets go


def _ignore_the_alarm(*_: object) -> Any:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def _refuse(*_: object) -> Any:
    raise InvalidInput("not this", field="that", hint="something else")


def _write(facts: Mapping[str, Any], _: bytes) -> Any:
    with open(facts["path"], "wb") as file:
        file.write(b"x" * 100)


def _grow_for_good(*_: object) -> Any:
    KEPT.append(bytearray(200 << 20))
    return os.getpid()


KEPT: list[bytearray] = []
JOBS: dict[str, Callable[[Mapping[str, Any], bytes], Any]] = {
    "echo": lambda facts, data: [facts["text"], len(data), os.getpid()],
    "backtrack": _backtrack,
    "ignore the alarm": _ignore_the_alarm,
    "crash": lambda *_: ctypes.string_at(0),
    "exit": lambda *_: os._exit(3),
    "grow": lambda *_: len(bytearray(1 << 40)),
    "grow for good": _grow_for_good,
    "refuse": _refuse,
    "fail": lambda *_: 1 / 0,
    "print": lambda *_: os.write(1, b"noise") and print("noise"),
    "write": _write,
    "environment": lambda *_: sorted(os.environ),
    "sleep": lambda facts, _: time.sleep(facts["for"]),
}
