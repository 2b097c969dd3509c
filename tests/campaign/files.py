"""Part 4: spoilt and hostile files of every format are put in with `kb add`. Each is stored or
refused with a reason; none stops the rest, takes long or takes much memory."""

import json
import os
import random
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from campaign import fuzzing
from campaign.part import Budget, Outcome, complaint, on_all_cores, shortly
from campaign.soundness import assert_sound
from campaign.spoiling import hostile, seeds, spoilt
from conftest import COMMAND, environment

FILES = 10_000
BATCH = 100
LIMIT = 60.0  # seconds for one hostile file
LIMIT_OF_MANY = 240.0
MEMORY = 1_500 << 20  # bytes
SPOILING, HOSTILE, FUZZING = 0.4, 0.45, 0.15  # of the time of this part
GOOD = (0, 6)  # exit codes: all were read, or some could not be


class Ended(NamedTuple):
    """How a command ended, what it printed, and the most memory that it or a child took."""

    code: int
    out: str
    err: str
    memory: int


def add(folder: Path, limit: float) -> Ended:
    """`kb add` of the files in a folder, in a group of processes that ends with it."""
    with (folder / "out").open("w+b") as out, (folder / "err").open("w+b") as err:
        process = subprocess.Popen(
            [*COMMAND, "add", "files", "--defer", "--json", "--quiet"],
            cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
        status, memory = _waited(process.pid, limit)
        process.returncode = status
        out.seek(0)
        err.seek(0)
        return Ended(status, out.read().decode(), err.read().decode("utf-8", "replace"), memory)


def _waited(pid: int, limit: float) -> tuple[int, int]:
    """The exit code and the most memory of a process; it is killed when its time is over."""
    ends, memory = time.monotonic() + limit, 0
    while True:
        memory = max(memory, _peak(pid))
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), memory
        if time.monotonic() > ends:
            os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise TimeoutError(f"not done after {limit:.0f} s")
        time.sleep(0.01)


def _peak(pid: int) -> int:
    """The most memory so far of a process or a child of it. What wait4 tells begins with the
    memory of whoever started it."""
    peaks = [0]
    with suppress(OSError):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for one in (pid, *children):
            status = Path(f"/proc/{one}/status").read_text()
            peaks += [int(number) << 10 for number in re.findall(r"VmHWM:\s+(\d+)", status)]
    return max(peaks)


def check(folder: Path, names: set[str]) -> None:
    """Every file is accounted for."""
    ended = add(folder, LIMIT if len(names) == 1 else LIMIT_OF_MANY)
    assert "Traceback" not in ended.err, ended.err.strip().splitlines()[-1]
    assert ended.code in GOOD, f"exit code {ended.code}: {ended.err.strip()[-200:]}"
    report = json.loads(ended.out)
    told = {*report["added"], *(one["path"] for one in (*report["failed"], *report["skipped"]))}
    lost = names - {one.removeprefix("files/") for one in told}
    assert not lost, f"not a word on {sorted(lost)[:3]}"
    assert ended.memory < MEMORY, f"{ended.memory >> 20} MB of memory"


def put(folder: Path, files: Mapping[str, bytes]) -> None:
    (folder / ".kb").mkdir(parents=True)
    for name, data in files.items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    subprocess.run([*COMMAND, "init"], cwd=folder, env=environment(), check=True,
                   capture_output=True)  # fmt: skip


def tried(files: Mapping[str, bytes]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        put(folder, files)
        check(folder, {one for one in files if one != ".gitignore"})
        assert_sound(folder / ".kb" / "base.db")


def culprit(files: Mapping[str, bytes]) -> str:
    """The first of these files that is a problem alone, with how it begins."""
    for name, data in files.items():
        try:
            tried({name: data})
        except Exception as error:
            return f"{name} ({len(data)} bytes, {data[:60]!r}…): {error}"
    return "none of its files alone"


def spoil(budget: Budget, seed: int) -> Outcome:
    chance, known = random.Random(seed), seeds()
    ends, aim, done = budget.ends(), budget.of(FILES), 0
    wrong: list[str] = []
    while done < aim and time.monotonic() < ends:
        files = {}
        for number in range(min(BATCH, aim - done)):
            ending, data = spoilt(chance, known)
            files[f"{number:03}.{ending}"] = data
        try:
            tried(files)
        except Exception as error:
            wrong.append(shortly(f"{complaint('a batch', error)}; {culprit(files)}"))
        done += len(files)
    return Outcome({"spoilt files": done}, {"spoilt files": aim}, tuple(wrong))


def attack(budget: Budget, seed: int) -> Outcome:
    """Each hostile family alone, in an order of chance."""
    ends, done, wrong = budget.ends(), 0, []
    families = list(hostile(random.Random(seed)).items())
    random.Random(seed // 1000).shuffle(families)  # the same order in every process
    chosen = budget.own(families)
    for name, files in chosen:
        if time.monotonic() > ends:
            break
        try:
            tried(files)
        except Exception as error:
            wrong.append(complaint(name, error))
        done += 1
    return Outcome({"hostile files": done}, {"hostile files": len(chosen)}, tuple(wrong))


def run(budget: Budget, seed: int) -> Outcome:
    return (
        on_all_cores(spoil, budget.part(SPOILING), seed)
        + on_all_cores(attack, budget.part(HOSTILE), seed)
        + on_all_cores(fuzzing.run, budget.part(FUZZING), seed)
    )
