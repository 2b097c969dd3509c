"""Set up and run knowbase from a checkout, with nothing but Python.

python3 dev.py try                  index the docs and the source of this project, and search them
python3 dev.py test                 linters, type checks, layers, all tests, coverage of search
python3 dev.py test PATH -k WORD    these tests alone: arguments go to pytest
python3 dev.py test --python 3.13   the tests with that Python
python3 dev.py test --lowest        the tests with the lowest versions that pyproject.toml allows
python3 dev.py pythons              the tests with every supported Python
python3 dev.py lint                 linters, type checks and layers
python3 dev.py coverage             all tests, and docs/coverage.md from what they ran
python3 dev.py soak                 the campaign: all that could take a base down, for 30 minutes
python3 dev.py soak --minutes 3     a smaller one; --seed S, --write, and the names of parts
python3 dev.py conformance          the official suite of the Model Context Protocol, by npm
python3 dev.py docs                 rewrite the generated pages of docs/
python3 dev.py page                 build the page from web/; --pictures renews those of docs/
python3 dev.py seed                 put the fixture entries into fixtures.db; --clear starts anew
python3 dev.py lock                 rewrite requirements/; --upgrade takes the newest versions
python3 dev.py audit                check the locked packages against known vulnerabilities
python3 dev.py release X.Y.Z        check a release and show its steps; --go takes them
"""

import datetime as dt
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent
PROJECT = ROOT / "pyproject.toml"
LOCKS = ROOT / "requirements"
VERSION = ROOT / "src" / "knowbase" / "__init__.py"
LOWEST = "3.11"  # the versions that are the lowest have no wheels for newer ones
RELEASE = re.compile(r"\d+\.\d+\.\d+")
SUITES = (
    "@modelcontextprotocol/conformance@0.1.16",
    "conformance-next@npm:@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "node@22",  # they need it, and a system may have an older one
)
UV = "uv==0.13.7"  # resolves what pip installs


class Environment(NamedTuple):
    """A virtual environment, the lock file that it follows and the Python that it is made with."""

    folder: Path
    lock: str
    python: str = sys.executable

    def program(self, name: str) -> str:
        return str(self.folder / ("Scripts" if sys.platform == "win32" else "bin") / name)

    def run(self, *command: str, **variables: str) -> None:
        """Run a program of the environment, and stop when it fails."""
        code = self.code_of(*command, **variables)
        if code:
            sys.exit(code)

    def code_of(self, *command: str, **variables: str) -> int:
        """The exit code of a program of the environment."""
        print("$", *command, flush=True)
        program = [self.program(command[0]), *command[1:]]
        return subprocess.run(program, cwd=ROOT, env=os.environ | variables, check=False).returncode

    def make(self) -> None:
        """Make the environment when there is none."""
        if not Path(self.program("python")).exists():
            subprocess.run([self.python, "-m", "venv", str(self.folder)], check=True)

    def pip(self, *arguments: str) -> None:
        quietly = ("--quiet", "--disable-pip-version-check")
        self.run("python", "-m", "pip", "install", *quietly, *arguments)

    def install(self) -> None:
        """Bring the environment up to date: what the lock file says, checked by hash, and the
        project itself. Nothing is done while neither changed."""
        self.make()
        lock = LOCKS / f"{self.lock}.lock"
        state = hashlib.sha256(lock.read_bytes() + PROJECT.read_bytes()).hexdigest()
        stamp = self.folder / f"{self.lock}.installed"
        if not stamp.exists() or stamp.read_text() != state:
            self.pip("--require-hashes", "-r", str(lock))
            # What builds the project is a tool of developers: pip fetches it for all others.
            isolated = () if self.lock == "run" else ("--no-build-isolation",)
            self.pip("--no-deps", *isolated, "-e", ".")
            stamp.write_text(state)


USING = Environment(ROOT / ".venv", "run")
DEVELOPING = Environment(ROOT / ".venv", "dev")


SEARCHING = ("search", "query", "ranking", "contracts")
"""What a search is made of: S4-23 wants more than 80 % of it run by tests."""


def try_it() -> None:
    USING.install()
    USING.run("kb", "init")
    USING.run("kb", "add", "docs", "src/knowbase", "README.md")
    USING.run("kb", "search", "what happens when a file is renamed", "--top", "3")


def test(*arguments: str) -> None:
    """Everything; or with arguments, the tests that they name and nothing before them."""
    environment, rest = chosen(arguments)
    environment.install()
    page_tools()
    if not arguments:
        lint()
        environment.run("pytest", "-n", "2", "--cov", "--cov-report=", "--cov-fail-under=0")
        includes = ",".join(f"src/knowbase/{package}/*" for package in SEARCHING)
        environment.run(
            "coverage", "report", "--format=total", "--fail-under=80", "--include", includes
        )
    else:
        environment.run("pytest", "-n", "2", *rest)


def chosen(arguments: tuple[str, ...]) -> tuple[Environment, tuple[str, ...]]:
    """The environment that the arguments ask for, and what they leave for pytest."""
    match arguments:
        case ("--python", version, *rest):
            python = interpreter(version) or sys.exit(f"Python {version} is not on this machine")
            return Environment(ROOT / ".venvs" / version, "dev", python), tuple(rest)
        case ("--lowest", *rest):
            python = interpreter(LOWEST) or sys.exit(f"Python {LOWEST} is not on this machine")
            return Environment(ROOT / ".venvs" / "lowest", "lowest", python), tuple(rest)
    return DEVELOPING, arguments


def pythons(*arguments: str) -> None:
    """The tests with every supported Python; one that is missing is a failure too."""
    results = {}
    for version in supported():
        python = interpreter(version)
        if python is None:
            results[version] = "not on this machine"
            continue
        environment = Environment(ROOT / ".venvs" / version, "dev", python)
        environment.install()
        failed = environment.code_of("pytest", "-n", "2", *arguments)
        results[version] = "failed" if failed else "passed"
    for version, result in results.items():
        print(f"Python {version}: {result}")
    sys.exit(any(result != "passed" for result in results.values()))


def supported() -> list[str]:
    """The Pythons that pyproject.toml names."""
    classifiers = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["classifiers"]
    return [one.split(" :: ")[-1] for one in classifiers if re.search(r":: 3\.\d+$", one)]


def interpreter(version: str) -> str | None:
    """A Python of this version: this one, one on the PATH, pyenv's or uv's."""
    return next((one for one in _interpreters(version) if _version_of(one) == version), None)


def _interpreters(version: str) -> Iterator[str]:
    yield sys.executable
    yield f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from map(str, sorted(pyenv.glob(f"versions/{version}.*/bin/python"), reverse=True))
    if uv := shutil.which("uv"):
        yield _output(uv, "python", "find", "--no-python-downloads", version)


def _version_of(python: str) -> str:
    return _output(python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])")


def _output(*command: str) -> str:
    """What a command prints; nothing when it cannot be run."""
    try:
        return subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def lint() -> None:
    DEVELOPING.install()
    DEVELOPING.run("ruff", "check", ".")
    DEVELOPING.run("ruff", "format", "--check", ".")
    DEVELOPING.run("mypy")
    DEVELOPING.run("lint-imports")


def coverage() -> None:
    """All tests, and docs/coverage.md from what they ran."""
    DEVELOPING.install()
    os.environ["KB_TEST_COVERAGE"] = "all"
    DEVELOPING.run("pytest", "-n", "2", "--cov", "--cov-report=json:.coverage.json")
    report = json.loads((ROOT / ".coverage.json").read_text(encoding="utf-8"))
    page = coverage_page(report, dt.date.today())
    (ROOT / "docs" / "coverage.md").write_text(page, encoding="utf-8")


def coverage_page(report: dict[str, Any], day: dt.date) -> str:
    """docs/coverage.md: the share of lines that ran, by package."""
    packages: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, file in report["files"].items():
        package = Path(name).relative_to("src/knowbase").parts[0].removesuffix(".py")
        packages[package][0] += file["summary"]["covered_lines"]
        packages[package][1] += file["summary"]["num_statements"]
    rows = [
        f"| `{package}` | {statements:,} | {100 * covered / statements:.1f} % |"
        for package, (covered, statements) in sorted(packages.items())
        if statements
    ]
    totals = report["totals"]
    ran, all_ = (sum(packages[one][at] for one in SEARCHING) for at in (0, 1))
    return "\n".join(
        [
            "# Coverage",
            "",
            f"The tests run {totals['percent_covered']:.1f} % of the statements of `src/knowbase`,",
            "in their own process; what runs in the processes that they start (`kb` itself,",
            f"servers, workers) is not counted. Measured on {day};",
            "`python3 dev.py coverage` renews this page.",
            "",
            f"Of what a search is made of ({', '.join(f'`{one}`' for one in SEARCHING)}) they run",
            f"{100 * ran / all_:.1f} %; `python3 dev.py test` fails below 80 % (S4-23).",
            "",
            "| package | statements | run by tests |",
            "|---|---|---|",
            *rows,
            f"| all | {totals['num_statements']:,} | {totals['percent_covered']:.1f} % |",
            "",
            "`python3 dev.py coverage` fails when it falls below `fail_under` in pyproject.toml.",
            "Raise that when the coverage has risen.",
            "",
        ]
    )


def soak(*arguments: str) -> None:
    """The campaign of tests/campaign; docs/reliability.md says what it does."""
    DEVELOPING.install()
    DEVELOPING.run("python", "tests/campaign", *arguments)


def conformance() -> None:
    """Its packages lie beside those of Python; the test is skipped where they do not."""
    DEVELOPING.install()
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is missing: it comes with Node.js")
    folder = str(DEVELOPING.folder / "conformance")
    subprocess.run([npm, "install", "--prefix", folder, "--no-save", *SUITES], check=True)
    DEVELOPING.run("python", "-m", "pytest", "-n", "0", "tests/agents/test_mcp_conformance.py")


def page_tools() -> None:
    """Node, its packages and a browser, where they can be had; what is missing is said."""
    subprocess.run([sys.executable, str(ROOT / "web" / "tools.py")], check=False)


def page(*options: str) -> None:
    """Build the page into src/knowbase/http/page/ui."""
    DEVELOPING.install()
    page_tools()
    DEVELOPING.run("python", "web/api_types.py")
    web = ROOT / "web"
    for command in (("node", "node_modules/typescript/bin/tsc", "--noEmit"), ("node", "build.mjs")):
        subprocess.run(command, cwd=web, check=True)
    if "--pictures" in options:
        DEVELOPING.run("python", "web/pictures.py")


def docs() -> None:
    DEVELOPING.install()
    DEVELOPING.run("python", "tests/pages.py")


def seed(*arguments: str) -> None:
    DEVELOPING.install()
    DEVELOPING.run("python", "tests/entries.py", "fixtures.db", *arguments)


def lock(*arguments: str) -> None:
    """Pin every package with the hashes of its files, for every platform and Python. What uses
    knowbase has the versions that it is developed with."""
    resolver = Environment(ROOT / ".venvs" / "lock", "")
    resolver.make()
    resolver.pip(UV)
    for name, options in {
        "dev": ("--extra", "dev"),
        "run": ("-c", "requirements/dev.lock"),
        "lowest": ("--extra", "dev", "--resolution", "lowest-direct"),
    }.items():
        resolver.run(
            "uv", "pip", "compile", "pyproject.toml", "-o", f"requirements/{name}.lock", *options,
            "--quiet", "--no-config", "--universal", "--python-version", supported()[0],
            "--generate-hashes", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links",
            "--no-strip-extras",  # pip takes a package with an extra for another one
            "--custom-compile-command", "python3 dev.py lock", *arguments,
        )  # fmt: skip


def audit() -> None:
    """Ask PyPI's advisories about every locked package. What cannot be asked about is a failure:
    without a network, nothing is known."""
    checker = Environment(ROOT / ".venvs" / "audit", "")
    checker.make()
    checker.pip("pip-audit")
    for name in ("run", "dev"):
        locked = f"requirements/{name}.lock"
        checker.run("pip-audit", "--strict", "--require-hashes", "--disable-pip", "-r", locked)


def release(version: str, *options: str) -> None:
    """Check that a release can be made, and make it with --go: a commit, a tag and a wheel."""
    section = changes_of(version)
    problems = [
        problem
        for problem, holds in {
            f"{version} is not a version such as 1.2.3": not RELEASE.fullmatch(version),
            "the working tree has changes that are not committed": _git("status", "--porcelain"),
            f"CHANGELOG.md has nothing under '## {version}'": not section,
            f"the tag v{version} exists": _git("tag", "--list", f"v{version}"),
        }.items()
        if holds
    ]
    if problems:
        sys.exit("\n".join(problems))
    print(f"version {version}, commit, tag v{version}, wheel in dist/:\n\n{section}")
    if "--go" not in options:
        print("\nNothing was changed: add --go to do this.")
        return
    source = VERSION.read_text(encoding="utf-8")
    changed = re.sub(r'(?m)^__version__ = ".*"$', f'__version__ = "{version}"', source)
    if changed != source:
        VERSION.write_text(changed, encoding="utf-8")
        _git("commit", "--quiet", "--all", "--message", f"Release {version}")
    _git("tag", "--annotate", f"v{version}", "--message", f"knowbase {version}\n\n{section}")
    DEVELOPING.install()
    build = ("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", ".")
    DEVELOPING.run("python", "-m", "pip", *build)


def changes_of(version: str) -> str:
    """What CHANGELOG.md says of a version."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    pattern = rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)"
    section = re.search(pattern, text, flags=re.M | re.S)
    return section[1].strip() if section else ""


def _git(*arguments: str) -> str:
    """What git prints; a failure of git ends everything."""
    command = ["git", *arguments]
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout


COMMANDS: dict[str, Callable[..., None]] = {
    "try": try_it,
    "test": test,
    "pythons": pythons,
    "lint": lint,
    "coverage": coverage,
    "soak": soak,
    "conformance": conformance,
    "docs": docs,
    "page": page,
    "seed": seed,
    "lock": lock,
    "audit": audit,
    "release": release,
}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[1]](*sys.argv[2:])
