"""What a person reads of serving agents, and of telling their programs about it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, minute, safe, safe_lines

if TYPE_CHECKING:
    from knowbase.mcp.agents import AgentList
    from knowbase.mcp.install import Installed


def render_installed(paint: Painter, result: "Installed") -> Iterable[str]:
    path = paint("cyan", safe(result.path))
    if result.written:
        yield f"written to {path}:"
    elif not result.changed:
        yield f"already in {path}:"
    else:
        yield f"not written; for {path}:"
    yield safe_lines(result.text)
    yield from (paint("dim", f"note: {safe(note)}") for note in result.notes)


def render_agents(paint: Painter, result: "AgentList") -> Iterable[str]:
    for one in result.clients:
        asked = f"asked {minute(one.asked_at)}" if one.asked_at else "has not asked"
        known = "knows of the base" if one.is_told else f"kb mcp install --client {one.client}"
        yield f"{one.client}: {asked} · {paint('dim', known)}"
    for other in result.others:
        yield f"{safe(other.name)}: asked {minute(other.asked_at)}"
