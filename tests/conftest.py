"""What tests share: the `kb` command in a process of its own, and an indexed handbook."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import coverage
import pytest
from hypothesis import settings

import postgres
from knowbase.store.contract import Store
from stores import BACKENDS, MODEL

FIXTURES = Path(__file__).parent / "fixtures"
COMMAND = (sys.executable, "-m", "knowbase.cli")

# A script starts what runs in its background with Ctrl-C ignored, and every process inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A base is synced at every write: where memory can be written to as a disk, nobody waits for one.
MEMORY = "/dev/shm"
if "TMPDIR" not in os.environ and os.access(MEMORY, os.W_OK):
    place = os.statvfs(MEMORY)
    if place.f_bavail * place.f_frsize > 4 << 30 and not place.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = tempfile.tempdir = MEMORY

os.environ["KB_DAEMON"] = "off"  # no search leaves a process behind, unless a test wants that

settings.register_profile("patient", deadline=None)  # no test asserts a duration
settings.load_profile("patient")


class Result(NamedTuple):
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """A user's environment with no setting of ours but these."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KB_", "PYTHON", "LC_"))}
    for name in ("COLUMNS", "NO_COLOR", "EDITOR", "VISUAL"):
        kept.pop(name, None)
    return {**kept, "LC_ALL": "C.UTF-8", "TERM": "xterm", "KB_DAEMON": "off", **more}


def one_json(text: str) -> Any:
    """The one JSON document that a text is; NaN and Infinity are not JSON."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


class Kb(NamedTuple):
    """`kb` run in a folder."""

    folder: Path

    def __call__(
        self,
        *arguments: str | bytes | Path,
        code: int | None = 0,
        text: str | bytes = b"",
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        before: Callable[[], None] | None = None,
    ) -> Result:
        """Run it, expect the exit code (None: any); no traceback unless it was asked for."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=text.encode() if isinstance(text, str) else text,
            capture_output=True,
            cwd=cwd or self.folder,
            env=environment(**(env or {})),
            preexec_fn=before,
            timeout=60,
            check=False,
        )
        result = Result(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert code is None or result.code == code, result
        assert "--debug" in arguments or "Traceback" not in result.err, result
        return result

    def json(self, *arguments: str | bytes | Path, code: int = 0, **more: Any) -> Any:
        """What it prints with --json."""
        return one_json(self(*arguments, "--json", code=code, **more).out)

    def error(self, *arguments: str | bytes | Path, code: int, **more: Any) -> str:
        """The one line on standard error of a command that fails."""
        result = self(*arguments, code=code, **more)
        assert result.err.startswith("kb: "), result
        assert result.err.count("\n") == 1, result
        assert result.err.endswith("\n"), result
        return result.err.strip()

    def write(self, name: str, text: str | bytes) -> Path:
        """A file in the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    @property
    def base(self) -> Path:
        return self.folder / ".kb" / "base.db"

    def codes(self) -> set[str]:
        """The codes of the documents that `kb list` shows."""
        return {document["code"] for document in self.json("list")["documents"]}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test embeds for itself, and leaves the user's cache alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="session")
def handbook(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """The handbook, indexed once: only for tests that change nothing."""
    kb = Kb(tmp_path_factory.mktemp("handbook"))
    shutil.copytree(FIXTURES / "handbook", kb.folder / "handbook")
    kb("init")
    kb("add", "handbook")
    return kb


@pytest.fixture
def own_handbook(handbook: Kb, tmp_path: Path) -> Kb:
    """A copy of the indexed handbook, to be changed."""
    shutil.copytree(handbook.folder, tmp_path / "copy")
    return Kb(tmp_path / "copy")


@pytest.fixture
def kb(tmp_path: Path) -> Kb:
    """A new base in an empty folder."""
    kb = Kb(tmp_path / "here")
    kb.folder.mkdir()
    kb("init")
    return kb


@pytest.fixture(params=list(BACKENDS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store, of every kind in turn."""
    made = BACKENDS[request.param](tmp_path)
    made.use_model(MODEL)
    yield made
    made.close()


STORES = ("store", "postgres", "same_answers", "move", "saved", "soak", "campaign")
PAGE = ("browser", "bundle")
"""Words in the names of files whose tests hold a promise of a store, or of the page."""


CLUSTER = ("cluster",)
"""What is in no registry: said when it was not tested, and no failure."""


def skipped_store_tests(reporter: Any, *more: str) -> list[str]:
    """Tests of stores that were not run, each with the reason."""
    words = (*STORES, *PAGE, *more)
    return [
        f"{report.nodeid}: {report.longrepr[2]}"
        for report in reporter.stats.get("skipped", ())
        if any(word in Path(report.nodeid.partition("::")[0]).name for word in words)
    ]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What was not shown of the stores is said last, where it is seen."""
    skipped = skipped_store_tests(terminalreporter, *CLUSTER)
    if skipped:
        terminalreporter.section("tests of stores that were skipped")
        for line in skipped:
            terminalreporter.write_line(line)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """No server outlives the tests: a worker process runs no exit handlers. With
    KB_TEST_NO_SKIPS, a test of a store that was skipped has failed."""
    postgres.stop()
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if "KB_TEST_NO_SKIPS" in os.environ and reporter and skipped_store_tests(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


COUNTED = ("search", "query", "ranking", "contracts")  # what S4-23 wants run by tests


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Counting lines takes a third of the time: the test command counts while what a search is
    made of is tested, `dev.py coverage` always but in properties, which are tried hundreds of
    times and reach what examples reach."""
    is_property = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
    is_counted = "KB_TEST_COVERAGE" in os.environ or item.path.parent.name in COUNTED
    counting = None if is_counted and not is_property else coverage.Coverage.current()
    if counting is not None:
        counting.stop()
    try:
        return (yield)
    finally:
        if counting is not None:
            counting.start()
