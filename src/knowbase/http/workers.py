"""Blocking work in a bounded number of threads, each with its connection to the base.

A thread cannot be stopped. One that works for longer than anybody waits counts as lost: another
takes its place, up to as many again, and the lost one ends when its work does.
"""

import asyncio
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context, copy_context
from functools import partial
from typing import Any, NamedTuple, TypeVar

from knowbase import deadline
from knowbase.errors import TookTooLong
from knowbase.http.clients import client, share
from knowbase.http.failures import Overloaded
from knowbase.logs import log

Result = TypeVar("Result")
MOMENT = 2.0  # seconds in which something has to move
SLOW = 0.25  # seconds after which work counts as slow


class Flow(NamedTuple):
    """Work of one client and one kind: it waits in a line of its own."""

    client: str
    kind: str


class _Job:
    """One piece of work."""

    looking: asyncio.TimerHandle  # when it is looked after

    def __init__(self, flow: Flow, work: Callable[[], Any], seconds: float) -> None:
        self.flow = flow
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Any] = self.loop.create_future()
        self.is_lost = self.is_over = False
        self.begun = 0.0
        self._work = work
        self._context: Context = copy_context()
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    @property
    def seconds_left(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def run(self) -> Callable[[], None]:
        """Do the work; what tells whoever waits for it is for later, when the thread is free."""
        if self.answer.cancelled():
            return lambda: None
        try:
            return partial(self._tell, self.answer.set_result, self._context.run(self._in_time))
        except BaseException as error:
            return partial(self._tell, self.answer.set_exception, error)

    def _in_time(self) -> Any:
        with deadline.within(self.seconds_left):
            return self._work()

    def _tell(self, say: Callable[[Any], None], outcome: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody waits
            self.loop.call_soon_threadsafe(self._unless_done, say, outcome)

    def out_of_time(self) -> None:
        told = f"no answer within {self._seconds:g} seconds"
        self._unless_done(self.answer.set_exception, TookTooLong(told, hint="ask for less at once"))

    def _unless_done(self, say: Callable[[Any], None], outcome: Any) -> None:
        if not self.answer.done():
            say(outcome)


class Workers:
    """Runs work for whoever awaits it; refuses what would wait too long.

    One client has at most three quarters of the threads, and work of one kind at most half of
    them, so that slow work of one leaves room for others; the lines take turns. What is quick is
    done by as many threads as there are cores: more would take turns with each other, and all
    would be later. Slow work does not count there. Of threads that rest the last one goes on: it
    has at hand what one search leaves to the next, which each thread reads for itself.
    """

    def __init__(self, workers: int, waiting: int, seconds: float, cores: int = 0) -> None:
        self._workers = workers
        self._cores = cores or _cores()
        self._most = workers + waiting
        self._seconds = seconds
        self._most_of_client, self._most_of_flow = share(workers), (workers + 1) // 2
        self._lock = threading.Lock()
        self._resting: list[threading.Condition] = []
        self._lines: dict[Flow, deque[_Job]] = {}
        self._under_way: set[_Job] = set()
        self._running: Counter[str | Flow] = Counter()  # by client, without lost ones; by flow
        self._busy = self._lost = self._threads = 0
        self._moved = time.monotonic()
        self._closed = False

    async def run(
        self, work: Callable[[], Result], kind: str = "", seconds: float | None = None
    ) -> Result:
        """What the work gives. After too long the caller is told, and waits no more."""
        seconds = self._seconds if seconds is None else seconds
        job = _Job(Flow(client.get(), kind), work, seconds)
        self._take(job)
        self._look_later(job)
        try:
            result: Result = await job.answer
        except asyncio.CancelledError:
            self._give_up(job)
            raise
        finally:
            job.looking.cancel()
        return result

    def _look_later(self, job: _Job) -> None:
        job.looking = job.loop.call_later(min(job.seconds_left, SLOW), self._look_after, job)

    def _look_after(self, job: _Job) -> None:
        """Whenever it may have become slow, others are let in; in the end nobody waits for it."""
        if job.seconds_left:
            with self._lock:
                self._fill()
            self._look_later(job)
        else:
            self._give_up(job)
            job.out_of_time()

    def moves(self) -> bool:
        """Whether a thread is free, or work began or ended a moment ago."""
        with self._lock:
            return self._busy < self._allowed or time.monotonic() - self._moved < MOMENT

    @property
    def is_busy(self) -> bool:
        return self._busy > 0

    async def close(self, seconds: float) -> None:
        """Wait for what is under way, but not for ever; what waits is not begun."""
        with self._lock:
            self._closed = True
            for line in self._lines.values():
                for job in line:
                    job.is_over = True
                    job.answer.cancel()
            self._lines.clear()
            self._wake(len(self._resting))
        end = time.monotonic() + seconds
        while self._busy and time.monotonic() < end:
            await asyncio.sleep(0.01)

    @property
    def _allowed(self) -> int:
        return self._workers + min(self._lost, self._workers)

    def _take(self, job: _Job) -> None:
        with self._lock:
            if self._closed or self._busy - self._lost + self._waiting >= self._most:
                raise Overloaded("too many requests wait already", hint="try again later")
            self._lines.setdefault(job.flow, deque()).append(job)
            self._fill()

    @property
    def _slow(self) -> int:
        """How many are at it for so long that they are probably not done soon."""
        before = time.monotonic() - SLOW
        return sum(job.is_lost or job.begun <= before for job in self._under_way)

    @property
    def _waiting(self) -> int:
        return sum(map(len, self._lines.values()))

    def _fill(self) -> None:
        """Threads for what waits: those that rest, and one more if there may be."""
        waiting, slow, resting = self._waiting, self._slow, len(self._resting)
        self._wake(min(waiting, self._cores + slow - self._busy))
        if resting < waiting and self._threads < min(self._allowed, self._cores + slow):
            self._threads += 1
            try:
                threading.Thread(target=self._work, name="kb-serve", daemon=True).start()
            except RuntimeError as error:  # the system has none left: who waits may still be served
                self._threads -= 1
                log("warning", "no further thread could be started", reason=str(error))

    def _wake(self, number: int) -> None:
        for _ in range(min(number, len(self._resting))):
            self._resting.pop().notify()

    def _give_up(self, job: _Job) -> None:
        """Nobody waits for this any longer."""
        with self._lock:
            line = self._lines.get(job.flow)
            if line is not None and job in line:
                self._drop(line, job)
            elif not job.is_over:
                job.is_lost = True
                self._lost += 1
                self._less(job.flow.client)
                self._fill()

    def _drop(self, line: "deque[_Job]", job: _Job) -> None:
        line.remove(job)
        if not line:
            del self._lines[job.flow]

    def _work(self) -> None:
        """The life of a thread. It counts as resting before anybody hears that it is done: who
        asks again at once is served by this one, and no other is woken."""
        woken = threading.Condition(self._lock)
        while (job := self._next(woken)) is not None:
            tell = job.run()
            with self._lock:
                self._ended(job)
                self._resting.append(woken)
            tell()
            del job, tell

    def _next(self, woken: threading.Condition) -> _Job | None:
        """What to do now; None when this thread is not needed any longer."""
        with self._lock:
            while (job := self._first()) is None and not self._is_spare:
                if woken not in self._resting:
                    self._resting.append(woken)
                woken.wait()
            if woken in self._resting:
                self._resting.remove(woken)
            if job is None:
                self._threads -= 1
                self._wake(self._waiting)  # another one may have to do what this one would
            return job

    @property
    def _is_spare(self) -> bool:
        """Whether there is a thread more than needed."""
        return self._closed or self._threads > self._allowed

    def _first(self) -> _Job | None:
        """The first of the next line that may go on; its line then waits for the others."""
        if self._is_spare or self._busy - self._slow >= self._cores:
            return None
        for flow, line in list(self._lines.items()):
            if (
                self._running[flow] < self._most_of_flow
                and self._running[flow.client] < self._most_of_client
            ):
                job = line.popleft()
                del self._lines[flow]
                if line:
                    self._lines[flow] = line
                self._running.update((flow, flow.client))
                self._busy += 1
                self._under_way.add(job)
                self._moved = job.begun = time.monotonic()
                return job
        return None

    def _ended(self, job: _Job) -> None:
        job.is_over = True
        self._busy -= 1
        self._under_way.remove(job)
        self._moved = time.monotonic()
        self._less(job.flow)
        if job.is_lost:
            self._lost -= 1
        else:
            self._less(job.flow.client)

    def _less(self, key: str | Flow) -> None:
        self._running[key] -= 1
        if not self._running[key]:
            del self._running[key]


def _cores() -> int:
    """Those that this process may use."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1
