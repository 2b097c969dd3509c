"""Part 5: damaged bases are noticed, and repaired without loss of what only they have. What does
it is `tests/damage.py`, beside the tests of `kb check` and `kb repair`."""

import random
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from campaign.part import Budget, Outcome, on_all_cores, shortly

BASES = 1_000
AT_ONCE = 5  # bases between two looks at the clock


def damaging() -> Callable[[int, int], Any] | None:
    """`run(seed, number)`: damages so many bases, and gives what went wrong; None without it."""
    try:
        found: Callable[[int, int], Any] = import_module("damage").run
    except ImportError:
        return None
    return found


def complaints(result: Any) -> tuple[str, ...]:
    """What went wrong, whether it is told as a list or within an outcome."""
    return tuple(map(shortly, getattr(result, "wrong", result) or ()))


def work(budget: Budget, seed: int) -> Outcome:
    damage = damaging()
    aimed = {"damaged bases": budget.of(BASES)}
    if damage is None:
        return Outcome({}, aimed, left_out=("kb check and kb repair do not exist yet",))
    chance, ends, done = random.Random(seed), budget.ends(), 0
    wrong: list[str] = []
    while done < aimed["damaged bases"] and time.monotonic() < ends:
        number = min(AT_ONCE, aimed["damaged bases"] - done)
        wrong += complaints(damage(chance.randrange(1 << 30), number))
        done += number
    return Outcome({"damaged bases": done}, aimed, tuple(wrong))


def run(budget: Budget, seed: int) -> Outcome:
    return on_all_cores(work, budget, seed)
