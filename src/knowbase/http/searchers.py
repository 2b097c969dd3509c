"""Searches in further processes (`kb serve --workers N`): a Python computes on one core at a time.

The server's own process keeps all else: connections, tokens, limits, metrics, events, tasks, what
is written and what agents ask. So nothing that a client can notice depends on which process
searched. One that ends is replaced, and what it had under way is done by the server itself.
"""

import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, NamedTuple

from knowbase import deadline
from knowbase.errors import TookTooLong, ToolMissing, from_dict
from knowbase.http.searcher import OPERATION, read, write
from knowbase.logs import LogStyle, log
from knowbase.operations.declare import Operation
from knowbase.store import lagging
from knowbase.values.access import Access

LONGEST = 3600.0  # seconds, where nobody says less
LAST_SECONDS = 5.0  # for a process to end by itself
_BOOT = (
    "import sys; sys.path[:] = sys.argv[1].split(sys.argv[2]);"
    "from knowbase.http.searcher import main; main()"
)


class Found(NamedTuple):
    """What the server needs to know of a result, and its JSON."""

    result: Any
    body: bytes


class Searchers:
    """So many processes; each thread that asks has one for itself."""

    def __init__(self, place: str, count: int, style: LogStyle) -> None:
        self._start = {"place": place, "log": list(style)}
        self._free: queue.Queue[_Searcher] = queue.Queue()
        for _ in range(count):
            self._free.put(_Searcher(self._start))
        self._count = count

    def can(self, operation: Operation) -> bool:
        return operation.name == OPERATION

    def search(self, values: Mapping[str, Any], access: Access) -> Found | None:
        """What is found; None when the process could not, or is gone."""
        left = deadline.seconds_left()
        seconds = LONGEST if left is None else left
        try:
            one = self._free.get(timeout=max(0.0, seconds))
        except queue.Empty:
            raise TookTooLong("too much is asked at once", hint="try again later") from None
        answer = None
        try:
            asked = {
                "values": dict(values),
                "access": list(access),
                "seconds": seconds,
                "writes": lagging.writes(),
            }
            answer = one.ask(asked, seconds)
        finally:
            self._free.put(one if answer is not None else self._instead_of(one))
        deadline.check()  # what overstayed was ended
        if answer is None:
            log("warning", "a process that searches has ended, and is replaced")
            return None
        if "error" in answer:
            raise from_dict(answer["error"])
        if "body" not in answer:
            return None
        facts = answer["facts"]
        facts["hits"] = [SimpleNamespace(id=one) for one in facts["hits"]]
        return Found(SimpleNamespace(**facts), answer["body"].encode("utf-8", "replace"))

    def _instead_of(self, one: "_Searcher") -> "_Searcher":
        one.end()
        return _Searcher(self._start)

    def close(self) -> None:
        """End those that wait for a request; a request under way has been waited for."""
        for _ in range(self._count):
            with suppress(queue.Empty):
                self._free.get_nowait().end()


class _Searcher:
    """One process, and the pipes to it."""

    def __init__(self, start: Mapping[str, Any]) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise ToolMissing("this needs a Python that can be started beside this program")
        path = os.pathsep.join(part for part in sys.path if part)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _BOOT, path, os.pathsep],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with suppress(OSError):  # the first who asks notices
            write(self._stdin, start)

    @property
    def _stdin(self) -> Any:
        return self._process.stdin

    def ask(self, asked: Mapping[str, Any], seconds: float) -> dict[str, Any] | None:
        """Its answer; None when it ended, or had to be."""
        timer = threading.Timer(max(0.0, seconds), self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            write(self._stdin, asked)
            assert self._process.stdout is not None
            return read(self._process.stdout)
        except (OSError, ValueError):
            return None
        finally:
            timer.cancel()

    def end(self) -> None:
        """It ends when nobody can ask any more; what does not is killed."""
        with suppress(OSError):
            self._stdin.close()
        try:
            self._process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
