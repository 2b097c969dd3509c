"""How right the remaining time is that `kb add` shows, on folders of your own.

    python bench/progress.py [--cpu] FOLDER [FOLDER …]

Each folder is added to a new base; at every tenth of a second the time that the bar would show is
written down, and compared at the end with the time that it really took. What counts is the second
half of a run: the mean error as a share of what was left, where at least a twentieth of the run
was left (the last seconds have no share to speak of), which way it was off, and how often it was
within a quarter. With --cpu, time is what the processor gave to this program: on a machine that
others use, too, the wall clock measures them.
"""

import os
import sys
import tempfile
import time
from typing import NamedTuple

import knowbase
from knowbase.ingest.report import Progress
from knowbase.ingest.workload import Pace

CLOCK = time.process_time if "--cpu" in sys.argv else time.monotonic
FRAME = 0.1
TOLERANCE = 0.25
SHORTEST = 0.05  # of a run: what is left below it is not judged


class Moment(NamedTuple):
    """What the bar said, and when."""

    at: float
    left: float


def measured(folder: str) -> tuple[list[Moment], float]:
    """What was shown while the folder was added, and when the last file was done."""
    pace, shown = Pace(), [Moment(CLOCK(), float("nan"))]

    def watch(progress: Progress) -> None:
        now = CLOCK()
        left = pace.left(now, progress)
        if left is not None and now - shown[-1].at >= FRAME:
            shown.append(Moment(now, left))

    with tempfile.TemporaryDirectory() as place:
        os.environ["XDG_CACHE_HOME"] = place  # no vector is known before
        with knowbase.create(os.path.join(place, "base.db")) as base:
            base.add(folder, progress=watch)
    return shown, CLOCK()


def errors(shown: list[Moment], end: float) -> list[float]:
    """How far off it was over the second half, as shares of what was left."""
    start = shown[0].at
    whole = end - start
    judged = [one for one in shown[1:] if one.at - start >= whole / 2]
    pairs = [(one.left, end - one.at) for one in judged if end - one.at >= whole * SHORTEST]
    return [(said - left) / left for said, left in pairs]


def main() -> None:
    heads = f"{'mean error':>11} {'bias':>7} {'worst':>7} {'within 25 %':>12}"
    print(f"{'folder':<32} {'seconds':>8} {heads}")
    for folder in [one for one in sys.argv[1:] if one != "--cpu"] or ["docs"]:
        shown, end = measured(folder)
        found = errors(shown, end)
        name = os.path.basename(os.path.abspath(folder))[:32]
        if not found:
            print(f"{name:<32} {end - shown[0].at:8.1f}   too short to judge")
            continue
        off = [abs(one) for one in found]
        within = sum(one <= TOLERANCE for one in off) / len(found)
        mean, bias = sum(off) / len(off), sum(found) / len(found)
        print(
            f"{name:<32} {end - shown[0].at:8.1f} {mean:11.0%} {bias:+7.0%} {max(off):7.0%}"
            f" {within:12.0%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
