"""Long work that a server does for somebody: add, sync, embed, eval and watch, seen while it runs
and stopped at any moment. What was stored by then stays."""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.errors import Conflict, KnowbaseError, NotAllowed, NotFound
from knowbase.logs import log
from knowbase.values.times import timestamp

if TYPE_CHECKING:
    from knowbase.base.base import Base

KINDS = ("add", "sync", "embed", "eval", "watch")
MOST_KEPT = 20  # tasks that have ended
LAST_SECONDS = 5.0  # for the batch under way when the server stops
SETTLED = 1.0  # seconds after which a rate means something


class TaskScore(NamedTuple):
    """How often a way to search found what a question was made of, of 1."""

    system: str  # a profile, or one leg alone
    first: float  # as the first hit
    third: float  # among the first three


class LanguageScore(NamedTuple):
    """How a base fares in one of its languages."""

    language: str  # English, or as its letters say it
    documents: int  # of those that were looked at
    questions: int  # that were made of them; few say little
    scores: tuple[TaskScore, ...]


class TaskLine(NamedTuple):
    """How far a task is, or what came of it."""

    id: str
    task: str  # of KINDS
    state: str  # running, done, stopped or failed
    done: int
    total: int
    rate: float | None  # a second
    left_s: float | None
    what: str  # what is under way
    started_at: str
    ended_at: str | None = None
    result: str = ""  # in a sentence, or why it failed
    scores: tuple[TaskScore, ...] = ()  # of eval, once it is done


class Evaluation(NamedTuple):
    """What came of asking a base questions that were made of it."""

    at: str
    questions: int
    scores: tuple[TaskScore, ...]
    languages: tuple[LanguageScore, ...] = ()  # the commonest first


class TaskList(NamedTuple):
    """The last started first."""

    tasks: tuple[TaskLine, ...]
    evaluations: tuple[Evaluation, ...] = ()  # of earlier servers too, the last one first


class _Stopped(KeyboardInterrupt):
    """As if somebody pressed Ctrl-C: what is done is stored."""


Work = Callable[[Callable[[Any], None]], Any]


class _Task(threading.Thread):
    def __init__(self, identity: str, kind: str, work: Work) -> None:
        super().__init__(name=f"task {identity}", daemon=True)
        self.line = TaskLine(identity, kind, "running", 0, 0, None, None, "", _now())
        self._work = work
        self._began = time.monotonic()
        self._is_to_stop = threading.Event()

    def stop(self) -> None:
        self._is_to_stop.set()

    def run(self) -> None:
        try:
            result = self._work(self._step)
        except _Stopped:
            self._end("stopped", "")
        except KnowbaseError as error:
            self._end("failed", error.message)
        except Exception as error:
            log("error", "a task failed", task=self.line.task, exc_info=error)
            self._end("failed", "something went wrong inside knowbase; the server's log has it")
        else:
            interrupted = getattr(result, "interrupted", False)
            self.line = self.line._replace(scores=getattr(result, "scores", ()))
            self._end("stopped" if interrupted else "done", _told(result))

    def _step(self, step: Any) -> None:
        if self._is_to_stop.is_set():
            raise _Stopped
        seconds = time.monotonic() - self._began
        rate = step.done / seconds if step.done and seconds >= SETTLED else None
        left = (step.total - step.done) / rate if rate else None
        self.line = self.line._replace(
            done=step.done,
            total=step.total,
            rate=round(rate, 1) if rate else None,
            left_s=round(left, 1) if left is not None else None,
            what=getattr(step, "path", "") or step.unit,
        )

    def _end(self, state: str, result: str) -> None:
        self.line = self.line._replace(
            state=state, left_s=None, what="", ended_at=_now(), result=result
        )


class Tasks:
    """The tasks of one base in this process; one of a kind at a time."""

    def __init__(self) -> None:
        self.is_served = False  # only a server goes on when its request is answered
        self._changing = threading.Lock()
        self._tasks: list[_Task] = []
        self._number = 0

    def start(self, kind: str, work: Work) -> TaskLine:
        with self._changing:
            if not self.is_served:
                hint = f"kb {kind} does it here; or --base http://… names a server"
                raise Conflict("tasks are for a server", field="task", hint=hint)
            if any(one.is_alive() and one.line.task == kind for one in self._tasks):
                raise Conflict(f"{kind} is under way already", field="task", hint="see kb tasks")
            self._number += 1
            task = _Task(f"T{self._number}", kind, work)
            ended = [one for one in self._tasks if not one.is_alive()]
            dropped = set(ended[: max(0, len(ended) - MOST_KEPT)])
            self._tasks = [*(one for one in self._tasks if one not in dropped), task]
            begun = task.line  # it may be done before anybody is told
            task.start()
            return begun

    def stop(self, identity: str) -> TaskLine:
        """Ask it to stop; it does after the file or the texts under way."""
        for task in self._tasks:
            if task.line.id == identity:
                task.stop()
                return task.line
        raise NotFound(f"there is no task {identity!r}", field="id", hint="see kb tasks")

    def all(self) -> tuple[TaskLine, ...]:
        return tuple(task.line for task in reversed(self._tasks))

    def close(self) -> None:
        """The server stops."""
        for task in self._tasks:
            task.stop()
        for task in self._tasks:
            task.join(LAST_SECONDS)


def tasks_of(base: "Base") -> Tasks:
    """The tasks of a base, for who may do everything with it."""
    if not base.access.is_full:
        raise NotAllowed("tasks concern the whole base")
    held = vars(base)
    if "_tasks" not in held:
        held.setdefault("_tasks", Tasks())
    found: Tasks = held["_tasks"]
    return found


def _told(result: Any) -> str:
    """What came of it, in a sentence."""
    if result is None:
        return ""
    if hasattr(result, "added"):
        parts = [
            f"{len(getattr(result, name))} {name}"
            for name in ("added", "changed", "moved", "removed", "failed")
            if getattr(result, name)
        ]
        return ", ".join(parts) or "nothing has changed"
    if hasattr(result, "questions"):
        return f"{result.questions} questions made of the base itself"
    return f"{getattr(result, 'embedded', 0)} passages embedded"


def _now() -> str:
    return timestamp(time.time())
