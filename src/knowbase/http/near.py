"""What is served to this machine alone: settings and tokens, to who may do everything."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request

from knowbase.config import Settings, is_for_the_command
from knowbase.errors import NotAllowed
from knowbase.operations.declare import Operation
from knowbase.values.access import Access
from knowbase.values.hosts import is_loopback

_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class Nearness:
    """Whether somebody asks from the machine that serves, and of a server for it alone: a proxy
    may stand before one that is called by other names."""

    def __init__(self, host: str, settings: Settings) -> None:
        self._is_own = is_loopback(host) and not (settings.serve_url or settings.serve_hosts)

    def check(self, operation: Operation, request: Request, access: Access) -> None:
        """Refuse whoever asks from elsewhere, or may not do everything."""
        if not operation.near:
            return
        if not access.is_full:
            told = f"{operation.name} needs a token for writing, of no project"
            raise NotAllowed(told, hint="kb token new --scope write")
        if not self.is_near(request):
            raise NotAllowed(
                f"{operation.name} is served to this machine alone",
                hint=f"kb {operation.name}, where the base is",
            )

    def is_near(self, request: Request) -> bool:
        """Whether whoever asks sits at this machine."""
        return self._is_own and _is_from_here(request)


def _is_from_here(request: Request) -> bool:
    headers = Headers(scope=request.scope)
    if any(name in headers for name in _FORWARDED):
        return False
    return request.client is not None and is_loopback(request.client.host)


def check_values(operation: Operation, values: Mapping[str, Any]) -> None:
    """What even those who may do everything change by the command alone."""
    key = str(values.get("key", ""))
    if operation.near and operation.writes and is_for_the_command(key):
        raise NotAllowed(
            f"{key} is not changed over HTTP", field="key", hint=f"kb {operation.name} {key} …"
        )
