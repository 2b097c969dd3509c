"""Part 5: damaged bases are noticed, and repaired without loss of what only they have. What does
it is `tests/damage.py`, beside the tests of `kb check` and `kb repair`."""

import random
import time

import damage
from campaign.part import Budget, Outcome, on_all_cores, shortly

BASES = 1_000
WRONG = ("unnoticed", "lost", "failures")  # of what `run` gives
AT_ONCE = 5  # bases between two looks at the clock


def complaints(result: damage.Counts) -> tuple[str, ...]:
    """What went wrong, by what it is called there."""
    return tuple(shortly(f"{name}: {one}") for name in WRONG for one in getattr(result, name))


def work(budget: Budget, seed: int) -> Outcome:
    aimed = {"damaged bases": budget.of(BASES)}
    chance, ends, done = random.Random(seed), budget.ends(), 0
    wrong: list[str] = []
    while done < aimed["damaged bases"] and time.monotonic() < ends:
        number = min(AT_ONCE, aimed["damaged bases"] - done)
        wrong += complaints(damage.run(chance.randrange(1 << 30), number))
        done += number
    return Outcome({"damaged bases": done}, aimed, tuple(wrong))


def run(budget: Budget, seed: int) -> Outcome:
    return on_all_cores(work, budget, seed)
