"""What every part of the campaign has in common: how much it may do, and what it reports."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple, TypeVar

Thing = TypeVar("Thing")
TESTS = Path(__file__).resolve().parents[1]
CORES = 2
MINUTES = 30.0  # of a whole campaign
MOST_SHOWN = 300  # letters of one complaint


class Budget(NamedTuple):
    """How large a part is: a share of the full number, and the seconds that it may take."""

    share: float
    seconds: float
    cores: int = 1
    worker: int = 0  # which of the processes that share the work
    workers: int = 1

    def of(self, number: int) -> int:
        """This share of a number, but something."""
        return max(1, round(number * self.share))

    def own(self, things: Sequence[Thing]) -> Sequence[Thing]:
        """Those of all things that this process sees to, as many as its share is."""
        all_of_mine = things[self.worker :: self.workers]
        return all_of_mine[: max(1, round(len(all_of_mine) * self.share * self.workers))]

    def ends(self) -> float:
        """The moment when no more is begun."""
        return time.monotonic() + self.seconds

    def part(self, of_time: float) -> "Budget":
        """As much work in a part of the time."""
        return self._replace(seconds=self.seconds * of_time)


class Outcome(NamedTuple):
    """What was done, by name, of how much, and what went wrong."""

    done: Mapping[str, int]
    aimed: Mapping[str, int] = {}
    wrong: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()

    def __add__(self, other: object) -> "Outcome":
        assert isinstance(other, Outcome)
        return Outcome(
            dict(Counter(self.done) + Counter(other.done)),
            dict(Counter(self.aimed) + Counter(other.aimed)),
            (*self.wrong, *other.wrong),
            tuple(dict.fromkeys((*self.measured, *other.measured))),
        )


NOTHING = Outcome({})

Run = Callable[[Budget, int], Outcome]


def together(outcomes: Iterable[Outcome]) -> Outcome:
    total = NOTHING
    for one in outcomes:
        total += one
    return total


def on_all_cores(run: Run, budget: Budget, seed: int) -> Outcome:
    """The same part in a process for each core, each with its share of the work and a seed of
    its own; with one core, here."""
    if budget.cores == 1:
        return run(budget, seed)
    number = budget.cores
    each = budget._replace(share=budget.share / number, cores=1, workers=number)
    budgets = [each._replace(worker=worker) for worker in range(number)]
    seeds = [seed * 1000 + worker for worker in range(number)]
    with ProcessPoolExecutor(number, mp_context=get_context("spawn")) as pool:
        return together(pool.map(run, budgets, seeds))


def child(module: str, *arguments: object) -> list[str]:
    """The command that runs the `main` of a module of the campaign, in any folder."""
    code = (
        f"import sys; sys.path.insert(0, {str(TESTS)!r});"
        f" from campaign.{module} import main; main(*sys.argv[1:])"
    )
    return [sys.executable, "-c", code, *map(str, arguments)]


def shortly(what: object) -> str:
    """One line that says what went wrong, of a length that can be read."""
    text = " ".join(str(what).split())
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def complaint(where: object, error: BaseException) -> str:
    """Where an exception came up, and what it says."""
    return shortly(f"{where}: {type(error).__name__}: {error}")
