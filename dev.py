"""Set up and run knowbase from a checkout, with nothing but Python.

python3 dev.py try     index the docs and the source of this project, and search them
python3 dev.py test    linters, type checks, layers and the whole test suite
python3 dev.py soak    the long-running tests
python3 dev.py docs    rewrite the generated pages of docs/
python3 dev.py seed    put the fixture entries into fixtures.db; --clear starts anew
"""

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
BIN = ENVIRONMENT / ("Scripts" if sys.platform == "win32" else "bin")


def run(*command: str) -> None:
    """Run a command of the virtual environment, and stop when it fails."""
    print("$", *command, flush=True)
    code = subprocess.run([str(BIN / command[0]), *command[1:]], cwd=ROOT, check=False).returncode
    if code:
        sys.exit(code)


def install(target: str) -> None:
    """Make the virtual environment when there is none, and bring its packages up to date."""
    if not (BIN / "python").exists():
        venv.create(ENVIRONMENT, with_pip=True)
    run("python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-e", target)


def try_it() -> None:
    install(".")
    run("kb", "init")
    run("kb", "add", "docs", "src/knowbase", "README.md")
    run("kb", "search", "what happens when a file is renamed", "--top", "3")


def test(*arguments: str) -> None:
    install(".[dev]")
    run("ruff", "check", ".")
    run("ruff", "format", "--check", ".")
    run("mypy")
    run("lint-imports")
    run("pytest", "-n", "2", *arguments)


def soak() -> None:
    test("-m", "soak")


def docs() -> None:
    install(".[dev]")
    run("python", "tests/pages.py")


def seed(*arguments: str) -> None:
    install(".[dev]")
    run("python", "tests/entries.py", "fixtures.db", *arguments)


if __name__ == "__main__":
    commands = {"try": try_it, "test": test, "soak": soak, "docs": docs, "seed": seed}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
