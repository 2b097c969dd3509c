"""What a person reads of serving agents, and of telling their programs about it."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from knowbase.cli.terminal import Painter, safe, safe_lines

if TYPE_CHECKING:
    from knowbase.http.server import Serving
    from knowbase.mcp.install import Installed


def lines(paint: Painter, name: str, result: Any) -> Iterable[str]:
    """The lines for the result of the command of that name."""
    return _serving(paint, result) if name == "mcp" else _installed(paint, result)


def _serving(paint: Painter, result: "Serving") -> Iterable[str]:
    yield f"serving {safe(result.base)} to agents at {paint('cyan', result.address)}"
    if result.open:
        yield paint("dim", "without a token: whoever uses this machine may ask; Ctrl-C stops")


def _installed(paint: Painter, result: "Installed") -> Iterable[str]:
    path = paint("cyan", safe(result.path))
    if result.written:
        yield f"written to {path}:"
    elif not result.changed:
        yield f"already in {path}:"
    else:
        yield f"not written; for {path}:"
    yield safe_lines(result.text)
    yield from (paint("dim", f"note: {safe(note)}") for note in result.notes)
