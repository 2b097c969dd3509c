"""`kb serve` in a process of its own, and a base with two projects to serve."""

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

import knowbase
from conftest import COMMAND, environment, one_json
from knowbase import Base, Note

PATIENCE = 60.0  # seconds until something that must happen counts as not happening
DAY = 86_400
SECRET = "quasarmark"  # a word that only the other project's documents have


class Served(NamedTuple):
    """A running server, a client of it, and where it logs to."""

    client: httpx.Client
    process: "subprocess.Popen[str]"
    address: str
    log: Path

    def post(self, name: str, /, **values: Any) -> httpx.Response:
        return self.client.post(f"/api/{name.replace(' ', '/')}", json=values)

    def json(self, name: str, /, **values: Any) -> Any:
        """The result of an operation that works."""
        response = self.post(name, **values)
        assert response.status_code == 200, response.text
        return one_json(response.text)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def serving(
    folder: Path,
    *arguments: str,
    env: Mapping[str, str] | None = None,
    token: str = "",
    before: Callable[[], object] | None = None,
) -> Iterator[Served]:
    """Serve the base of a folder, on a free port unless one is given, and stop the server in
    the end. `before` is called in its process before it starts."""
    log = folder / "serve.log"
    port = () if "--port" in arguments else ("--port", "0")
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*COMMAND, "serve", "--json", *port, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
            env=environment(**{"KB_SERVE_CYPHER": "true", **(env or {})}),
            preexec_fn=before,
        )
    try:
        address = _announced(process)["address"].replace("0.0.0.0", "127.0.0.1")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with httpx.Client(base_url=address, headers=headers, timeout=PATIENCE) as client:
            yield Served(client, process, address, log)
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()


def _announced(process: "subprocess.Popen[str]") -> Any:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line == "}\n":
            return one_json("".join(lines))
    raise AssertionError("the server ended before it said where it is")


def two_projects(folder: Path) -> Path:
    """A folder with a base of two projects."""
    folder.mkdir(parents=True)
    fill(str(folder))
    return folder


def fill(place: str) -> None:
    """What apollo and zeus know, tied together as far as documents can be."""
    with knowbase.create(place) as base:
        base.sessions.start("s-ap", "apollo")
        base.sessions.start("s-ze", "zeus")
        for number, text in enumerate(TEXTS, start=1):
            _remember(base, f"AP-{number}", text, "apollo", "s-ap")
            secret = f"{text} Our {SECRET} moonrover does so too, see AP-1."
            _remember(base, f"ZE-{number}", secret, "zeus", "s-ze")
        base.relate("AP-2", "ZE-1")
        base.relate("AP-2", "AP-1")
        base.lifecycle.supersede("AP-4", "ZE-2")
        base.lifecycle.forget(["ZE-5"])
        base.sessions.end("s-ze", f"We hid the {SECRET}")
        base.feedback("AP-3", "good", "s-ze")
        base.saved.add("engines", f"{{what}} NOT {SECRET}")
        base.saved.add("unwanted", "engine")
        base.synonyms.add(["tap", "spigot"])
    with Base(base.path, clock=lambda: time.time() - 9 * DAY) as base:
        for code, project in (("AP-9", "apollo"), ("ZE-9", "zeus")):
            told = f"It was here for a day{' only: ' + SECRET if project == 'zeus' else ''}."
            note = Note(told, code=code, project=project, expires_at="2026-01-01")
            base.remember(note)


def _remember(base: Base, code: str, text: str, project: str, session: str) -> None:
    parent = f"{code[:2]}-1" if code.endswith(("2", "3")) else None
    tags = ("engine", "test", *((SECRET,) if project == "zeus" else ()))
    kind = "lesson" if code.endswith("3") else "decision"
    base.remember(
        Note(text, code=code, project=project, session=session, parent=parent, tags=tags, type=kind)
    )


TEXTS = (
    "The rocket engine burns kerosene with liquid oxygen; ZE-1 and AP-2 tell more.",
    "Tests of the engine run on Tuesdays, see [[AP-1]] and [[ZE-2]].",
    "Lesson: valves freeze when the countdown stops for more than an hour.",
    "The launch window is in May, and the crew trains in the desert.",
    "Parachutes are folded twice before each flight, by two people.",
    "Mission control has three shifts; the night shift writes the report.",
    "Telemetry is kept for a year on two continents.",
)


def wait_until(happened: Callable[[], bool]) -> None:
    """Look again and again, but not for ever."""
    end = time.monotonic() + PATIENCE
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
