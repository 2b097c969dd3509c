"""What a person reads of serving and of tokens."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.http.commands import NewToken, TokenList
    from knowbase.http.server import Serving


def lines(paint: Painter, name: str, result: Any) -> Iterable[str]:
    """The lines for the result of the command of that name."""
    if name == "serve":
        return serving(paint, result)
    return _new(paint, result) if name == "token new" else _tokens(paint, result)


def serving(paint: Painter, result: "Serving") -> Iterable[str]:
    yield f"serving {safe(result.base)} at {paint('cyan', result.address)}"
    if result.open:
        yield paint("dim", "without tokens: whoever uses this machine may ask; Ctrl-C stops")


def _new(paint: Painter, result: "NewToken") -> Iterable[str]:
    yield result.token
    held = f", held to the project {safe(result.project)}" if result.project else ""
    told = f"{safe(result.name)}: {result.scope}{held}; it is not shown again"
    yield paint("dim", told)


def _tokens(paint: Painter, result: "TokenList") -> Iterable[str]:
    for token in result.tokens:
        held = f" · project {safe(token.project)}" if token.project else ""
        made = paint("dim", f" · {token.created_at[:10]}")
        yield f"{paint('cyan', safe(token.name))}: {token.scope}{held}{made}"
    if not result.tokens:
        yield "there are no tokens; kb token new makes one"
