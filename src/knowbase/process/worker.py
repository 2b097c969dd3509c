"""The inside of a confined child: it takes calls from its parent, one after the other.

Nothing is written but answers, and nothing is read but calls; a closed pipe ends it.
"""

import json
import os
import signal
import struct
import sys
import traceback
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, BinaryIO

from knowbase.errors import KnowbaseError
from knowbase.process import collect_rarely, resident_bytes

CALL = struct.Struct("!QQ")  # how long the facts are, and the data after them
ANSWER = struct.Struct("!Q")
LET_BE = ("SIGINT", "SIGTERM", "SIGHUP")  # the parent is told too, and decides
GRACE = 2  # seconds beyond the limit, before other means than the alarm

Job = Callable[[Mapping[str, Any], bytes], Any]


def main(job: str, memory_mb: int) -> None:
    """Take calls for `job` ("module:function") until the parent is gone."""
    for name in LET_BE:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    calls, answers = _pipes()
    module, _, function = job.partition(":")
    run = getattr(import_module(module), function)
    _confine(memory_mb << 20)
    collect_rarely()
    _answer(answers, {"ready": True})
    while (call := _call(calls)) is not None:
        facts, data = call
        _limit_work(facts["seconds"], facts["threads"])
        outcome = _outcome(run, facts, data)
        _end_of_work()  # whether the parent comes for it soon is not our time
        _answer(answers, outcome)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Where calls come from and answers go; what a library prints goes nowhere."""
    calls, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    return calls, answers


def _confine(memory: int) -> None:
    """No more memory than this, no files, no core dumps; as far as the system can."""
    try:
        import resource
    except ImportError:  # Windows: the parent's clock alone
        return
    limits = {"RLIMIT_AS": memory, "RLIMIT_FSIZE": 0, "RLIMIT_CORE": 0}
    for name, most in limits.items():
        number = getattr(resource, name, None)
        if number is not None:
            _lower(resource, number, most)


def _lower(resource: Any, number: int, most: int) -> None:
    hard = resource.getrlimit(number)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(number, (most, hard))
    except (ValueError, OSError):  # a system that has this limit, but not for us
        return


def _limit_work(seconds: float, threads: int) -> None:
    """The alarm's signal ends the process, whatever it does. The processor's time is limited too:
    a stopped clock does not help."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        import resource
    except ImportError:
        return
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    _lower(resource, resource.RLIMIT_CPU, int(used + seconds * threads + GRACE))


def _end_of_work() -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0)


def _outcome(run: Job, facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    try:
        return {"result": run(facts, data)}
    except MemoryError:
        return {"overgrown": True}
    except KnowbaseError as error:
        return {"error": error.as_dict()}
    except Exception as error:
        told = "".join(traceback.format_exception(error, limit=-8))
        return {"unexpected": type(error).__name__, "traceback": told}


def _call(calls: BinaryIO) -> tuple[dict[str, Any], bytes] | None:
    head = calls.read(CALL.size)
    if len(head) < CALL.size:
        return None
    facts, data = (calls.read(length) for length in CALL.unpack(head))
    return json.loads(facts), data


def _answer(answers: BinaryIO, told: dict[str, Any]) -> None:
    """JSON, so that an answer is data for the parent whatever became of this process."""
    try:
        body = json.dumps({**told, "resident": resident_bytes()}, ensure_ascii=False)
        data = body.encode("utf-8", "surrogatepass")
    except MemoryError:
        data = b'{"overgrown": true}'
    answers.write(ANSWER.pack(len(data)) + data)
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
