"""`kb serve` under load: 32 clients that ask without a pause, on a base of 10,000 chunks.

The server is a process of its own, with its default settings; each client keeps one connection
and asks different hybrid searches, every 50th time it writes a memory instead. Beside it, in
turns and on the same base, the same searches and memories in one process without HTTP, by as many
threads as the server has workers: what is left between the two is JSON, HTTP and the clients,
which share the machine with the server.

Memory is the server's resident set, after the first searches and at the end.

Beside times, which say little on a busy machine: requests a CPU second, of the server with all its
processes and of the library in one thread; and p95 with all clients against one client alone.
Clients that never pause wait for each other, however fast the server is: as many as there are,
divided by the cores. So a last part has them pause: together they ask half as often as the server
answered without a pause, evenly, and a request that waits does not hold up the next client's.
`--workers 1 2 4` runs the whole for each number of processes that search (`kb serve --workers`).
"""

import argparse
import http.client
import itertools
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import corpus
from corpus import Clustered, Shape
from knowbase.base import Base
from knowbase.config import DEFAULTS
from knowbase.embed.granite import Granite
from knowbase.search.request import SearchRequest
from measure import Row, percentile, ratios, report

DOCUMENTS, SHAPE = 2000, Shape(sections=5, words=90)
CLIENTS = 32
WRITES_EVERY = 50
QUERIES = corpus.queries(500)
WARM_UP = 3.0  # seconds
ROUNDS = 6
NUMBERS = itertools.count(1)  # of requests: of short parts, too, one in so many writes
OFFERED = 0.5  # of what the server can answer, by clients that pause
HEADERS = {"Content-Type": "application/json"}


class Load(NamedTuple):
    """What came of asking for a while."""

    seconds: float
    times: list[float]
    errors: list[str]
    cpu: float = 0.0  # seconds, of whoever answered

    @property
    def a_cpu_second(self) -> float:
        return len(self.times) / self.cpu

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds


def under_load(
    asking: Callable[[], Callable[[int], str]],
    threads: int,
    seconds: float,
    every: float = 0.0,
) -> Load:
    """Every thread asks, one question after the other, until the time is over; with `every`, one
    each so many seconds, the threads one after the other."""
    times: list[float] = []
    errors: list[str] = []
    end = time.perf_counter() + seconds

    def client(place: int) -> None:
        ask = asking()
        due = time.perf_counter() + every * place / threads
        while time.perf_counter() < end:
            if every:
                time.sleep(max(0.0, due - time.perf_counter()))
                due += every
            started = time.perf_counter()
            error = ask(next(NUMBERS))
            times.append(time.perf_counter() - started)
            if error:
                errors.append(error)

    started = time.perf_counter()
    running = [threading.Thread(target=client, args=(place,)) for place in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return Load(time.perf_counter() - started, times, errors)


def by_http(port: int) -> Callable[[int], str]:
    """A client with a connection of its own; what it returns is an error, or nothing."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.connect()

    def ask(number: int) -> str:
        path, body = "/api/search", {"query": QUERIES[number % len(QUERIES)]}
        if number % WRITES_EVERY == 0:
            path, body = "/api/remember", {"text": f"Under load, number {number} was remembered"}
        connection.request("POST", path, json.dumps(body), HEADERS)
        response = connection.getresponse()
        text = response.read()
        return "" if response.status == 200 else f"{response.status} {text[:200]!r}"

    return ask


def in_process(base: Base) -> Callable[[int], str]:
    def ask(number: int) -> str:
        if number % WRITES_EVERY == 0:
            base.remember(f"In process, number {number} was remembered at {time.time()}")
        else:
            base.search(SearchRequest(QUERIES[number % len(QUERIES)]))
        return ""

    return ask


def cpu_of(process: int) -> float:
    """What a process and those that it has started have computed, in seconds."""
    times, parents = {}, {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = place.read_text().rpartition(")")[2].split()
            parents[int(place.parent.name)] = int(fields[1])
            times[int(place.parent.name)] = int(fields[11]) + int(fields[12])
    own = [one for one in times if one == process or parents[one] == process]
    return sum(times[one] for one in own) / os.sysconf("SC_CLK_TCK")


class Server(NamedTuple):
    port: int
    process: int


@contextmanager
def served(folder: Path, workers: int) -> Iterator[Server]:
    """A server for the base of a folder."""
    command = [sys.executable, "-m", "knowbase.cli", "serve", "--port", "0", "--json"]
    command += ["--workers", str(workers)]
    with (
        Path(folder, "log").open("w") as log,
        subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            lines = itertools.takewhile(lambda line: line != "}\n", process.stdout)
            address = json.loads("".join(lines) + "}")["address"]
            yield Server(int(address.rpartition(":")[2]), process.pid)
        finally:
            process.terminate()


def resident_mb(port: int) -> float:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    told = next(line for line in lines if line.startswith("process_resident_memory_bytes "))
    return float(told.split()[1]) / 2**20


def rows_of(name: str, loads: Sequence[Load]) -> list[Row]:
    times = [one * 1000 for load in loads for one in load.times]
    return [
        Row(f"{name}: requests a second", [load.rate for load in loads], "/s"),
        Row(f"{name}: p50", [percentile(times, 50)], "ms"),
        Row(f"{name}: p95", [percentile(times, 95)], "ms"),
    ]


def counted(server: Server, clients: int, seconds: float, every: float = 0.0) -> Load:
    """So many clients for so long, and what the server computed meanwhile."""
    before = cpu_of(server.process)
    load = under_load(lambda: by_http(server.port), clients, seconds, every)
    return load._replace(cpu=cpu_of(server.process) - before)


def in_one_thread(base: Base, seconds: float) -> Load:
    """The library alone, and what it computed."""
    before = time.process_time()
    load = under_load(lambda: in_process(base), 1, seconds)
    return load._replace(cpu=time.process_time() - before)


def measure(folder: Path, base: Base, workers: int, given: argparse.Namespace) -> list[Row]:
    """All of it, for one number of processes."""
    threads = DEFAULTS.serve_workers
    alone, loads, single, quiet, pausing = [], [], [], [], []
    with served(folder, workers) as server:
        under_load(lambda: by_http(server.port), given.clients, WARM_UP)
        before = resident_mb(server.port)
        for _ in range(ROUNDS):  # in turns, so that a busy moment of the machine is on all
            alone.append(under_load(lambda: in_process(base), threads, given.seconds / ROUNDS / 2))
            single.append(in_one_thread(base, given.seconds / ROUNDS / 4))
            quiet.append(counted(server, 1, given.seconds / ROUNDS / 4))
            loads.append(counted(server, given.clients, given.seconds / ROUNDS))
            every = given.clients / (loads[-1].rate * OFFERED)
            pausing.append(counted(server, given.clients, given.seconds / ROUNDS, every))
        after = resident_mb(server.port)
    errors = [error for load in loads for error in load.errors]
    for error in errors[:3]:
        print(error, file=sys.stderr)
    against = ratios([load.rate for load in loads], [load.rate for load in alone])
    work = ratios([load.a_cpu_second for load in loads], [load.a_cpu_second for load in single])
    one = ratios([load.a_cpu_second for load in quiet], [load.a_cpu_second for load in single])
    late = [percentile(load.times, 95) for load in loads]
    name = f"{workers} processes, {given.clients} clients"
    return [
        *rows_of(f"in process, {threads} threads", alone),
        *rows_of("one client", quiet),
        *rows_of(name, loads),
        Row(f"{name}: requests", [sum(len(load.times) for load in loads)]),
        Row(f"{name}: errors", [len(errors)], "", "none"),
        Row(f"{name}: throughput against in process", against, "", "at least 0.5"),
        Row(f"{name}: a CPU second", [load.a_cpu_second for load in loads], "/s"),
        Row("library, one thread: a CPU second", [load.a_cpu_second for load in single], "/s"),
        Row(f"{name}: a CPU second, against it", work, "", "at least 0.9"),
        Row("one client: a CPU second, against it", one, "", "at least 0.9"),
        Row(
            f"{name}: p95 against one client",
            ratios(late, [percentile(load.times, 95) for load in quiet]),
            "",
            "",
        ),
        *rows_of(f"{name} that pause", pausing),
        Row(
            f"{name} that pause: p95 against one client",
            ratios(
                [percentile(load.times, 95) for load in pausing],
                [percentile(load.times, 95) for load in quiet],
            ),
            "",
            "at most 4",
        ),
        Row("memory at the start", [before], "MB"),
        Row("memory at the end", [after], "MB", "at most 64 MB more"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--clients", type=int, default=CLIENTS, help=f"how many ({CLIENTS})")
    parser.add_argument("--workers", type=int, nargs="+", default=[1], help="processes (1)")
    parser.add_argument(
        "--documents", type=int, default=DOCUMENTS, help=f"of five chunks ({DOCUMENTS})"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        os.environ["KB_EMBED_CACHE_MB"] = "0"  # whoever asks first would embed for the others
        tree = corpus.write_tree(Path(name, "articles"), given.documents, SHAPE)
        with corpus.new_base(Path(name), Clustered(Granite())) as base:
            base.add([str(tree)])
            rows = [Row("chunks", [base.status().chunks])]
        with Base(str(Path(name, ".kb", "base.db"))) as base:
            base.search("warm up")
            for workers in given.workers:
                rows += measure(Path(name), base, workers, given)
    report("serve", rows, as_json=given.json)


if __name__ == "__main__":
    main()
