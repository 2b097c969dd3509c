"""The programs that agents run in: what each is to be told of a base, and when it last asked.

Nothing of the SDK is loaded here.
"""

import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from knowbase.base.clients import CLIENTS, clients_in
from knowbase.base.moments import keep_moment, moments
from knowbase.mcp.clients import Install
from knowbase.mcp.install import block_for, is_in_codex
from knowbase.values.times import timestamp
from knowbase.values.visible import one_line

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.operations.declare import NoParameters

KIND = "agents"  # of moments
EVERY = 60.0  # seconds between two notes of the same program
LONGEST = 80  # letters of a program's name
CALLED = {
    "claude-code": ("claudecode",),
    "cursor": ("cursor",),  # before the next: it says cursor-vscode
    "vscode": ("visualstudiocode", "vscode"),
    "codex": ("codex",),
}
"""What each calls itself, in small letters."""


class AgentClient(NamedTuple):
    """A program, and how it gets to know of the base."""

    client: str
    path: str  # the file that it reads
    text: str  # what `kb mcp install` writes there
    is_told: bool  # its file names kb mcp already
    asked_at: str | None  # when it last called a tool of the base, from this machine


class OtherClient(NamedTuple):
    """Another program that has asked."""

    name: str  # as it calls itself
    asked_at: str


class AgentList(NamedTuple):
    """The programs that can be told by `kb mcp install`, and others that have asked."""

    clients: tuple[AgentClient, ...]
    others: tuple[OtherClient, ...]


def agents(base: "Base", _: "NoParameters") -> AgentList:
    """What is known of the programs of agents on this machine."""
    told = {one.client for one in clients_in(base.home)} | ({"codex"} if is_in_codex() else set())
    asked: dict[str, str] = {}
    others = []
    for name, at in moments(base.shown, KIND).items():
        client = client_called(name)
        if client is None:
            others.append(OtherClient(name, at))
        else:
            asked[client] = max(at, asked.get(client, ""))
    clients = []
    for name in (*CLIENTS, "codex"):
        block = block_for(base.path, Install(name))
        clients.append(AgentClient(name, block.path, block.text, name in told, asked.get(name)))
    others.sort(key=lambda one: one.asked_at, reverse=True)
    return AgentList(tuple(clients), tuple(others))


def client_called(name: str) -> str | None:
    """The program that calls itself so; None for one that is not known here."""
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    known = ((client, mark) for client, marks in CALLED.items() for mark in marks)
    return next((client for client, mark in known if mark in plain), None)


class Asking:
    """Keeps when each program last asked; nobody waits for that."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._kept: dict[str, float] = {}

    def note(self, program: str) -> None:
        name, now = one_line(program)[:LONGEST], time.monotonic()
        if not name or now - self._kept.get(name, -EVERY) < EVERY:
            return
        self._kept[name] = now
        facts = (self._base, KIND, (name,), timestamp(time.time()))
        threading.Thread(target=keep_moment, args=facts, daemon=True).start()
