"""The inside of a process that searches for a server: one request after the other, until the
server is gone. Nothing is printed but answers; the log goes where the server's does."""

import json
import os
import signal
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

import knowbase
from knowbase import deadline
from knowbase.errors import KnowbaseError
from knowbase.logs import LogStyle, log, show_on
from knowbase.operations import load
from knowbase.operations.results import plain
from knowbase.process import collect_rarely
from knowbase.store import lagging
from knowbase.values.access import Access
from knowbase.values.parameters import build

if TYPE_CHECKING:
    from knowbase.base import Base

LENGTH = struct.Struct("!I")
LET_BE = ("SIGINT", "SIGTERM", "SIGHUP")  # the server is told too, and decides
OPERATION = "search"
FACTS = ("query_time_ms", "search_modes_used", "fallback_mode", "next_cursor", "total")
"""What the server needs to know of a result beside its JSON."""


def main() -> None:
    """Take requests until there are none."""
    for name in LET_BE:
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    start = read(requests)
    if start is None:
        return
    show_on(sys.stderr, LogStyle(*start["log"]))
    collect_rarely()
    with knowbase.open(start["place"]) as base, suppress(BrokenPipeError):
        _warm_up(base)
        writes = 0
        while (asked := read(requests)) is not None:
            if asked["writes"] != writes:  # the server has written: its clients read that
                writes = asked["writes"]
                lagging.wrote()
            write(answers, _outcome(base, asked))


def _warm_up(base: "Base") -> None:
    with suppress(KnowbaseError):  # the server says it
        if base.settings.embed_vectors and base.store.model() is not None:
            base.embedder.embed_query(f"ready {os.getpid()}")


def _outcome(base: "Base", asked: Mapping[str, Any]) -> dict[str, Any]:
    operation = load(OPERATION)
    try:
        with deadline.within(asked["seconds"]):
            request = build(operation.request, asked["values"])
            result = operation.run(base.within(Access(*asked["access"])), request)
            body = json.dumps(plain(result), ensure_ascii=False, allow_nan=False)
    except KnowbaseError as error:
        return {"error": error.as_dict()}
    except Exception as error:
        log("error", "a search failed", exc_info=error)
        return {}
    facts = {name: getattr(result, name) for name in FACTS if hasattr(result, name)}
    return {"body": body, "facts": {**facts, "hits": [one.id for one in result.hits]}}


def read(pipe: IO[bytes]) -> dict[str, Any] | None:
    """The next object; None when there is none any more."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    [length] = LENGTH.unpack(head)
    body = pipe.read(length)
    if len(body) < length:
        return None
    found: dict[str, Any] = json.loads(body)
    return found


def write(pipe: IO[bytes], value: Mapping[str, Any]) -> None:
    body = json.dumps(value).encode()
    pipe.write(LENGTH.pack(len(body)) + body)
    pipe.flush()
