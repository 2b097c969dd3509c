"""The server's edge: clients that are slow, many, or send what no request is."""

import gzip
import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from http.client import HTTPResponse
from pathlib import Path

import httpx
import pytest

from servers import PATIENCE, Served, serving, two_projects, wait_until

ENV = {
    "KB_SERVE_CONNECTIONS": "150",
    "KB_SERVE_CLIENT_CONNECTIONS": "100",
    "KB_SERVE_HEADER_TIMEOUT": "1",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Started as nohup or a shell's & does: an interrupt is ignored."""
    folder = two_projects(tmp_path_factory.mktemp("edge") / "base")
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    with serving(folder, env=ENV, before=ignore) as running:
        yield running


def connected(server: Served, address: str = "127.0.0.1") -> socket.socket:
    url = httpx.URL(server.address)
    return socket.create_connection((url.host, url.port or 0), PATIENCE, (address, 0))


def status(connection: socket.socket) -> int:
    """Of the next answer, which is read to its end: it comes in any number of pieces."""
    connection.settimeout(PATIENCE)
    answer = HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def is_closed(connection: socket.socket) -> bool:
    """Whether the server has ended it, whatever it said before."""
    connection.settimeout(PATIENCE)
    try:
        while connection.recv(1000):
            pass
    except ConnectionError:
        pass
    return True


def test_an_interrupt_that_is_ignored_stays_ignored(server: Served) -> None:
    server.process.send_signal(signal.SIGINT)
    assert server.json("tags")
    assert server.process.poll() is None


def test_unfinished_requests_of_many_connections_shut_nobody_out(server: Served) -> None:
    """From the same address as whoever asks, and from others."""
    with ExitStack() as stack:
        slow = []
        for number in range(400):
            one = stack.enter_context(closing(connected(server, f"127.0.0.{1 + number % 3}")))
            if number % 2:
                one.sendall(b"GET /api/tags HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            slow.append(one)
            if number % 50 == 49:
                assert httpx.get(f"{server.address}/api/tags", timeout=PATIENCE).status_code == 200
        assert len(list(Path(f"/proc/{server.process.pid}/fd").iterdir())) < 250
        assert server.json("search", query="engine")["returned"] > 0
        assert all(is_closed(one) for one in slow)


def test_whoever_has_waited_longest_makes_room_not_who_came_first(server: Served) -> None:
    with ExitStack() as stack:

        def another() -> socket.socket:
            return stack.enter_context(closing(connected(server, "127.0.0.9")))

        first = another()
        first.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(first) == 200
        others = [another() for _ in range(99)]
        assert server.json("tags")  # they have come in by now
        first.sendall(b"GET /health/live HTTP/1.1\r\n")
        assert server.json("tags")
        another()
        assert server.json("tags")  # and this one
        first.sendall(b"Host: localhost\r\n\r\n")
        assert status(first) == 200
        assert is_closed(others[0])


def test_headers_and_bodies_that_come_by_drops_are_not_waited_for(server: Served) -> None:
    """Neither in the first request of a connection, nor in a later one."""
    first, later, body = (connected(server) for _ in range(3))
    with closing(first), closing(later), closing(body):
        later.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert status(later) == 200
        unread = b"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"
        body.sendall(unread)
        assert status(body) == 404
        ended: set[socket.socket] = set()

        def drip() -> bool:
            for one in (first, later):
                try:
                    one.sendall(b"X")
                    one.settimeout(0.05)
                    if not one.recv(1000):
                        ended.add(one)
                except TimeoutError:
                    pass
                except ConnectionError:
                    ended.add(one)
            return len(ended) == 2

        wait_until(drip)


def test_long_headers_are_refused(server: Served) -> None:
    with closing(connected(server)) as long:
        long.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 40_000)
        assert status(long) == 400
    for path, value in (("/" + "x" * 40_000, ""), ("/", "x" * 40_000)):  # in one piece
        assert server.client.get(path, headers={"X-Long": value}).status_code == 400


def test_who_leaves_in_the_middle_is_no_fault_of_the_server(server: Served) -> None:
    with closing(connected(server)) as leaving:
        leaving.sendall(
            b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"X-Request-Id: leaving\r\nContent-Length: 99\r\n\r\n{"
        )
        wait_until(lambda: server.client.get("/health/live").status_code == 200)
    wait_until(lambda: "request='leaving'" in server.log.read_text())
    lines = [line for line in server.log.read_text().splitlines() if "'leaving'" in line]
    assert ["status=499" in line for line in lines] == [True]


def test_what_needs_no_long_text_takes_none(server: Served) -> None:
    described = server.client.get("/openapi.json").json()["paths"]
    assert described["/api/search"]["post"]["x-max-kb"] == 64
    assert "x-max-kb" not in described["/api/note"]["post"]
    text = "word " * 20_000
    assert server.post("search", query=text).status_code == 413
    assert server.post("graph query", query=text).status_code == 413
    assert server.post("note", text=text).status_code == 200
    asked = {"name": "kb_search", "arguments": {"query": text}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}
    headers = {"Accept": "application/json, text/event-stream"}
    told = server.client.post("/mcp", json=message, headers=headers).json()["result"]
    assert (told["isError"], "longer than 64 kB" in told["content"][0]["text"]) == (True, True)


@pytest.mark.parametrize("text", [r"\ud800", r"a\udc00b", r"\udbff\udbff"])
def test_half_a_surrogate_pair_is_refused_by_name(server: Served, text: str) -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for path, body, field in (
        ("/api/search", '{"query": "%s"}', "query"),
        ("/api/note", '{"text": "x", "tags": ["fine", "%s"]}', "tags"),
        ("/api/remember", '{"text": "%s"}', "text"),
    ):
        response = server.client.post(path, content=body % text, headers=headers)
        assert response.status_code == 422
        assert response.json()["error"]["field"] == field
    named = server.client.post("/api/search", content=f'{{"{text}": 1}}', headers=headers)
    assert named.status_code == 422
    asked = f'{{"name": "kb_search", "arguments": {{"query": "{text}"}}}}'
    message = f'{{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {asked}}}'
    told = server.client.post("/mcp", content=message, headers=headers)
    assert (told.status_code, told.json()["id"]) == (400, 7)
    assert "query is no text" in told.json()["error"]["message"]


def test_what_is_no_utf_8_is_refused_in_a_url(server: Served) -> None:
    for query in ("query=%ED%A0%80", "query=%FF", "%FF=x"):
        told = server.client.get(f"/api/search?{query}")
        assert (told.status_code, told.json()["error"]["code"]) == (400, "malformed")
    assert server.client.get("/%ED%A0%80").status_code == 404


def test_no_request_writes_a_line_of_the_log(server: Served) -> None:
    forged = "\n2026-01-01T00:00:00 info request forged"
    for path in ("/x%0Aforged", "/api/x%0D%0Aforged%1b[31m"):
        server.client.get(path)
    server.client.get("/api/tags", headers={"X-Request-Id": "a"})
    server.post("search", query=forged)
    server.post("get", reference=forged)
    server.client.post("/mcp", content=json.dumps({"method": forged}))
    shape = re.compile(r"\d{4}-\d\d-\d\dT[\d:]+ (info|warning|error) ")
    lines = server.log.read_text().splitlines()
    assert not [line for line in lines if not shape.match(line)]
    assert "forged" not in server.log.read_text()


def test_a_packed_body_is_not_unpacked(server: Served) -> None:
    packed = gzip.compress(b'{"text": "%s"}' % (b"x" * 10_000_000))
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert server.client.post("/api/note", content=packed, headers=headers).status_code == 400


@pytest.mark.soak
def test_who_never_reads_an_answer_is_left(server: Served) -> None:
    server.json("note", text="word " * 700_000, code="LONG-1")
    body = b'{"reference": "LONG-1"}'
    head = b"POST /api/get HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    url = httpx.URL(server.address)
    with closing(socket.socket()) as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect((url.host, url.port or 0))
        deaf.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        ours = f"{deaf.getsockname()[1]:04X}"
        table = Path(f"/proc/{server.process.pid}/net/tcp")
        wait_until(lambda: f":{ours} 01 " not in _connections(table))


def _connections(table: Path) -> str:
    """The remote port and the state of each, as `:PORT STATE `."""
    fields = [line.split() for line in table.read_text().splitlines()[1:]]
    return "".join(f":{one[2].partition(':')[2]} {one[3]} " for one in fields)
