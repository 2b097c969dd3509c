"""Work that may crash, never end or take all memory, in a process that can be killed.

A child is started by running Python anew, never by a fork of a process with threads. It is used
for many calls, and replaced when it overstays, crashes or has grown. It ends with its parent: it
reads calls from a pipe. Its own alarm ends it after too long, whatever it does, and the parent's
clock if that does not. Where the system has no `resource` (Windows), or does not enforce it, only
the clock limits it.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

from knowbase import deadline
from knowbase.errors import TookTooLong, ToolMissing, from_dict
from knowbase.logs import log
from knowbase.process import address_space_of, close_with_a_base
from knowbase.process.worker import ANSWER, CALL, GRACE

LOOK = 0.05  # seconds between two looks at the clock and at the child's memory
START = 60.0  # seconds for a Python to start on a very busy machine
PASSED_ON = (
    "PATH", "HOME", "LANG", "LC_", "TZ", "TMP", "TEMP", "PYTHON", "LD_", "DYLD_", "SYSTEM",
    "WINDIR", "COVERAGE",
)  # fmt: skip
"""How names in the environment begin that a Python needs; keys and passwords are among the rest."""
OVERSTAYED = ("SIGALRM", "SIGXCPU")
_BOOT = (
    "import sys; sys.path[:] = sys.argv[3].split(sys.argv[4]);"
    "from knowbase.process.worker import main; main(sys.argv[1], int(sys.argv[2]))"
)


class Limits(NamedTuple):
    """What one call may take."""

    seconds: float
    memory_mb: int
    at_once: int = 4  # children at the same time
    calls: int = 10_000  # after which a child is replaced
    threads: int = 1  # that work at the same time, each of which takes time of a processor


class ChildFailed(Exception):
    """There is no answer; `why` says what became of the child."""

    def __init__(self, why: str, told: str) -> None:
        super().__init__(told)
        self.why = why  # "overstayed", "overgrown", "crashed" or "unexpected"
        self.told = told


class Children:
    """The children for one job: each call gets one of its own."""

    def __init__(self, job: str, limits: Limits) -> None:
        self._job = job
        self._limits = limits
        self._idle: list[_Child] = []
        self._changing = threading.Lock()
        self._places = threading.BoundedSemaphore(limits.at_once)
        self._process = os.getpid()

    def start(self) -> None:
        """Have a child ready soon."""
        with self._changing, suppress(TookTooLong):  # the first call says it
            if not self._idle_of_this_process():
                self._idle.append(_Child(self._job, self._limits))

    def call(self, facts: Mapping[str, Any], data: bytes = b"") -> Any:
        """What the job makes of it; ChildFailed, or the error that the job raised."""
        return self.begin(facts, data).result()

    def begin(self, facts: Mapping[str, Any], data: bytes = b"", more: float = 0.0) -> "Call":
        """A call that is worked on while its caller does something else; a large one may have
        some seconds more."""
        seconds = _seconds(self._limits.seconds + more)
        if not self._places.acquire(timeout=seconds):
            raise TookTooLong("too much is asked at once", hint="try again later")
        try:
            child = self._take()
        except BaseException:
            self._places.release()
            raise
        call = Call(self, child, seconds)
        try:
            child.send({**facts, "seconds": seconds, "threads": self._limits.threads}, data)
        except BaseException:
            call.stop()
            raise
        return call

    def _take(self) -> "_Child":
        with self._changing:
            idle = self._idle_of_this_process()
            while idle:
                child = idle.pop()
                if child.is_alive():
                    return child
                child.kill()  # it was ended while it waited: that is not this call's doing
        return _Child(self._job, self._limits)

    def give_back(self, child: "_Child", *, is_usable: bool) -> None:
        """A call has ended."""
        if is_usable and child.calls < self._limits.calls and not child.has_grown:
            with self._changing:
                self._idle.append(child)
        else:
            child.kill()
        self._places.release()

    def _idle_of_this_process(self) -> list["_Child"]:
        if self._process != os.getpid():  # after a fork, the children are our parent's
            self._process, self._idle = os.getpid(), []
        return self._idle

    def close_idle(self) -> None:
        """End those that wait for a call; the next one starts another."""
        with self._changing:
            idle, self._idle = self._idle_of_this_process(), []
        for child in idle:
            child.kill()


@cache
def children(job: str, limits: Limits) -> Children:
    """The one pool of this program for a job ("module:function") within these limits."""
    found = Children(job, limits)
    close_with_a_base(found.close_idle)
    atexit.register(found.close_idle)
    return found


class Call:
    """Work under way in a child; it must be waited for or stopped."""

    def __init__(self, pool: Children, child: "_Child", seconds: float) -> None:
        self._pool = pool
        self._child: _Child | None = child
        self._seconds = seconds

    def result(self) -> Any:
        """What came of it. Ctrl-C, or whatever else ends the waiting, ends the child."""
        child = self._child
        assert child is not None
        try:
            answer = child.receive(self._seconds)
        except BaseException:
            self.stop()
            raise
        self._child = None
        self._pool.give_back(child, is_usable=True)
        return _result(answer, child)

    def stop(self) -> None:
        """Nobody waits for it any more."""
        child, self._child = self._child, None
        if child is not None:
            self._pool.give_back(child, is_usable=False)


class _Child:
    """One process, and the pipes to it, used by one thread at a time."""

    def __init__(self, job: str, limits: Limits) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise ToolMissing("this needs a Python that can be started beside this program")
        self.calls = 0
        self.has_grown = False
        self.memory_mb = limits.memory_mb
        self._is_ready = False
        path = os.pathsep.join(part for part in sys.path if part)
        memory = str(limits.memory_mb)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT, job, memory, path, os.pathsep],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={k: v for k, v in os.environ.items() if k.startswith(PASSED_ON)},
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except OSError as error:
            reason = error.strerror or str(error)
            raise TookTooLong(
                f"no process could be started: {reason}", hint="try again later"
            ) from error

    def send(self, facts: Mapping[str, Any], data: bytes) -> None:
        """Give it work."""
        self.calls += 1
        told = json.dumps(facts).encode()
        rest = memoryview(CALL.pack(len(told), len(data)) + told + data)
        assert self._process.stdin is not None
        with suppress(OSError):  # it is gone; why is said to whoever waits for the answer
            while rest:
                rest = rest[self._process.stdin.write(rest) :]

    def receive(self, seconds: float) -> dict[str, Any]:
        """Its answer; what it takes to start does not count."""
        if not self._is_ready:
            self._answer(START)
            self._is_ready = True
        answer = self._answer(seconds)
        self.has_grown = answer.get("resident", 0) * 2 > self.memory_mb << 20
        return answer

    def _answer(self, seconds: float) -> dict[str, Any]:
        clock = _clock(self._process, seconds + GRACE)
        head = clock.read(ANSWER.size)
        length = ANSWER.unpack(head)[0] if len(head) == ANSWER.size else 0
        body = clock.read(length) if length <= self.memory_mb << 20 else b""
        if not body or len(body) < length:
            raise self._failure(seconds, clock)
        answer: dict[str, Any] = json.loads(body.decode("utf-8", "surrogatepass"))
        return answer

    def _failure(self, seconds: float, clock: "_Clock") -> ChildFailed:
        """What became of a child that says nothing more."""
        ending = _ending(self.kill())
        if clock.is_over or ending in OVERSTAYED:
            return ChildFailed("overstayed", f"took more than {seconds:.3g} s")
        if clock.most_memory * 2 > self.memory_mb << 20:  # native code seldom says it before
            return overgrown(self)
        return ChildFailed("crashed", f"crashed ({ending})")

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> int:
        """End it, if it has not ended; how it did."""
        self._process.kill()
        code = self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        return code


class _Clock:
    """Reads from a child for so many seconds; then it says nothing more."""

    def __init__(self, process: "subprocess.Popen[bytes]", seconds: float) -> None:
        assert process.stdout is not None
        self._pipe = process.stdout.fileno()
        self._process = process
        self._end = time.monotonic() + seconds
        self.is_over = False
        self.most_memory = 0

    def read(self, length: int) -> bytes:
        """So many bytes; fewer when the child has gone, or the time is over."""
        parts: list[bytes] = []
        while length and self._comes_in_time():
            part = os.read(self._pipe, min(length, 1 << 20))
            if not part:
                break
            parts.append(part)
            length -= len(part)
        return b"".join(parts)

    def _comes_in_time(self) -> bool:
        import select

        waiting = select.poll()
        waiting.register(self._pipe, select.POLLIN)
        while not waiting.poll(LOOK * 1000):
            self.most_memory = max(self.most_memory, address_space_of(self._process.pid))
            if time.monotonic() > self._end:
                self.is_over = True
                return False
        return True


class _KillingClock(_Clock):
    """The same where pipes cannot be waited for with a limit (Windows)."""

    def read(self, length: int) -> bytes:
        timer = threading.Timer(max(0.0, self._end - time.monotonic()), self._kill)
        timer.daemon = True
        timer.start()
        try:
            return super().read(length)
        finally:
            timer.cancel()

    def _comes_in_time(self) -> bool:
        return True

    def _kill(self) -> None:
        self.is_over = True
        self._process.kill()


def _clock(process: "subprocess.Popen[bytes]", seconds: float) -> _Clock:
    import select

    return (_Clock if hasattr(select, "poll") else _KillingClock)(process, seconds)


def overgrown(child: _Child) -> ChildFailed:
    return ChildFailed("overgrown", f"needs more than {child.memory_mb} MB of memory")


def _result(answer: dict[str, Any], child: _Child) -> Any:
    if "error" in answer:
        raise from_dict(answer["error"])
    if "overgrown" in answer:
        raise overgrown(child)
    if "unexpected" in answer:
        log("error", "unexpected error in a child", traceback=answer.get("traceback"))
        raise ChildFailed("unexpected", f"failed ({answer['unexpected']})")
    return answer["result"]


def _seconds(most: float) -> float:
    """No longer than somebody waits for it."""
    deadline.check()
    left = deadline.seconds_left()
    return most if left is None else min(most, left)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    with suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"
