"""A base that a server serves: the same operations, over its HTTP API."""

from knowbase.client.client import Client, connect, is_server

__all__ = ["Client", "connect", "is_server"]
