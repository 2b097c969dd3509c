"""Work in a process that can be killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from knowbase import deadline
from knowbase.errors import InvalidInput, TookTooLong
from knowbase.process.child import ChildFailed, Children, Limits

PATIENCE = 30.0
JOB = "jobs:run"


@pytest.fixture
def pool() -> Iterator[Children]:
    pool = Children(JOB, Limits(10.0, 256))
    yield pool
    pool.close_idle()


def echo(pool: Children, text: str = "hello", data: bytes = b"") -> Any:
    return pool.call({"do": "echo", "text": text}, data)


def is_there(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False


def wait_until_gone(process: int) -> None:
    end = time.monotonic() + PATIENCE
    while is_there(process):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_one_child_answers_many_calls(pool: Children) -> None:
    text = "ä \ud800 \x00"
    first = echo(pool, text, b"x" * 3_000_000)
    assert first[:2] == [text, 3_000_000]
    assert first[2] != os.getpid()
    assert echo(pool)[2] == first[2]


def test_a_child_that_was_ended_while_it_waited_is_not_asked(pool: Children) -> None:
    first = echo(pool)[2]
    os.kill(first, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
    assert echo(pool)[2] != first


@pytest.mark.parametrize(
    ("do", "why", "told"),
    [
        ("crash", "crashed", "crashed (SIGSEGV)"),
        ("exit", "crashed", "crashed (exit code 3)"),
        ("grow", "overgrown", "needs more than 256 MB of memory"),
        ("fail", "unexpected", "failed (ZeroDivisionError)"),
    ],
)
def test_a_call_that_fails_says_why_and_the_next_one_is_answered(
    pool: Children, do: str, why: str, told: str
) -> None:
    with pytest.raises(ChildFailed) as failure:
        pool.call({"do": do})
    assert (failure.value.why, failure.value.told) == (why, told)
    assert echo(pool)[0] == "hello"


@pytest.mark.parametrize("do", ["backtrack", "ignore the alarm"])
def test_what_overstays_is_ended_whatever_it_does(do: str) -> None:
    pool = Children(JOB, Limits(0.2, 256))
    before = echo(pool)[2]
    with pytest.raises(ChildFailed, match=r"took more than 0.2 s"):
        pool.call({"do": do})
    assert not is_there(before)
    after = echo(pool)[2]
    assert after != before
    pool.close_idle()
    assert not is_there(after)


def test_nobody_waits_beyond_the_deadline(pool: Children) -> None:
    with deadline.within(0.2), pytest.raises(ChildFailed, match="took more than"):
        pool.call({"do": "sleep", "for": PATIENCE})
    with deadline.within(0.0), pytest.raises(TookTooLong):
        echo(pool)


def test_an_error_of_the_job_is_raised_as_it_was(pool: Children) -> None:
    with pytest.raises(InvalidInput) as refusal:
        pool.call({"do": "refuse"})
    assert (
        refusal.value.as_dict()
        == InvalidInput("not this", field="that", hint="something else").as_dict()
    )


def test_a_child_that_has_grown_is_replaced(pool: Children) -> None:
    grown = pool.call({"do": "grow for good"})
    assert echo(pool)[2] != grown
    assert not is_there(grown)


def test_what_a_library_prints_is_no_answer(pool: Children) -> None:
    pool.call({"do": "print"})
    assert echo(pool)[0] == "hello"


def test_a_child_writes_no_file_and_knows_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {"KB_EMBED_KEY", "PGPASSWORD", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"}
    for name in names:
        monkeypatch.setenv(name, "secret")
    pool = Children(JOB, Limits(10.0, 256))
    with pytest.raises(ChildFailed, match="OSError"):
        pool.call({"do": "write", "path": str(tmp_path / "file")})
    assert not names & set(pool.call({"do": "environment"}))
    pool.close_idle()


def test_threads_get_children_of_their_own() -> None:
    pool = Children(JOB, Limits(PATIENCE, 256, at_once=2))
    with ThreadPoolExecutor(6) as threads:
        found = list(threads.map(lambda number: echo(pool, str(number)), range(30)))
    assert [text for text, *_ in found] == [str(number) for number in range(30)]
    assert len({process for *_, process in found}) <= 2
    pool.close_idle()


def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    """Also in the middle of its work, and whatever way the parent goes."""
    program = tmp_path / "parent.py"
    program.write_text(
        f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\n"
        "from knowbase.process.child import Children, Limits\n"
        f"pool = Children({JOB!r}, Limits(1.0, 256))\n"
        "print(pool.call({'do': 'echo', 'text': ''})[2], flush=True)\n"
        "call = pool.begin({'do': 'backtrack'}) if sys.argv[1] == 'busy' else None\n"
        "print(flush=True); sys.stdin.read()\n"
    )
    for state in ("idle", "busy"):
        parent = subprocess.Popen(
            [sys.executable, str(program), state],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.stdout.readline()
        parent.send_signal(signal.SIGKILL)
        parent.communicate()
        wait_until_gone(child)
