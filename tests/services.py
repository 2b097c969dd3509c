"""An embedding service as tests need it: a real HTTP server that can be told to fail."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from knowbase.embed.granite import Granite
from knowbase.values.vectors import unpack

Trick = Callable[["Handler"], bool]
"""Something a service does instead of answering; False when it answers after all."""


class Asked(NamedTuple):
    """A request as it arrived."""

    path: str
    key: str | None
    body: dict[str, Any]


class Service:
    """OpenAI's /embeddings in front of the packaged model, or of made-up numbers."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.tricks: list[Trick] = []  # one a request, first come first served
        self.always: Trick | None = None  # after those
        self.embed: Callable[[list[str]], list[list[float]]] = counted
        self.together = self.most_together = 0
        self.lock = threading.Lock()
        owner = self

        class Own(Handler):
            service = owner

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def texts(self) -> list[str]:
        """All texts that were sent, in order."""
        return [text for one in self.asked for text in one.body["input"]]


class Handler(BaseHTTPRequestHandler):
    service: Service
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        service = self.service
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with service.lock:
            service.asked.append(Asked(self.path, self.headers["Authorization"], body))
            trick = service.tricks.pop(0) if service.tricks else service.always
            service.together += 1
            service.most_together = max(service.most_together, service.together)
        done = trick is not None and trick(self)
        with service.lock:
            service.together -= 1
        if not done:
            self.answer(service.embed(body["input"]))

    def answer(self, vectors: list[list[float]]) -> None:
        data = [{"index": n, "embedding": vector} for n, vector in enumerate(vectors)]
        # Backwards: the order is the index's business.
        self.send(200, json.dumps({"object": "list", "data": data[::-1]}).encode())

    def send(self, code: int, body: bytes, **headers: str) -> bool:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return True

    def log_message(self, *_: object) -> None:
        """Quiet."""


def counted(texts: list[str]) -> list[list[float]]:
    """Made-up vectors: how often each of some letters occurs, and one to have a direction."""
    return [[1.0, *(float(text.lower().count(letter)) for letter in "aeinrst")] for text in texts]


def packaged() -> Callable[[list[str]], list[list[float]]]:
    """The packaged model's vectors."""
    granite = Granite()
    return lambda texts: [unpack(vector) for vector in granite.embed_documents(texts)]


@contextmanager
def service() -> Iterator[Service]:
    running = Service()
    try:
        yield running
    finally:
        running.close()


# tricks


def status(code: int, text: str = "", **headers: str) -> Trick:
    return lambda handler: handler.send(code, text.encode(), **headers)


def reset(handler: Handler) -> bool:
    """Break the connection in the middle, as a crash does."""
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    return True


def garbage(handler: Handler) -> bool:
    return handler.send(200, b"<html>Welcome to the hotel's network</html>")


def half(handler: Handler) -> bool:
    """Promise more than is sent."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.close_connection = True
    return True


def slow(seconds: float) -> Trick:
    def wait(_: Handler) -> bool:
        time.sleep(seconds)
        return False

    return wait


def dripping(handler: Handler) -> bool:
    """A byte now and then, for ever: no single read times out."""
    handler.send_response(200)
    handler.end_headers()
    try:
        while True:
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)
    except OSError:
        handler.close_connection = True
        return True
