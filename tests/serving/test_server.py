"""The server as a process: it starts, is watched, works in parallel, and stops."""

import json
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
import uvicorn
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import knowbase
from conftest import Kb
from knowbase.base import Base
from knowbase.http.application import application
from knowbase.http.gate import Gate
from knowbase.http.guard import Door, Names
from knowbase.http.listening import address_of, listen
from knowbase.values.access import current
from servers import PATIENCE, Served, serving, two_projects, wait_until


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_projects(tmp_path_factory.mktemp("server") / "base")


@contextmanager
def locked(folder: Path) -> Iterator[apsw.Connection]:
    """Nobody else can write."""
    with closing(apsw.Connection(str(folder / ".kb" / "base.db"))) as other:
        other.execute("BEGIN IMMEDIATE")
        try:
            yield other
        finally:
            if other.in_transaction:
                other.execute("ROLLBACK")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_is_under_way_when_it_is_stopped_is_answered(folder: Path, number: int) -> None:
    with serving(folder) as server, locked(folder) as other, ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.post, "session start", session=f"late {number}")
        wait_until(lambda: _in_flight(server) == 2)
        server.process.send_signal(number)
        wait_until(lambda: not _is_listening(server))
        assert server.process.poll() is None
        other.execute("ROLLBACK")
        assert answer.result(PATIENCE).status_code == 200
        assert server.process.wait(PATIENCE) == 0


def test_a_signal_right_after_the_ready_line_is_not_lost(folder: Path) -> None:
    """A container's first process would not even notice it."""
    with serving(folder) as server:
        server.process.terminate()
        assert server.process.wait(PATIENCE) == 0


def _children(process: int) -> list[int]:
    told = [one.read_text() for one in Path(f"/proc/{process}/task").glob("*/children")]
    return [int(number) for number in " ".join(told).split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it looks at the processes")
def test_further_processes_search_the_same_and_may_be_killed(folder: Path) -> None:
    """What they search for is counted, refused and limited as without them."""
    with serving(folder) as alone, serving(folder, "--workers", "2") as server:
        asked: list[dict[str, Any]] = [
            {"query": "engine"},
            {"query": "engine", "mode": "keyword", "top": 1},
            {"query": "", "top": -1},
            {"query": "engine", "profile": "nobody's"},
        ]
        for values in asked * 2:
            one, other = (each.post("search", **values) for each in (alone, server))
            assert one.status_code == other.status_code
            assert _without_times(one.json()) == _without_times(other.json())
        assert server.json("searches")["count"] == 4
        searchers = _children(server.process.pid)
        assert len(searchers) == 2
        for number in searchers:
            os.kill(number, signal.SIGKILL)
        for _ in range(3):
            assert server.json("search", query="engine")["hits"]
        again = _children(server.process.pid)
        assert len(again) == 2
        assert not set(again) & set(searchers)
        assert server.stop() == 0
        wait_until(lambda: not any(Path(f"/proc/{number}").exists() for number in again))


def _without_times(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if "tim" not in name}


def test_what_takes_longer_than_the_server_waits_is_told_so(folder: Path) -> None:
    env = {"KB_SERVE_SHUTDOWN": "1"}
    with serving(folder, env=env) as server, locked(folder), ThreadPoolExecutor(1) as pool:
        answer = pool.submit(server.post, "session start", session="too late")
        wait_until(lambda: _in_flight(server) == 2)
        server.process.send_signal(signal.SIGTERM)
        told = answer.result(PATIENCE)
        assert (told.status_code, told.json()["error"]["code"]) == (503, "stopping")
        assert server.process.wait(PATIENCE) == 0


def test_a_request_whose_length_is_told_twice_is_refused(folder: Path) -> None:
    with serving(folder) as server:
        url = httpx.URL(server.address)
        with closing(socket.create_connection((url.host, url.port or 0), PATIENCE)) as odd:
            odd.sendall(
                b"POST /api/list HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n"
                b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                b"2\r\n{}\r\n0\r\n\r\n"
            )
            assert b" 400 " in odd.recv(100)


def _in_flight(server: Served) -> float:
    text = httpx.get(f"{server.address}/metrics").text
    return _values(text)["kb_requests_in_flight"]


def _is_listening(server: Served) -> bool:
    url = httpx.URL(server.address)
    with closing(socket.socket()) as probe:
        return probe.connect_ex((url.host, url.port or 0)) == 0


def _values(text: str) -> dict[str, float]:
    samples = [s for family in text_string_to_metric_families(text) for s in family.samples]
    return {s.name: s.value for s in samples if not s.labels}


def test_the_metrics_are_in_the_form_of_prometheus(folder: Path) -> None:
    with serving(folder) as server:
        for query in ("engine", "valves"):
            server.json("search", query=query)
        server.json("search", query="engine", mode="keyword")
        server.json("kb_search", query="engine")
        server.client.get("/no/such/path/1")
        server.client.get("/no/such/path/2")
        response = server.client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    families = {one.name: one for one in text_string_to_metric_families(response.text)}
    requests = {
        (s.labels["route"], s.labels["status"]): s.value for s in families["kb_requests"].samples
    }
    assert requests["/api/search", "200"] == 3
    assert requests["other", "404"] == 2
    searches = {(s.labels["modes"], s.labels["fallback"]): s.value
                for s in families["kb_searches"].samples}  # fmt: skip
    assert searches == {("keyword+semantic", "false"): 3, ("keyword", "false"): 1}
    buckets = [s for s in families["kb_request_seconds"].samples
               if s.name.endswith("_bucket") and s.labels["route"] == "/api/search"]  # fmt: skip
    assert [s.value for s in buckets] == sorted(s.value for s in buckets)
    assert buckets[-1].labels["le"] == "+Inf"
    assert buckets[-1].value == 3
    values = _values(response.text)
    with knowbase.open(str(folder)) as base:
        counts = base.store.counts()
    assert values["kb_base_documents"] == counts.documents
    assert values["kb_base_chunks"] == counts.chunks
    assert values["process_resident_memory_bytes"] > 0


def test_threads_of_the_server_share_nothing_and_open_no_more_than_they_need(folder: Path) -> None:
    with serving(folder, env={"KB_SERVE_WORKERS": "4"}) as server:
        expected = [hit["section"] for hit in server.json("search", query="engine tests")["hits"]]

        def ask(number: int) -> list[str]:
            if number % 10 == 0:
                server.json("remember", text=f"Something new, number {number}", type="temp_note")
            mode = ("hybrid", "keyword", "semantic")[number % 3]
            answer = server.json("search", query="engine tests", mode=mode, type=["decision"])
            return [hit["section"] for hit in answer["hits"]] if mode == "hybrid" else expected

        with ThreadPoolExecutor(12) as pool:
            found = list(pool.map(ask, range(120)))
        assert {first for first, *_ in found} == {expected[0]}
        files = [os.readlink(one) for one in Path(f"/proc/{server.process.pid}/fd").iterdir()]
        # One connection a worker, one of the main thread, one of those who watch.
        assert 1 <= sum(one.endswith("base.db") for one in files) <= 6


def test_a_thread_that_ends_closes_its_connection(folder: Path) -> None:
    with knowbase.open(str(folder)) as base:

        def opened() -> int:
            files = [
                os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.is_symlink()
            ]
            return sum(one == base.path for one in files)

        before = opened()
        for _ in range(20):
            thread = threading.Thread(target=base.tags)
            thread.start()
            thread.join()
        assert opened() <= before + 1


def test_too_many_at_once_are_told_to_come_again(folder: Path) -> None:
    """One client gets no more than its share; what all of them ask for is bounded, too."""
    env = {"KB_SERVE_WORKERS": "1", "KB_SERVE_WAITING": "3"}
    with serving(folder, env=env) as server, ThreadPoolExecutor(6) as pool, ExitStack() as stack:

        def asked_from(address: str) -> "Future[httpx.Response]":
            other = httpx.HTTPTransport(local_address=address)
            client = httpx.Client(base_url=server.address, transport=other, timeout=PATIENCE)
            return pool.submit(stack.enter_context(client).post, "/api/session/start", json={})

        with locked(folder):
            ours = [asked_from("127.0.0.2") for _ in range(4)]
            greedy = next(as_completed(ours)).result()
            assert (greedy.status_code, error_code(greedy)) == (429, "too_many_requests")
            assert greedy.headers["retry-after"]
            theirs = [asked_from("127.0.0.3") for _ in range(2)]
            refused = next(as_completed(theirs)).result()
            assert (refused.status_code, error_code(refused)) == (503, "overloaded")
            assert refused.headers["retry-after"]
            assert server.client.get("/metrics").status_code == 200
        statuses = sorted(one.result().status_code for one in (*ours, *theirs))
        assert statuses == [200, 200, 200, 200, 429, 503]
        assert "Traceback" not in server.log.read_text()


def error_code(response: httpx.Response) -> str:
    return str(response.json()["error"]["code"])


def test_slow_work_of_one_kind_leaves_room_and_the_server_says_when_nothing_moves(
    folder: Path,
) -> None:
    env = {"KB_SERVE_WORKERS": "2", "KB_STORE_BUSY_TIMEOUT": "60"}
    with serving(folder, env=env) as server, ThreadPoolExecutor(12) as pool:
        with locked(folder):
            stuck = [pool.submit(server.post, "session start") for _ in range(8)]
            wait_until(lambda: _in_flight(server) == 9)
            assert server.json("search", query="engine")["returned"] > 0
            assert server.client.get("/health").status_code == 200
            more = [pool.submit(server.post, "note", text="A note") for _ in range(2)]
            wait_until(lambda: server.client.get("/health").status_code == 503)
            told = server.client.get("/health/ready")
            assert (told.status_code, told.json()["error"]["code"]) == (503, "overloaded")
            assert server.client.get("/health/live").status_code == 200
        assert {one.result().status_code for one in (*stuck, *more)} == {200}
        wait_until(lambda: server.client.get("/health").status_code == 200)


def test_who_was_told_that_it_took_too_long_holds_no_worker(folder: Path) -> None:
    env = {"KB_SERVE_WORKERS": "1", "KB_SERVE_TIMEOUT": "0.5", "KB_STORE_BUSY_TIMEOUT": "60"}
    with serving(folder, env=env) as server:
        with locked(folder):
            late = server.post("session start")
            assert (late.status_code, error_code(late)) == (504, "timeout")
            assert server.json("tags")["tags"]
            assert server.client.get("/health").status_code == 200
        server.json("session start")


def test_a_request_is_logged_on_one_line_without_what_was_asked(folder: Path) -> None:
    with serving(folder, env={"KB_SERVE_LOG": "json"}) as server:
        told = server.client.get("/api/search?query=kerosene", headers={"X-Request-Id": "mine-1"})
        assert told.headers["x-request-id"] == "mine-1"
        server.client.get("/api/tags", headers={"X-Request-Id": "<sane?>"})
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert requests[0]["route"] == "/api/search"
    assert (requests[0]["status"], requests[0]["request"]) == (200, "mine-1")
    assert requests[0]["ms"] > 0
    assert "sane" not in requests[1]["request"]
    assert "kerosene" not in server.log.read_text()


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with closing(listen("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "cannot be listened on" in Kb(folder).error("serve", "--port", port, code=2)


def test_other_applications_are_mounted_behind_the_same_checks(folder: Path) -> None:
    lived: list[str] = []

    async def who(_: Request) -> JSONResponse:
        return JSONResponse({"access": list(current.get()), "lived": lived})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        lived.append("started")
        yield
        lived.append("ended")

    other = Starlette(routes=[Route("/mcp", who)], lifespan=lifespan)
    tokens = folder / "mounted.toml"
    kb = Kb(folder)
    env = {"KB_TOKENS_FILE": str(tokens)}
    token = kb.json("token", "new", "--scope", "read", "--project", "apollo", env=env)["token"]
    with Base(str(folder / ".kb" / "base.db")) as base:
        door = Door(Names("127.0.0.1"), Gate(str(tokens), {}))
        app = application(base, door, {"/mcp": lambda _: other})
        with _in_thread(app) as address:
            assert httpx.get(f"{address}/mcp").status_code == 401
            headers = {"Authorization": f"Bearer {token}"}
            evil = {**headers, "Origin": "http://evil.example"}
            assert httpx.get(f"{address}/mcp", headers=evil).status_code == 403
            told = httpx.get(f"{address}/mcp", headers=headers)
            assert told.json() == {"access": [False, "apollo"], "lived": ["started"]}
            assert told.headers["x-content-type-options"] == "nosniff"
    assert lived == ["started", "ended"]


@contextmanager
def _in_thread(app: Starlette) -> Iterator[str]:
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    wait_until(lambda: server.started)
    try:
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
