"""Serving one client over standard input and output, until it closes them."""

from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from knowbase.mcp.server import build_server

if TYPE_CHECKING:
    from knowbase.base import Base


def serve(base: "Base") -> None:
    """Answer what comes in; nothing but the protocol goes out."""
    anyio.run(_serve, base)


async def _serve(base: "Base") -> None:
    server = build_server(base)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
