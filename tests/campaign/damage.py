"""Part 5: damaged bases are noticed, and repaired without loss of what only they have. What does
it is `tests/damage.py`, beside the tests of `kb check` and `kb repair`."""

import random
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

from campaign.part import Budget, Outcome, on_all_cores, shortly

BASES = 1_000
WRONG = ("unnoticed", "lost", "failures")  # of what `run` gives
AT_ONCE = 5  # bases between two looks at the clock


def damaging() -> Callable[[int, int], Any] | None:
    """`run(seed, number)`: damages so many bases, and says what became of them."""
    try:
        found: Callable[[int, int], Any] = import_module("damage").run
    except ImportError:
        return None
    return found


def complaints(result: Any) -> tuple[str, ...]:
    """What went wrong, by what it is called there."""
    return tuple(
        shortly(f"{name}: {one}") for name in WRONG for one in getattr(result, name, ()) or ()
    )


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
