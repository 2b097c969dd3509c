"""Cold processes, on a base of 1,000 documents.

Keyword: `kb search deploy --fts-only` against `python -c "import apsw"`, the least that a
program with this database can take.

Hybrid: `kb search deploy` against loading the model: importing numpy, onnxruntime and
tokenizers, making tokenizer and session, and embedding one word, measured inside a child
that does nothing else. "All else" is the process without that: the interpreter's start and
end, knowbase, the database and the output.

CPU: user and system time of the same processes, and of `kb mcp` until it has answered a
client's first message, against `import apsw`. It depends less on what else the machine does.

What runs is a wheel of this checkout, installed with pip into a new virtual environment:
only then are all modules compiled, as they are for those who use them.
"""

import json
import os
import resource
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import corpus
from corpus import Clustered, Shape
from knowbase.embed.granite import Granite
from measure import (
    Row,
    arguments,
    differences,
    interleaved,
    milliseconds,
    ratios,
    report,
    seconds,
)

PROJECT = Path(__file__).resolve().parent.parent
STARTING = 5.0  # seconds for the process that is left behind to have loaded all
DOCUMENTS, SHAPE = 1000, Shape(sections=4, words=90)
LOADING = """
import time
started = time.perf_counter()
from knowbase.embed.granite import Granite
Granite().embed_query("deploy")
print(time.perf_counter() - started)
"""


HELLO = (
    json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "cold", "version": "1"},
            },
        }
    ).encode()
    + b"\n"
)


def _of_children(work: Callable[[], object]) -> float:
    """The CPU seconds of the processes that are started and ended meanwhile."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Installed(NamedTuple):
    """Where a virtual environment has its programs, and the folder to run them in."""

    programs: Path
    home: Path

    def run(self, program: str, *given: str, **more: str) -> str:
        """What a program prints."""
        done = subprocess.run(
            [str(self.programs / program), *given],
            cwd=self.home,
            env={**_environment(), **more},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout

    def timed(self, program: str, *given: str, **more: str) -> Callable[[], float]:
        return lambda: seconds(lambda: self.run(program, *given, **more))

    def worked(self, program: str, *given: str, **more: str) -> Callable[[], float]:
        """The CPU time that it takes."""
        return lambda: _of_children(lambda: self.run(program, *given, **more))

    def greeted(self) -> float:
        """The CPU time that `kb mcp` takes until it has answered `initialize`."""

        def greet() -> None:
            process = subprocess.Popen(
                [str(self.programs / "kb"), "mcp"],
                cwd=self.home,
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(HELLO)
            process.stdin.flush()
            assert b"protocolVersion" in process.stdout.readline()
            process.kill()
            process.communicate()

        return _of_children(greet)


def _environment() -> dict[str, str]:
    """Without what would change Python or knowbase, and with every query embedded anew."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KB_"))
    }
    return {**kept, "KB_EMBED_CACHE_MB": "0", "KB_DAEMON": "off"}


def install(folder: Path, home: Path) -> Installed:
    """A new virtual environment with a wheel of this checkout."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")
    installed = Installed(programs, home)
    pip = ("-m", "pip", "-qq", "--disable-pip-version-check")
    wheels = folder / "wheels"
    installed.run("python", *pip, "wheel", "--no-deps", "--wheel-dir", str(wheels), str(PROJECT))
    installed.run("python", *pip, "install", *map(str, wheels.glob("*.whl")))
    return installed


def fill(folder: Path) -> Path:
    """A folder with a base of made-up documents."""
    home = folder / "home"
    tree = corpus.write_tree(home / "articles", DOCUMENTS, SHAPE)
    with corpus.new_base(home, Clustered(Granite())) as base:
        base.add([str(tree)])
    return home


def keyword(installed: Installed, rounds: int) -> list[Row]:
    """A search that needs no model, against importing the database's driver."""
    taken = interleaved(
        rounds,
        {
            "nothing": installed.timed("python", "-c", "pass"),
            "apsw": installed.timed("python", "-c", "import apsw"),
            "search": installed.timed("kb", "search", "deploy", "--fts-only"),
        },
    )
    return [
        Row("python -c pass", milliseconds(taken["nothing"]), "ms"),
        Row("python -c 'import apsw'", milliseconds(taken["apsw"]), "ms"),
        Row("keyword: kb search --fts-only", milliseconds(taken["search"]), "ms"),
        Row("keyword: ratio", ratios(taken["search"], taken["apsw"]), "", "at most 3.0"),
    ]


def hybrid(installed: Installed, rounds: int) -> list[Row]:
    """A search that needs the model, against loading the model."""
    taken = interleaved(
        rounds,
        {
            "model": lambda: float(installed.run("python", "-c", LOADING)),
            "search": installed.timed("kb", "search", "deploy"),
            "again": installed.timed("kb", "search", "deploy", **_caching(installed.home)),
        },
    )
    rest = differences(taken["search"], taken["model"])
    return [
        Row("hybrid: loading the model", milliseconds(taken["model"]), "ms"),
        Row("hybrid: kb search", milliseconds(taken["search"]), "ms"),
        Row("hybrid: all else", milliseconds(rest), "ms", "under 100 ms"),
        Row("hybrid: a query asked before", milliseconds(taken["again"]), "ms"),
    ]


def cpu(installed: Installed, rounds: int) -> list[Row]:
    """What each process costs, whatever else the machine does."""
    caching = _caching(installed.home)
    left = {"KB_DAEMON": "on", "XDG_RUNTIME_DIR": str(installed.home)}
    installed.run("kb", "search", "deploy", **left)
    time.sleep(STARTING)
    taken = interleaved(
        rounds,
        {
            "apsw": installed.worked("python", "-c", "import apsw"),
            "keyword": installed.worked("kb", "search", "deploy", "--fts-only"),
            "hybrid, a new query": installed.worked("kb", "search", "deploy"),
            "hybrid, a query asked before": installed.worked("kb", "search", "deploy", **caching),
            "hybrid, by the process left behind": installed.worked(
                "kb", "search", "deploy", **left
            ),
            "kb mcp, the first answer": installed.greeted,
        },
    )
    installed.run("kb", "daemon", "stop", **left)
    goals = {
        "hybrid, a new query": "at most 200 ms",
        "hybrid, by the process left": "at most 60 ms",
        "kb mcp, the first answer": "at most 400 ms",
    }
    rows = []
    for name, values in taken.items():
        rows += [Row(f"CPU: {name}", milliseconds(values), "ms", goals.get(name, ""))]
        rows += [Row(f"CPU: {name} / apsw", ratios(values, taken["apsw"]))]
    return rows


def _caching(home: Path) -> dict[str, str]:
    return {"KB_EMBED_CACHE_MB": "64", "XDG_CACHE_HOME": str(home / "cache")}


def main() -> None:
    given = arguments(__doc__, rounds=25)
    with TemporaryDirectory() as name:
        installed = install(Path(name), fill(Path(name)))
        hybrid(installed, 2)  # what is read from disk stays in memory from here on
        rows = keyword(installed, 3 * given.rounds) + hybrid(installed, given.rounds)
        rows += cpu(installed, given.rounds)
    report("cold", rows, as_json=given.json)


if __name__ == "__main__":
    main()
