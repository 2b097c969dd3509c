"""A real MCP client, with `kb mcp` in a process of its own."""

import socket
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import anyio
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

import knowbase
from conftest import COMMAND, Kb, environment
from knowbase.mcp.server import build_server
from knowbase.values.access import Access, current

PATIENCE = 30.0  # seconds until something that must happen counts as not happening
ERAS = ("legacy", "2026-07-28")

Answer = TypeVar("Answer")


def over_stdio(
    kb: Kb,
    work: Callable[[Client], Awaitable[Answer]],
    *options: str,
    era: str = "auto",
    env: Mapping[str, str] | None = None,
    heard: Any = None,
) -> Answer:
    """What a client gets from `kb mcp` over standard input and output."""
    parameters = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", *options],
        cwd=kb.folder,
        env=environment(**(env or {})),
    )

    async def run() -> Answer:
        async with Client(stdio_client(parameters), mode=era, message_handler=heard) as client:
            return await work(client)

    return anyio.run(run)


def in_process(
    kb: Kb, work: Callable[[Client], Awaitable[Answer]], *tools: str, access: Access | None = None
) -> Answer:
    """What a client gets from the same server without a process: for what no process changes."""

    async def run() -> Answer:
        current.set(access or Access())
        with knowbase.open(str(kb.base)) as base:
            async with Client(build_server(base, tools=tools).server) as client:
                return await work(client)

    return anyio.run(run)


def call(kb: Kb, tool: str, *options: str, **arguments: Any) -> CallToolResult:
    """The result of one call."""

    async def work(client: Client) -> CallToolResult:
        return await client.call_tool(tool, arguments)

    return over_stdio(kb, work, *options)


def calls(kb: Kb, tool: str, several: list[dict[str, Any]]) -> list[CallToolResult]:
    """The results of several calls, one after the other."""

    async def work(client: Client) -> list[CallToolResult]:
        return [await client.call_tool(tool, arguments) for arguments in several]

    return over_stdio(kb, work)


def text_of(result: CallToolResult) -> str:
    first = result.content[0]
    assert isinstance(first, TextContent)
    return first.text


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def http_server(
    kb: Kb, *options: str, env: Mapping[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """`kb mcp --http` and the address that it serves at."""
    port = free_port()
    process = subprocess.Popen(
        [*COMMAND, "mcp", "--http", "--port", str(port), *options],
        cwd=kb.folder,
        env=environment(**(env or {})),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        wait_for_port(port, process)
        yield f"http://127.0.0.1:{port}/mcp", process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def wait_for_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nothing listens")
