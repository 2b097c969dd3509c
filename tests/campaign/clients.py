"""Part 7: many clients of one `kb serve` at once, for long: all are answered, what they wrote is
there, and the server takes no more memory, files or threads than at the start."""

import http.client
import json
import random
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import knowbase
from campaign.part import Budget, Outcome, complaint, shortly
from campaign.soundness import assert_sound
from servers import PATIENCE, Served, serving, two_projects

CLIENTS = 32
WARM = (0.2, 0.4)  # of the time: what the server takes by then is what it may take
LAST = 0.8
GROWTH = 1.10  # allowed, and so much beside:
SLACK = 24 << 20
SHORTEST = 10.0  # seconds, to measure anything
SOON = 60.0  # seconds: in a shorter time a server has not settled
ACCEPT = "application/json, text/event-stream"
WORDS = ("engine", "rocket tests", "valves freeze", "launch window", "night shift", "telemetry")


class Sample(NamedTuple):
    """What the server and the processes that it has started take."""

    at: float
    memory: int
    files: int
    threads: int


class Client:
    """One of many: a connection of its own, and what it wrote last."""

    def __init__(self, address: str, number: int, seed: int) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
        self.number = number
        self.chance = random.Random(seed * 100 + number)
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.text: str | None = None

    @property
    def code(self) -> str:
        return f"C-{self.number}"

    def work(self, ends: float) -> None:
        while time.monotonic() < ends and len(self.wrong) < 20:
            act = self.chance.choice((self.search, self.search, self.get, self.note, self.tool))
            try:
                act()
                self.done[act.__name__] += 1
            except Exception as error:
                self.wrong.append(complaint(act.__name__, error))
                self.connection.close()
        self.connection.close()

    def search(self) -> None:
        query, mode = self.chance.choice(WORDS), self.chance.choice(("keyword", "hybrid"))
        self.post("/api/search", {"query": query, "mode": mode})

    def get(self) -> None:
        self.post("/api/get", {"reference": f"AP-{self.chance.randrange(1, 8)}"})

    def note(self) -> None:
        text = f"Note {self.chance.randrange(1000)} of client {self.number}"
        known = {"replace": self.code} if self.text else {"code": self.code}
        self.post("/api/note", {"text": text, **known})
        self.text = text

    def tool(self) -> None:
        name, arguments = self.chance.choice(
            (
                ("kb_search", {"query": self.chance.choice(WORDS)}),
                ("kb_get", {"reference": "AP-1"}),
                ("kb_brief", {"project": "apollo"}),
                ("kb_timeline", {"anchor": "AP-2"}),
            )
        )
        params = {"name": name, "arguments": arguments}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = self.post("/mcp", asked)
        assert not answer["result"].get("isError"), answer

    def post(self, path: str, values: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json", "Accept": ACCEPT}
        self.connection.request("POST", path, json.dumps(values), headers)
        response = self.connection.getresponse()
        body = response.read()
        assert response.status == 200, f"{response.status} {shortly(body)}"
        return json.loads(body)


def sample(pid: int, at: float) -> Sample:
    """What the process and its children take; as /proc tells."""
    total = Sample(at, 0, 0, 0)
    for one in _family(pid):
        status = dict(
            line.split(":", 1) for line in Path(f"/proc/{one}/status").read_text().splitlines()
        )
        total = Sample(
            at,
            total.memory + int(status["VmRSS"].split()[0]) * 1024,
            total.files + len(list(Path(f"/proc/{one}/fd").iterdir())),
            total.threads + int(status["Threads"]),
        )
    return total


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in _family(int(child)))]


def growth(samples: list[Sample], seconds: float) -> tuple[tuple[str, ...], str]:
    """What grew that should not have, and the numbers."""
    warm = [one for one in samples if WARM[0] <= one.at / seconds < WARM[1]]
    last = [one for one in samples if one.at / seconds >= LAST]
    if seconds < SHORTEST or not warm or not last:
        return (), "too short to measure memory"

    def middle(some: list[Sample], of: Callable[[Sample], int]) -> int:
        return round(statistics.median(map(of, some)))

    memory = [middle(some, lambda one: one.memory) for some in (warm, last)]
    files = [middle(some, lambda one: one.files) for some in (warm, last)]
    threads = [middle(some, lambda one: one.threads) for some in (warm, last)]
    told = (
        f"memory {memory[0] >> 20} → {memory[1] >> 20} MB, files {files[0]} → {files[1]},"
        f" threads {threads[0]} → {threads[1]}"
    )
    slack = SLACK if seconds >= SOON else 5 * SLACK
    grew = (
        memory[1] > memory[0] * GROWTH + slack
        or files[1] > files[0] + CLIENTS
        or threads[1] > threads[0] + 4
    )
    return ((f"it grew: {told}",) if grew else ()), told


def watch(pid: int, seconds: float) -> list[Sample]:
    """Samples for so many seconds."""
    started, samples = time.monotonic(), []
    while (at := time.monotonic() - started) < seconds:
        if Path("/proc/self/status").exists():
            samples.append(sample(pid, at))
        time.sleep(min(1.0, seconds / 40))
    return samples


def busy(server: Served, seconds: float, seed: int) -> Outcome:
    """All clients at work on a server."""
    clients = [Client(server.address, number, seed) for number in range(CLIENTS)]
    ends = time.monotonic() + seconds
    threads = [threading.Thread(target=one.work, args=(ends,)) for one in clients]
    for thread in threads:
        thread.start()
    samples = watch(server.process.pid, seconds)
    for thread in threads:
        thread.join()
    grew, told = growth(samples, seconds)
    done = Counter({f"{name} calls": 0 for name in ("search", "get", "note", "tool")})
    for client in clients:
        done.update({f"{name} calls": number for name, number in client.done.items()})
    complaints = [one for client in clients for one in client.wrong]
    wrong = (*complaints, *grew, *lost(server, clients))
    return Outcome({"clients": CLIENTS, **done}, {}, wrong, measured=(told,))


def lost(server: Served, clients: list[Client]) -> list[str]:
    """Notes that were acknowledged and are not there."""
    wrong = []
    for client in clients:
        if client.text is not None:
            told = server.post("get", reference=client.code)
            if told.status_code != 200 or client.text not in told.json().get("text", ""):
                wrong.append(shortly(f"note {client.code} is lost: {told.text}"))
    return wrong


def run(budget: Budget, seed: int) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        folder = two_projects(Path(name) / "base")
        with serving(folder) as server:
            outcome = busy(server, budget.seconds, seed)
            alive = server.client.get("/health").status_code == 200
            code = server.stop()
        wrong = [] if alive and code == 0 else [f"it was not well at the end: {alive}, {code}"]
        if "Traceback" in server.log.read_text():
            wrong.append("a traceback in its log")
        with knowbase.open(str(folder)) as base:
            assert_sound(Path(base.path))
        return outcome._replace(wrong=(*outcome.wrong, *wrong))
