"""Part 9: hundreds of connections that never finish what they began, beside clients who are
answered all the same."""

import random
import socket
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from campaign.part import Budget, Outcome, complaint
from servers import Served, serving, two_projects

EACH = 400  # connections of each kind
ASKED = 20  # searches beside them
ADDRESSES = 8  # that they come from
PATIENCE = 30.0  # seconds for one of these

HEAD = b"POST /api/search HTTP/1.1\r\nHost: %s\r\n"
KINDS = {
    "headers that never end": HEAD + b"X-Slow: a",
    "bodies that never come": HEAD
    + b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
    "bodies in pieces that never end": HEAD
    + b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
    "streams that are never read": b"GET /mcp HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n"
    b"\r\n",
    "connections without a word": b"",
}


class Crowd:
    """Connections of one kind, each sending a little now and then."""

    def __init__(self, netloc: str, begin: bytes) -> None:
        self.host, _, port = netloc.partition(":")
        self.port = int(port)
        self.begin = begin % netloc.encode() if begin else b""
        self.sockets: list[socket.socket] = []

    def join(self, number: int) -> int:
        """Open so many more; how many could be."""
        opened = 0
        for turn in range(number):
            with suppress(OSError):
                one = self._connected(f"127.0.0.{2 + turn % ADDRESSES}")
                self.sockets.append(one)
                one.sendall(self.begin)
                opened += 1
        return opened

    def _connected(self, source: str) -> socket.socket:
        """From another address than honest clients have, where the system lets us."""
        place = (self.host, self.port)
        try:
            return socket.create_connection(place, timeout=2, source_address=(source, 0))
        except OSError:
            return socket.create_connection(place, timeout=2)

    def drip(self) -> None:
        for one in self.sockets:
            with suppress(OSError):
                one.send(b"a")

    def leave(self) -> None:
        for one in self.sockets:
            one.close()


def answered(server: Served, number: int, crowds: list[Crowd]) -> list[str]:
    """Ask as an honest client does, each time on a new connection."""
    wrong = []
    for turn in range(number):
        for crowd in crowds:
            crowd.drip()
        try:
            asked = {"query": "engine", "mode": "keyword"}
            told = httpx.post(f"{server.address}/api/search", json=asked, timeout=PATIENCE)
            assert told.status_code == 200, f"{told.status_code} {told.text[:100]}"
        except Exception as error:
            wrong.append(complaint("an honest client", error))
            if turn >= 2 and len(wrong) > turn:
                break  # nobody is answered: to see that a few times is enough
    return wrong


def run(budget: Budget, seed: int) -> Outcome:
    each = min(EACH, max(10, budget.of(EACH)))
    done, wrong = {"unfinished connections": 0, "searches beside them": 0}, []
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = two_projects(Path(name) / "base")
        server = stack.enter_context(serving(folder))
        kinds = list(KINDS.items())
        random.Random(seed).shuffle(kinds)
        crowds: list[Crowd] = []
        number = max(2, min(ASKED, budget.of(ASKED)))
        for kind, begin in kinds:  # each kind beside those that are there already
            crowd = Crowd(urlsplit(server.address).netloc, begin)
            stack.callback(crowd.leave)
            crowds.append(crowd)
            done["unfinished connections"] += crowd.join(each)
            time.sleep(0.2)
            wrong += [f"{kind}: {one}" for one in answered(server, number, crowds)]
            done["searches beside them"] += number
        for crowd in crowds:
            crowd.leave()
        time.sleep(0.5)
        wrong += [f"after they left: {one}" for one in answered(server, number, [])]
    return Outcome(done, {"unfinished connections": each * len(KINDS)}, tuple(wrong))
