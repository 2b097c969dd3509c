"""MCP over HTTP: the small server of `kb mcp --http`, and the endpoint that others mount."""

import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import anyio
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
from knowbase.access import Access, current
from knowbase.mcp.web import app

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
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
def test_clients_of_both_eras_are_served_over_http(handbook: Kb, era: str) -> None:
    async def work(client: Client) -> list[str]:
        assert len((await client.list_tools()).tools) == 8
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
            ("Host", "evil.example", 421),
            ("Origin", "http://evil.example", 403),
            ("Origin", "http://localhost:3000", 200),
        ):
            got = httpx2.post(address, json=PING, headers={**ACCEPT, header: value})
            assert got.status_code == status, (header, value)


def test_a_token_is_asked_for_when_there_is_one(handbook: Kb) -> None:
    async def work(client: Client) -> int:
        return len((await client.list_tools()).tools)

    with http_server(handbook, "--read-only", env={"KB_TOKEN": "sesame"}) as (address, _):
        for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "sesame"}):
            got = httpx2.post(address, json=PING, headers={**ACCEPT, **given})
            assert got.status_code == 401
            assert got.headers["www-authenticate"] == "Bearer"
        assert over_http(address, "auto", work, "sesame") == 6


def test_others_are_served_with_a_token_alone(handbook: Kb) -> None:
    told = handbook.error("mcp", "--http", "--host", "0.0.0.0", code=2)
    assert "set KB_TOKEN" in told


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
