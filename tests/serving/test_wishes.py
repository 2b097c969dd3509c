"""What a client says that it takes: errors as problems, answers packed or not; and what no
request is, answered like every other error."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPResponse
from typing import Any

import httpx
import pytest

from servers import PATIENCE, Served, serving, two_projects

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = two_projects(tmp_path_factory.mktemp("wishes") / "base")
    with serving(folder, env={"KB_SERVE_HEADER_TIMEOUT": "1"}) as running:
        yield running


@pytest.mark.parametrize(
    ("accept", "is_problem"),
    [
        (PROBLEM, True),
        (f"{PROBLEM}, application/json;q=0.9", True),
        (f"application/json, {PROBLEM}", True),
        ("Application/Problem+JSON; q=0.5", True),
        (f"application/json, {PROBLEM};q=0.5", False),
        (f"{PROBLEM};q=0", False),
        (f"{PROBLEM};q=much", False),
        ("application/json", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_an_error_is_a_problem_for_who_says_so(
    server: Served, accept: str, is_problem: bool
) -> None:
    response = server.client.get("/api/get?reference=NO-1", headers={"Accept": accept})
    assert response.status_code == 404
    assert "accept" in response.headers["vary"].lower()
    told = response.json()
    if not is_problem:
        assert response.headers["content-type"] == "application/json"
        assert told["error"]["code"] == "not_found"
        return
    assert response.headers["content-type"] == PROBLEM
    assert told["type"] == "urn:knowbase:problem:not_found"
    assert told["status"] == 404
    assert told["title"]
    assert "NO-1" in told["detail"]
    assert told["code"] == "not_found"


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        ("/api/search?top=none", 422, "top"),
        ("/nowhere", 404, None),
        ("/api/tags?x=%ff", 400, None),
    ],
)
def test_every_kind_of_error_is_a_problem(
    server: Served, path: str, status: int, field: str | None
) -> None:
    response = server.client.get(path, headers={"Accept": PROBLEM})
    told = response.json()
    assert (response.status_code, told["status"], told["field"]) == (status, status, field)
    assert response.headers["content-type"] == PROBLEM
    refused = server.client.get("/api/tags", headers={"Accept": PROBLEM, "Host": "elsewhere.test"})
    assert refused.json()["code"] == "forbidden"


@pytest.mark.parametrize(
    ("told", "is_packed"),
    [
        ("gzip", True),
        ("GZIP;q=0.5", True),
        ("br, *", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *;q=1", False),
        ("identity", False),
        ("", False),
        ("*;q=0", False),
        ("gzipped", False),
    ],
)
def test_an_answer_is_packed_only_for_who_takes_it_so(
    server: Served, told: str, is_packed: bool
) -> None:
    response = server.client.get("/openapi.json", headers={"Accept-Encoding": told})
    assert ("content-encoding" in response.headers) is is_packed
    assert "accept-encoding" in response.headers["vary"].lower()
    assert response.json()["openapi"] == "3.1.0"


def answered(server: Served, sent: bytes) -> tuple[int, str | None, Any]:
    """Status, media type and JSON of what is answered to these bytes."""
    url = httpx.URL(server.address)
    with closing(socket.create_connection((url.host, url.port or 0), PATIENCE)) as connection:
        connection.sendall(sent)
        answer = HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.getheader("content-type"), json.loads(answer.read())


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"what is this\r\n\r\n", 400, "malformed"),
        (b"GET /api/tags HTTP/1.1\r\nHost : localhost\r\n\r\n", 400, "malformed"),
        (b"GET /api/tags HTTP/1.1\r\n\r\n", 400, "malformed"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 40_000, 400, "malformed"),
        (b"GET /api/tags HTTP/1.1\r\nHost: local", 408, "request_timeout"),
    ],
)
def test_what_is_not_a_request_is_refused_like_everything_else(
    server: Served, sent: bytes, status: int, code: str
) -> None:
    told = answered(server, sent)
    assert told[:2] == (status, "application/json")
    assert set(told[2]["error"]) == {"code", "message", "field", "hint"}
    assert told[2]["error"]["code"] == code
