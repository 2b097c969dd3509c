"""What a person reads of serving and of tokens."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, minute, safe

if TYPE_CHECKING:
    from knowbase.http.server import Serving
    from knowbase.http.token_commands import NewToken, TokenList


def render_serving(paint: Painter, result: "Serving") -> Iterable[str]:
    yield f"serving {safe(result.base)} at {paint('cyan', result.address)}"
    if result.open:
        yield paint("dim", "without tokens: whoever uses this machine may ask; Ctrl-C stops")


def render_token(paint: Painter, result: "NewToken") -> Iterable[str]:
    yield result.token
    held = f", held to the project {safe(result.project)}" if result.project else ""
    detail = f"{safe(result.name)}: {result.scope}{held}; it is not shown again"
    yield paint("dim", detail)


def render_tokens(paint: Painter, result: "TokenList") -> Iterable[str]:
    for token in result.tokens:
        held = f" · project {safe(token.project)}" if token.project else ""
        used = f"last used {minute(token.last_used_at)}" if token.last_used_at else "never used"
        when = paint("dim", f" · made {token.created_at[:10]} · {used}")
        yield f"{paint('cyan', safe(token.name))}: {token.scope}{held}{when}"
    if not result.tokens:
        yield "there are no tokens; kb token new makes one"
