"""docs/conformance.md: every requirement, whether it holds, and which tests show it."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

from surfaces import ORDER, surfaces_of

TESTS = Path(__file__).parent
TESTED = ast.FunctionDef | ast.AsyncFunctionDef
NUMBER = re.compile(r"\b(S[0-4]-\d\d|C\d{1,2})\b")
KEY = {
    "S0": "typed knowledge: decisions, lessons and summaries, searched by plain functions",
    "S1": "`kb search`: hybrid search of files and notes on the command line",
    "S2": "memory: what agents remember, with sectors, sessions and time, as a service",
    "S3": "the query language: tags, structure, meaning and the graph of documents",
    "S4": "entries: what a team's agents ask for with `kb_search`, from PostgreSQL",
    "C": "choices: what holds where those five differ or leave something open",
}
"""What the letters of a requirement's number stand for: five documents, and what ties them."""


class Trial(NamedTuple):
    """A test that names a requirement."""

    name: str
    surfaces: tuple[str, ...]  # that it goes through; none: it looks inside


def requirements() -> dict[str, str]:
    return tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))


def notes() -> dict[str, str]:
    """What differs on purpose, and why."""
    return tomllib.loads((TESTS / "differences.toml").read_text(encoding="utf-8"))


@cache
def covered() -> dict[str, list[Trial]]:
    """The tests that name each requirement in their docstring."""
    found: dict[str, list[Trial]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, TESTED) and node.name.startswith("test_"):
                numbers = set(NUMBER.findall(ast.get_docstring(node) or ""))
                trial = Trial(node.name, surfaces_of(path, node.name) if numbers else ())
                for number in sorted(numbers):
                    found.setdefault(number, []).append(trial)
    return found


def unshown() -> set[str]:
    """The requirements that no test shows through a surface."""
    tests = covered()
    return {one for one in requirements() if not any(t.surfaces for t in tests.get(one, ()))}


def conformance() -> str:
    """docs/conformance.md."""
    tests, different, missing = covered(), notes(), unshown()
    lines = [
        "# Conformance",
        "",
        "Every requirement, whether it holds, through which surfaces that is tried, and the tests",
        "(`pytest -k NAME` runs one). Written by `python3 dev.py docs` from the numbers that tests",
        "name in their docstrings; a test that only looks inside shows nothing, and its name",
        "stands in brackets.",
        "",
        "| numbers | are about |",
        "|---|---|",
        *(f"| {letters} | {text} |" for letters, text in KEY.items()),
        "",
        "| | requirement | holds | through | shown by |",
        "|---|---|---|---|---|",
    ]
    for number, text in requirements().items():
        trials = tests.get(number, [])
        reached = {surface for trial in trials for surface in trial.surfaces}
        through = ", ".join(surface for surface in ORDER if surface in reached)
        shown = "<br>".join([*_reason(different.get(number)), *map(_shown, trials)])
        holds = "not yet" if number in missing else "yes"
        text = text.replace("|", "\\|")
        lines.append(f"| {number} | {text} | {holds} | {through} | {shown} |")
    total = len(requirements())
    lines += ["", f"{total - len(missing)} of {total} requirements are shown through a surface."]
    return "\n".join(lines) + "\n"


def _reason(difference: str | None) -> list[str]:
    return [f"*Differs:* {difference}"] if difference else []


def _shown(trial: Trial) -> str:
    return f"`{trial.name}`" if trial.surfaces else f"(`{trial.name}`)"
