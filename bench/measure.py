"""Timing and printing: what is compared is interleaved, for the machine is never quiet."""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple


class Row(NamedTuple):
    """One line of the table: the median of the values is shown, and their range."""

    name: str
    values: Sequence[float]
    unit: str = ""
    goal: str = ""


class Arguments(NamedTuple):
    """What every benchmark takes."""

    rounds: int
    json: bool
    models: tuple[str, ...] = ()


def arguments(about: str | None, rounds: int, *, models: bool = False) -> Arguments:
    """The command line of a benchmark."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=rounds, help=f"how often ({rounds})")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    if models:
        parser.add_argument("models", nargs="*", help="further models, as for kb embed --model")
    given = parser.parse_args()
    return Arguments(max(1, given.rounds), given.json, tuple(getattr(given, "models", ())))


def seconds(work: Callable[[], object]) -> float:
    """How long it takes to do something."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def cpu(work: Callable[[], object]) -> float:
    """The CPU seconds of this process that something takes."""
    started = time.process_time()
    work()
    return time.process_time() - started


def interleaved(rounds: int, tasks: Mapping[str, Callable[[], float]]) -> dict[str, list[float]]:
    """What each task says it took: one of each a round, every other round backwards."""
    taken: dict[str, list[float]] = {name: [] for name in tasks}
    for number in range(rounds):
        for name in list(tasks)[:: 1 if number % 2 == 0 else -1]:
            taken[name].append(tasks[name]())
    return taken


def ratios(above: Sequence[float], below: Sequence[float]) -> list[float]:
    """Round by round, so that a slow moment of the machine is on both sides."""
    return [one / other for one, other in zip(above, below, strict=True)]


def differences(whole: Sequence[float], part: Sequence[float]) -> list[float]:
    return [one - other for one, other in zip(whole, part, strict=True)]


def milliseconds(values: Sequence[float]) -> list[float]:
    return [value * 1000 for value in values]


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that so many percent of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-len(ordered) * percent // 100) - 1)]


def report(name: str, rows: Sequence[Row], *, as_json: bool) -> None:
    """Print the results for a person, or as one JSON object."""
    if as_json:
        results = {row.name: _described(row) for row in rows}
        print(json.dumps({"benchmark": name, "results": results}, indent=2))
        return
    wide = max(len(row.name) for row in rows)
    for row in rows:
        low, high = min(row.values), max(row.values)
        spread = f"{low:.4g} … {high:.4g}" if len(row.values) > 1 else ""
        shown = f"{median(row.values):>8.4g} {row.unit}"
        print(f"{row.name:<{wide}}  {shown:<20}  {spread:<20}  {row.goal}".rstrip())


def _described(row: Row) -> dict[str, object]:
    return {
        "value": median(row.values),
        "low": min(row.values),
        "high": max(row.values),
        "unit": row.unit,
        "goal": row.goal,
    }
