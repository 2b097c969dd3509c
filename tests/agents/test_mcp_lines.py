"""Lines that are no messages: each is answered, and the next one, too."""

import json
import signal
import subprocess
from functools import partial
from typing import Any

from agent import PATIENCE

from conftest import COMMAND, Kb, environment

LONG = 1 << 20


def call(number: Any, query: str) -> bytes:
    params = f'{{"name": "kb_search", "arguments": {{"query": "{query}"}}}}'
    asked = f'"id": {json.dumps(number)}, "method": "tools/call", "params": {params}'
    return f'{{"jsonrpc": "2.0", {asked}}}'.encode()


def long_one(end: bytes) -> bytes:
    return b'{"method": "tools/call", "params": {"name": "%s, \\"id\\": 5}"}, %s}' % (
        b"x" * LONG,
        end,
    )


WRONG: list[tuple[bytes, int, Any, str]] = [
    (call(1, r"\ud800"), -32602, 1, "query is no text"),
    (call(2, r"a\udc00"), -32602, 2, "query is no text"),
    (b'{"jsonrpc": "2.0", "id": 3, "method": "\\ud800"}', -32602, 3, "method is no text"),
    (b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', -32600, None, "id must be"),
    (b"no json", -32700, None, "not JSON"),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "ping"', -32700, None, "not JSON"),
    (b'{"jsonrpc": "2.0", "id": 4, "method": "\xff\xfe"}', -32700, None, "not UTF-8"),
    (b"[" * 100_000, -32700, None, "not JSON"),
    (b'{"jsonrpc": "2.0", "id": 1%s, "method": "ping"}' % (b"0" * 5000), -32700, None, "not JSON"),
    (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', -32700, None, "not JSON"),
    (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None, "id must be"),
    (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600, None, "id must be"),
    (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600, None, "id must be"),
    (b'{"jsonrpc": "2.0", "id": [1], "method": "ping"}', -32600, None, "id must be"),
    (b'{"jsonrpc": "1.0", "id": 5, "method": "ping"}', -32600, 5, "no message"),
    (b'{"jsonrpc": "2.0", "id": 6, "method": 7}', -32600, 6, "no message"),
    (b'{"jsonrpc": "2.0", "id": 8, "method": "ping", "params": [1]}', -32600, 8, "no message"),
    (b"[]", -32600, None, "one JSON object"),
    (b'"text"', -32600, None, "one JSON object"),
    (call(9, "x" * LONG), -32600, 9, "longer than 1000 kB"),
    (long_one(b'"id": "last"'), -32600, "last", "longer than 1000 kB"),
    (long_one(b'"jsonrpc": "2.0" , "id" :11 '), -32600, 11, "longer than 1000 kB"),
    (long_one(b'"id": true'), -32600, None, "longer than 1000 kB"),
    (b'{"params": {"id": 3, "a": "%s"}}' % (b"x" * LONG), -32600, None, "longer than 1000 kB"),
    (b'{"params": {"a": "%s", "id": 3}}' % (b"x" * LONG), -32600, None, "longer than 1000 kB"),
    (b"x" * LONG, -32600, None, "longer than 1000 kB"),
]
SILENT = [
    b"",
    b"  ",
    b'{"jsonrpc": "2.0", "method": 7}',
    b'{"jsonrpc": "2.0", "id": 1, "result": 7}',
]


def test_whatever_is_asked_is_answered(handbook: Kb) -> None:
    """And an interrupt that was ignored when it started stays so."""
    server = subprocess.Popen(
        [*COMMAND, "mcp"],
        cwd=handbook.folder,
        env=environment(KB_SERVE_MAX_REQUEST_KB="1000"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_IGN),
    )
    assert server.stdin is not None
    assert server.stdout is not None
    info = {"name": "test", "version": "1"}
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}
    greeting = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": hello}
    server.stdin.write(json.dumps(greeting).encode() + b"\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == "hello"
    server.send_signal(signal.SIGINT)
    for line, code, asked, text in WRONG:
        server.stdin.write(line + b"\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        assert (answer["error"]["code"], answer["id"]) == (code, asked), (line[:100], answer)
        assert text in answer["error"]["message"]
    for line in SILENT:
        server.stdin.write(line + b"\n")
    ping = b'{"jsonrpc": "2.0", "id": 10, "method": "ping"}\n'
    out, err = server.communicate(ping + ping + call(10**30, "tea"), timeout=PATIENCE)
    assert sorted(json.loads(line)["id"] for line in out.splitlines()) == [10, 10, 10**30]
    assert (server.returncode, err) == (0, b"")
