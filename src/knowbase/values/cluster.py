"""A cluster of servers that a base lies on."""

from typing import NamedTuple


class Worker(NamedTuple):
    """A server that holds some of the chunks, with their vectors."""

    server: str  # host:port
    shards: int
    size_bytes: int | None  # None when it does not answer


class ClusterState(NamedTuple):
    """How a base lies on its cluster."""

    workers: tuple[Worker, ...]
    shards: int
