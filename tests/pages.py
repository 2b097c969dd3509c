"""The pages of docs/ that are made from the code: `python3 dev.py docs` writes them."""

import ast
import re
import tomllib
from pathlib import Path

from knowbase.cli.commands import NAMES, load
from knowbase.cli.help import help_of
from knowbase.config import ABOUT, DEFAULTS, dotted

ROOT = Path(__file__).parent.parent
NUMBER = re.compile(r"\b(S[0-4]-\d\d|C\d{1,2})\b")


def requirements() -> dict[str, str]:
    return tomllib.loads((ROOT / "tests" / "requirements.toml").read_text(encoding="utf-8"))


def notes() -> dict[str, str]:
    """What differs on purpose, and why."""
    return tomllib.loads((ROOT / "tests" / "differences.toml").read_text(encoding="utf-8"))


def covered() -> dict[str, list[str]]:
    """The tests that name each requirement in their docstring, or in their module's."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        module = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(module):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                place = f"{path.relative_to(ROOT / 'tests')}::{node.name}"
                for number in sorted(set(NUMBER.findall(ast.get_docstring(node) or ""))):
                    found.setdefault(number, []).append(place)
    return found


def conformance() -> str:
    """docs/conformance.md."""
    tests, different = covered(), notes()
    lines = [
        "# Conformance",
        "",
        "Every requirement, and the tests that hold it (`pytest -k NAME` runs one). Written by",
        "`python3 dev.py docs` from the numbers that tests name in their docstrings.",
        "",
        "| | requirement | held by |",
        "|---|---|---|",
    ]
    for number, text in requirements().items():
        names = [f"`{place.split('::')[1]}`" for place in tests.get(number, [])]
        reason = [different[number]] if number in different else []
        shown = "<br>".join([*reason, *names]) or "not built yet"
        lines.append(f"| {number} | {text.replace('|', chr(92) + '|')} | {shown} |")
    done = sum(number in tests for number in requirements())
    lines += ["", f"{done} of {len(requirements())} requirements have tests."]
    return "\n".join(lines) + "\n"


def commands() -> str:
    """docs/commands.md."""
    parts = [
        "# Commands",
        "",
        "What `kb COMMAND --help` prints. Written by `python3 dev.py docs`.",
    ]
    for name in NAMES:
        parts += ["", f"## kb {name}", "", "```", help_of(load(name)), "```"]
    return "\n".join(parts) + "\n"


def settings_table() -> str:
    """The table in docs/settings.md."""
    lines = ["| setting | variable | default | |", "|---|---|---|---|"]
    for name, about in ABOUT.items():
        bounds = f" ({about.least:g} … {about.most:g})" if about.least is not None else ""
        default = getattr(DEFAULTS, name)
        shown = str(default).lower() if isinstance(default, bool) else str(default or "")
        shown = "0" if default == 0 and shown == "" else shown
        lines.append(f"| `{dotted(name)}` | `KB_{name.upper()}` | {shown} | {about.text}{bounds} |")
    return "\n".join(lines)


def settings_page(current: str) -> str:
    """docs/settings.md with its table renewed."""
    return re.sub(r"\| setting \|.*?(?=\n\n)", lambda _: settings_table(), current, flags=re.S)


def write() -> None:
    docs = ROOT / "docs"
    (docs / "conformance.md").write_text(conformance(), encoding="utf-8")
    (docs / "commands.md").write_text(commands(), encoding="utf-8")
    settings = docs / "settings.md"
    settings.write_text(settings_page(settings.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
