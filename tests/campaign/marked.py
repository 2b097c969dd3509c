"""The last part: tests that are marked `soak`, since they take too long for every run."""

import re
import subprocess
import sys

from campaign.part import TESTS, Budget, Outcome, shortly

MARK = "@pytest.mark.soak"
PATIENCE = 600.0


def run(budget: Budget, seed: int) -> Outcome:
    files = [str(one) for one in sorted(TESTS.rglob("test_*.py")) if MARK in one.read_text("utf-8")]
    if not files:
        return Outcome({"tests": 0})
    words = ("pytest", "-m", "soak", "-n", str(budget.cores), "--no-header", "--tb=line")
    done = subprocess.run(
        [sys.executable, "-m", *words, *files], cwd=TESTS.parent, capture_output=True, text=True,
        check=False, timeout=PATIENCE,
    )  # fmt: skip
    passed = re.search(r"(\d+) passed", done.stdout)
    wrong = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode and not wrong:
        wrong = [done.stdout[-200:]]
    return Outcome({"tests": int(passed[1]) if passed else 0}, wrong=tuple(map(shortly, wrong)))
