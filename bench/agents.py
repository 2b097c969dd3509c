"""Starting `kb mcp`: from the process's start until the handshake is answered.

Against the least that a server with this SDK can take: a process that imports the low-level
server and its standard input and output, and nothing else. Beside it the first search, which
loads the model, and one after it.
"""

import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import corpus
from corpus import Clustered, Shape
from knowbase.embed.granite import Granite
from measure import Row, arguments, interleaved, milliseconds, ratios, report

DOCUMENTS, SHAPE = 1000, Shape(sections=4, words=90)
BARE = "from mcp.server.lowlevel import Server; from mcp.server.stdio import stdio_server"
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "bench", "version": "1"},
}


def main() -> None:
    given = arguments(__doc__, rounds=9)
    with TemporaryDirectory() as folder:
        base = _filled(Path(folder) / "home")
        searches: list[tuple[float, float]] = []
        taken = interleaved(
            given.rounds,
            {"bare": _bare, "handshake": lambda: _session(base, searches)},
        )
        first, second = zip(*searches, strict=True)
        report(
            "agents",
            [
                Row("import of the SDK's server alone", milliseconds(taken["bare"]), "ms"),
                Row("kb mcp until the handshake", milliseconds(taken["handshake"]), "ms", "< 1000"),
                Row("ratio", ratios(taken["handshake"], taken["bare"]), "", "< 1.3"),
                Row("first search, which loads the model", milliseconds(first), "ms"),
                Row("second search", milliseconds(second), "ms"),
            ],
            as_json=given.json,
        )


def _filled(home: Path) -> Path:
    """A base of made-up documents."""
    tree = corpus.write_tree(home / "articles", DOCUMENTS, SHAPE)
    with corpus.new_base(home, Clustered(Granite())) as base:
        base.add([str(tree)])
        return Path(base.path)


def _bare() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", BARE], check=True)
    return time.perf_counter() - started


def _session(base: Path, searches: list[tuple[float, float]]) -> float:
    """A client's first moments; how long the handshake took."""
    started = time.perf_counter()
    server = subprocess.Popen(
        [sys.executable, "-m", "knowbase.cli", "mcp", "--base", str(base)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    _ask(server, 1, "initialize", HELLO)
    taken = time.perf_counter() - started
    _tell(server.stdin, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    calls = [_search(server, number, f"harbour {number}") for number in (2, 3)]
    searches.append((calls[0], calls[1]))
    server.communicate()
    return taken


def _search(server: "subprocess.Popen[bytes]", number: int, query: str) -> float:
    started = time.perf_counter()
    _ask(server, number, "tools/call", {"name": "kb_search", "arguments": {"query": query}})
    return time.perf_counter() - started


def _ask(server: "subprocess.Popen[bytes]", number: int, method: str, params: Any) -> None:
    _tell(server.stdin, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    assert server.stdout is not None
    answer = json.loads(server.stdout.readline())
    if answer.get("id") != number or "result" not in answer:
        raise RuntimeError(f"no answer to {method}: {answer}")


def _tell(stream: IO[bytes] | None, message: Any) -> None:
    assert stream is not None
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


if __name__ == "__main__":
    main()
