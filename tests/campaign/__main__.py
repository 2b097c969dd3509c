"""Run the campaign: `python tests/campaign [--minutes N] [--seed S] [--write] [PART …]`."""

import argparse
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])  # not this folder: parts are a package

import pytest

import postgres
from campaign.part import CORES, MINUTES, Budget, Outcome, Run, complaint
from campaign.table import Row, table, write

WORKING = 0.95  # of the time; the rest is for what parts prepare and look at afterwards
SEED = 18


class Part(NamedTuple):
    """A part by its module, the share of all the time that it gets, and what it does."""

    name: str
    share: float
    about: str


PARTS = (
    Part("queries", 0.15, "texts of any kind as queries: parsed, and asked of both engines"),
    Part("kills", 0.12, "SIGKILL at a random moment; looked at, and the command repeated"),
    Part("writers", 0.14, "8 processes write to one base in every form, others read"),
    Part("files", 0.09, "spoilt and hostile files of every format, put in by kb add; fuzzing"),
    Part("damage", 0.08, "flipped, zeroed, swapped, cut-off pages: noticed and repaired"),
    Part("faults", 0.03, "disk full, I/O errors and no memory at every n-th operation"),
    Part("clients", 0.35, "32 clients of kb serve: searches, notes, reading, MCP; memory"),
    Part("isolation", 0.02, "every served operation asked for another project's text"),
    Part("slow", 0.01, "hundreds of unfinished connections beside clients who are answered"),
    Part("marked", 0.01, "tests that are marked as too long for every run"),
)


def run_of(part: Part) -> Run:
    run: Run = import_module(f"campaign.{part.name}").run
    return run


def ran(part: Part, minutes: float, seed: int) -> Row:
    """One part, whatever becomes of it."""
    budget = Budget(minutes / MINUTES, part.share * minutes * 60 * WORKING, CORES)
    started = time.monotonic()
    try:
        outcome = run_of(part)(budget, seed)
    except Exception as error:
        outcome = Outcome({}, wrong=(complaint("the part itself", error),))
    row = Row(part.name, part.about, outcome, time.monotonic() - started)
    print(f"{part.name}: {len(outcome.wrong)} wrong, {row.seconds:.0f} s", flush=True)
    for one in outcome.wrong:
        print(f"  {one}", flush=True)
    return row


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="dev.py soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="how long, at most about")
    parser.add_argument("--seed", type=int, default=SEED, help="what chance starts with")
    parser.add_argument("--write", action="store_true", help="put it into docs/reliability.md")
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(names)}")
    given = parser.parse_args()
    unknown = set(given.parts) - set(names)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}")
    return given


def main() -> int:
    given = arguments()
    print(f"seed {given.seed}, {given.minutes:g} minutes", flush=True)
    try:
        os.environ["KB_TEST_POSTGRES"] = postgres.server()  # one for the processes of all parts
    except pytest.skip.Exception as missing:
        sys.exit(str(missing))
    chosen = [part for part in PARTS if not given.parts or part.name in given.parts]
    try:
        rows = [ran(part, given.minutes, given.seed) for part in chosen]
    finally:
        postgres.stop()
    print(f"\n{table(rows)}")
    if given.write:
        write(rows, given.minutes, given.seed)
    return int(any(row.outcome.wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
