"""What a client says that it takes: Accept and Accept-Encoding, with their qualities."""

from starlette.datastructures import Headers
from starlette.middleware.gzip import GZipMiddleware
from starlette.types import Receive, Scope, Send

JSON, PROBLEM = "application/json", "application/problem+json"
_PACKING = ("gzip", "x-gzip")  # two names of one thing


def qualities(told: str) -> dict[str, float]:
    """What a header names, and how much it is liked: from 0, which is not at all, to 1."""
    found: dict[str, float] = {}
    for item in told.lower().split(","):
        name, *parameters = (part.strip() for part in item.split(";"))
        if name:
            found[name] = max(found.get(name, 0.0), _quality(parameters))
    return found


def _quality(parameters: list[str]) -> float:
    told = [one[2:] for one in parameters if one.startswith("q=")]
    try:
        quality = float(told[0]) if told else 1.0
    except ValueError:
        return 0.0  # whatever it is, it is not a wish
    return quality if 0.0 <= quality <= 1.0 else 0.0


def wants_problem(scope: Scope) -> bool:
    """Whether errors are wanted as RFC 9457 has them: it is named, and not liked less."""
    liked = qualities(Headers(scope=scope).get("accept", ""))
    return liked.get(PROBLEM, 0.0) > 0 and liked[PROBLEM] >= liked.get(JSON, 0.0)


def takes_packed(told: str) -> bool:
    """Whether a header allows gzip; a name of its own counts before the star."""
    liked = qualities(told)
    named = [liked[name] for name in _PACKING if name in liked]
    return max(named) > 0 if named else liked.get("*", 0.0) > 0


class Packed(GZipMiddleware):
    """Packs long answers for who takes them packed: `gzip;q=0` says no, which Starlette's own
    reads as yes."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            told = ", ".join(Headers(scope=scope).getlist("accept-encoding"))
            encoding = b"gzip" if takes_packed(told) else b"identity"
            others = [one for one in scope["headers"] if one[0] != b"accept-encoding"]
            scope = {**scope, "headers": [*others, (b"accept-encoding", encoding)]}
        await super().__call__(scope, receive, send)
