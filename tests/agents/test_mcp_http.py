"""MCP over HTTP: in `kb mcp --http`, beside the API in `kb serve`, and mounted elsewhere."""

import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import apsw
import httpx2
import pytest
import uvicorn
from agent import ERAS, PATIENCE, free_port, http_server
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

import knowbase
from conftest import Kb
from knowbase.mcp.web import app
from knowbase.values.access import Access, current
from servers import serving

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
TOKEN = "a token that nobody would guess"
READING = {"kb_search", "kb_get_related", "kb_get", "kb_list", "kb_timeline", "kb_brief"}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def over_http(
    address: str, era: str, work: Callable[[Client], Awaitable[Any]], token: str = ""
) -> Any:
    async def run() -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http:
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport, mode=era) as client:
                return await work(client)

    return anyio.run(run)


@pytest.mark.parametrize("era", ERAS)
def test_kb_serve_has_the_tools_too_and_holds_them_to_the_token(own_handbook: Kb, era: str) -> None:
    kb = own_handbook
    kb("remember", "Apollo flies in May", "--project", "apollo", "--code", "AP-1")
    token = str(kb.json("token", "new", "--scope", "read", "--project", "apollo")["token"])

    async def work(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert names == READING
        found = await client.call_tool("kb_search", {"query": "deploy flies", "limit": 20})
        assert [one["code"] for one in found.structured_content["results"]] == ["AP-1"]
        refused = await client.call_tool("kb_remember", {"text": "Mine"})
        assert refused.is_error
        other = await client.call_tool("kb_get", {"reference": "HB-T-0021"})
        assert other.is_error

    with serving(kb.folder) as server:
        assert httpx2.post(f"{server.address}/mcp", json=PING, headers=ACCEPT).status_code == 401
        over_http(f"{server.address}/mcp", era, work, token)
        assert (
            'route="/mcp"'
            in httpx2.get(
                f"{server.address}/metrics", headers={"Authorization": f"Bearer {whole_token(kb)}"}
            ).text
        )


def whole_token(kb: Kb) -> str:
    return str(kb.json("token", "new")["token"])


@pytest.mark.parametrize("era", ERAS)
def test_clients_of_both_eras_are_served_over_http(handbook: Kb, era: str) -> None:
    async def work(client: Client) -> list[str]:
        assert len((await client.list_tools()).tools) == 9
        found: list[str] = []

        async def ask() -> None:
            result = await client.call_tool("kb_search", {"query": "deploy", "limit": 1})
            found.append(result.structured_content["results"][0]["code"])

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(ask)
        return found

    with http_server(handbook) as (address, _):
        assert over_http(address, era, work) == ["HB-T-0021"] * 5


def test_other_hosts_and_foreign_pages_are_refused(handbook: Kb) -> None:
    with http_server(handbook) as (address, _):
        for header, value, status in (
            ("Host", "evil.example", 403),
            ("Origin", "http://evil.example", 403),
            ("Origin", "http://localhost:3000", 403),
            ("Origin", "http://127.0.0.1:1@evil.com", 403),
            ("Origin", address.removesuffix("/mcp"), 200),
        ):
            got = httpx2.post(address, json=PING, headers={**ACCEPT, header: value})
            assert got.status_code == status, (header, value)
            assert "server" not in got.headers


def test_a_token_is_asked_for_when_there_is_one(handbook: Kb) -> None:
    async def work(client: Client) -> int:
        return len((await client.list_tools()).tools)

    with http_server(handbook, "--read-only", env={"KB_TOKEN": TOKEN}) as (address, _):
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            got = httpx2.post(address, json=PING, headers={**ACCEPT, **given})
            assert got.status_code == 401
            assert got.headers["www-authenticate"] == "Bearer"
        lower = {**ACCEPT, "Authorization": f"bearer {TOKEN}"}
        assert httpx2.post(address, json=PING, headers=lower).status_code == 200
        assert over_http(address, "auto", work, TOKEN) == 7


def test_what_the_flags_and_the_token_both_allow_is_allowed(own_handbook: Kb) -> None:
    kb = own_handbook
    ours = str(kb.json("token", "new", "--scope", "read", "--project", "ours")["token"])
    everybody = str(kb.json("token", "new")["token"])
    theirs = str(kb.json("token", "new", "--project", "theirs")["token"])

    async def tools(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    with http_server(kb, "--project", "ours") as (address, _):
        assert over_http(address, "auto", tools, ours) == READING
        assert over_http(address, "auto", tools, everybody) == READING | {
            "kb_remember",
            "kb_feedback",
        }
        for token, status in (("unknown", 401), (theirs, 403)):
            headers = {**ACCEPT, "Authorization": f"Bearer {token}"}
            assert httpx2.post(address, json=PING, headers=headers).status_code == status


def test_nothing_but_the_tools_is_served(handbook: Kb) -> None:
    with http_server(handbook) as (address, _):
        root = address.removesuffix("/mcp")
        assert httpx2.get(f"{root}/api/tags").status_code == 404
        assert httpx2.get(f"{root}/openapi.json").status_code == 404
        assert httpx2.get(f"{root}/health").status_code == 200
        assert "/mcp" in httpx2.get(root).json()["paths"]


def test_others_are_served_with_a_token_alone(handbook: Kb) -> None:
    assert "wants a token" in handbook.error("mcp", "--http", "--host", "0.0.0.0", code=2)
    weak = handbook.error("mcp", "--http", code=2, env={"KB_TOKEN": "short"})
    assert "too short" in weak


def searching(query: str) -> dict[str, Any]:
    params = {"name": "kb_search", "arguments": {"query": query}}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def test_searches_of_agents_are_counted(handbook: Kb) -> None:
    with serving(handbook.folder) as server:
        for _ in range(2):
            server.client.post("/mcp", json=searching("deploy"), headers=ACCEPT)
        told = server.client.get("/metrics").text
    assert 'kb_searches_total{modes="keyword+semantic",fallback="false"} 2' in told


def test_calls_of_agents_are_bounded_as_those_of_others_are(own_handbook: Kb) -> None:
    limits = {"KB_SERVE_WORKERS": "1", "KB_SERVE_WAITING": "1", "KB_SERVE_TIMEOUT": "2"}
    params = {"name": "kb_remember", "arguments": {"text": "Tea is green"}}
    writing = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with (
        serving(own_handbook.folder, env=limits) as server,
        locked(own_handbook.base),
        ThreadPoolExecutor(3) as pool,
    ):
        asked = [pool.submit(server.client.post, "/mcp", json=writing, headers=ACCEPT)
                 for _ in range(3)]  # fmt: skip
        answers = sorted((one.result() for one in asked), key=lambda one: one.status_code)
    # Whichever notices first: the store, which is locked, or who waits for the answer.
    told = ("no answer within 2 seconds", "another process was writing", "this took too long")
    for late in answers[:2]:
        assert late.json()["result"]["content"][0]["text"].startswith(told)
    assert answers[2].status_code == 429


@contextmanager
def locked(base: Path) -> Iterator[None]:
    """Nobody else can write."""
    with closing(apsw.Connection(str(base))) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def test_a_request_that_does_not_arrive_or_is_too_long_is_refused(handbook: Kb) -> None:
    limits = {"KB_SERVE_TIMEOUT": "1", "KB_SERVE_MAX_REQUEST_KB": "1"}
    with serving(handbook.folder, env=limits) as server:
        place = httpx2.URL(server.address)
        with closing(socket.create_connection((place.host, place.port or 0), PATIENCE)) as slow:
            slow.sendall(
                b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n"
                b"Content-Type: application/json\r\n\r\n{"
            )
            assert b" 408 " in slow.recv(100)
        long = server.client.post("/mcp", json=searching("x" * 2000), headers=ACCEPT)
        assert long.status_code == 413


class Whoever:
    """A server's middleware: what a request may do is said by a header."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        token = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
        project = token.partition("/")[2] or None
        current.set(Access(write=token.startswith("write"), project=project))
        await self._application(scope, receive, send)


@contextmanager
def mounted(base: knowbase.Base) -> Iterator[str]:
    """The application within another one, in a thread."""
    agents, port = app(base), free_port()
    application = Starlette(
        routes=[Route("/mcp", endpoint=Whoever(agents))], lifespan=agents.router.lifespan_context
    )
    config = uvicorn.Config(application, host="127.0.0.1", port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    until = time.monotonic() + PATIENCE
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join()


@pytest.mark.parametrize("era", ERAS)
def test_each_request_to_a_mounted_application_is_held_to_its_own_access(kb: Kb, era: str) -> None:
    ours = kb.json("remember", "Our tea is green", "--project", "ours")["document"]["code"]
    other = kb.json("remember", "Their tea is black", "--project", "theirs")["document"]["code"]

    async def seen(client: Client) -> list[str]:
        found = await client.call_tool("kb_search", {"query": "tea", "detail": "ids"})
        return sorted(entry["code"] for entry in found.structured_content["results"])

    async def remembered(client: Client) -> bool:
        made = await client.call_tool("kb_remember", {"text": "Sugar is in the drawer"})
        return not made.is_error

    async def tools(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    with knowbase.open(str(kb.base)) as base, mounted(base) as address:
        assert over_http(address, era, seen, "read") == sorted([ours, other])
        assert over_http(address, era, seen, "read/ours") == [ours]
        assert over_http(address, era, seen, "write/theirs") == [other]
        assert "kb_remember" not in over_http(address, era, tools, "read")
        assert "kb_remember" in over_http(address, era, tools, "write")
        assert over_http(address, era, remembered, "read/ours") is False
        assert over_http(address, era, remembered, "write/ours") is True
    written = kb.json("search", "sugar", "--project", "ours", "--fts-only")
    assert [hit["title"] for hit in written["hits"]] == ["Sugar is in the drawer"]
