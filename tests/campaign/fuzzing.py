"""Coverage-guided fuzzing of the parsers: atheris where it is installed, hypothesis elsewhere.

Readers run here without the limits that `kb add` puts around them, so only what they raise counts.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from campaign.part import Budget, Outcome, child, shortly

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDINGS = ("md", "html", "py", "ts", "rs", "java", "cpp", "json", "txt", "pdf")
LONGEST = 4_096  # bytes of one input
PATIENCE = 60.0


def one_input(data: bytes) -> None:
    """The first byte chooses what reads the rest; only errors that are meant may come up."""
    from campaign.queries import MATCHES, check_meaning
    from knowbase.errors import ReadError
    from knowbase.read import read

    if not data:
        return
    choice, rest = data[0], data[1:]
    if choice % 4 == 0:
        check_meaning(rest.decode("utf-8", "surrogateescape"), MATCHES[choice // 4 % len(MATCHES)])
        return
    try:
        reading = read(f"a.{ENDINGS[choice % len(ENDINGS)]}", rest)
    except ReadError:
        return
    assert reading.title


@contextmanager
def corpus() -> "Iterator[str]":
    """A folder with something to begin with."""
    from campaign.queries import WRITTEN
    from campaign.spoiling import seeds

    with tempfile.TemporaryDirectory() as folder:
        inputs = [b"\0" + text.encode() for text in WRITTEN]
        numbers = {ENDINGS[n % len(ENDINGS)]: n for n in range(1, 40) if n % 4}
        inputs += [bytes([numbers[end]]) + data for end, data in seeds() if end in numbers]
        for number, data in enumerate(inputs):
            with open(os.path.join(folder, str(number)), "wb") as file:
                file.write(data[:LONGEST])
        yield folder


def main(seconds: str, seed: str, folder: str) -> None:
    """In a process of its own: atheris ends the process that it runs in."""
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["knowbase.read", "knowbase.query", "markdown_it"]):
        for name in ("campaign.queries", "knowbase.read.html", "knowbase.read.markdown"):
            import_module(name)
    options = [
        f"-max_total_time={seconds}", f"-seed={seed}", f"-max_len={LONGEST}", "-timeout=30",
        f"-artifact_prefix={folder}/", "-rss_limit_mb=2048", "-verbosity=0",
        "-print_final_stats=1",
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *options, folder], one_input)
    atheris.Fuzz()


def guided(budget: Budget, seed: int) -> Outcome:
    with corpus() as folder:
        command = child("fuzzing", max(1, round(budget.seconds)), seed % (1 << 31), folder)
        done = subprocess.run(
            command, capture_output=True, check=False, timeout=budget.seconds + PATIENCE
        )
    said = (done.stdout + done.stderr).decode("utf-8", "replace")
    runs = re.search(r"number_of_executed_units: (\d+)", said)
    wrong = () if done.returncode == 0 else (shortly(f"fuzzing: {_reason(said)}"),)
    return Outcome({"inputs by atheris": int(runs[1]) if runs else 0}, wrong=wrong)


def _reason(said: str) -> str:
    """The exception that ended it, or the last lines."""
    raised = re.findall(r"=== Uncaught Python exception: ===\n(.*)", said)
    return raised[0] if raised else said[-200:]


def by_hypothesis(budget: Budget, seed: int) -> Outcome:
    from hypothesis import HealthCheck, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    one_input(b"")  # what it imports has settings of its own for hypothesis
    done = 0

    @settings(
        max_examples=500, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: b"\1" + text.encode()))
    def try_one(data: bytes) -> None:
        nonlocal done
        one_input(data)
        done += 1

    ends = budget.ends()
    wrong: list[str] = []
    while time.monotonic() < ends and not wrong:
        try:
            seeded(seed)(try_one)()
        except Exception as error:
            wrong.append(shortly(f"fuzzing: {type(error).__name__}: {error}"))
        seed += 1
    return Outcome({"inputs by hypothesis": done}, wrong=tuple(wrong))


def run(budget: Budget, seed: int) -> Outcome:
    if find_spec("atheris") is not None:
        return guided(budget, seed)
    return by_hypothesis(budget, seed)
