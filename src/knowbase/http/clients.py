"""Whose request it is: by the token, where there is one, else by the address that it came from."""

import ipaddress
from contextvars import ContextVar
from functools import lru_cache

from starlette.types import Scope

client: ContextVar[str] = ContextVar("client", default="")
"""The client of the request under way."""


@lru_cache(4096)
def address_of(host: str) -> str:
    """The address that is counted: of IPv6 the network, since whoever has one address of it has
    all of them."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


def caller(scope: Scope) -> str:
    """The address of whoever asks; of a proxy's clients that of the proxy."""
    known = scope.get("client")
    return address_of(known[0]) if known else ""


def share(of: int) -> int:
    """What one client may have of something: a quarter is always left for the others."""
    return of - of // 4
