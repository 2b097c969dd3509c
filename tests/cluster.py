"""A Citus cluster for the tests: one whose coordinator KB_TEST_POSTGRES names."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg

SHARDS = 4
_EXTENSIONS = ("citus", "vector")


class Node(NamedTuple):
    """A server of the cluster, as the coordinator knows it."""

    group: int  # 0 is the coordinator
    host: str
    port: int


def nodes(url: str) -> list[Node]:
    """All servers of the cluster whose coordinator this is; none where there is no Citus."""
    with psycopg.connect(url, autocommit=True) as connection:
        known = connection.execute("SELECT to_regclass('pg_catalog.pg_dist_node')").fetchone()
        if known is None or known[0] is None:
            return []
        found = connection.execute(
            "SELECT groupid, nodename, nodeport FROM pg_dist_node ORDER BY groupid"
        )
        return [Node(*row) for row in found]


def extend(server: str, database: str) -> None:
    """Make a new database of the coordinator one of the whole cluster, if it is one."""
    servers = nodes(server)
    if servers:
        prepare(server, database)
        join(database, servers)


def prepare(server: str, database: str) -> None:
    """The database and its extensions on every server; they do not know of each other yet."""
    name = urlsplit(database).path[1:]
    for one in nodes(server):
        place = at(database, one) if one.group else database
        if one.group:
            with psycopg.connect(at(server, one), autocommit=True) as connection:
                connection.execute(f"DROP DATABASE IF EXISTS {name}")
                connection.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(place, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} SET citus.shard_count = {SHARDS}")
            for extension in _EXTENSIONS:
                connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")


def join(database: str, servers: Sequence[Node]) -> None:
    """Make them one cluster."""
    with psycopg.connect(database, autocommit=True) as connection:
        for one in servers:
            function = "citus_add_node" if one.group else "citus_set_coordinator_host"
            connection.execute(f"SELECT {function}(%s, %s)", (one.host, one.port))


def at(url: str, node: Node) -> str:
    """The same database, as the same user, on another server."""
    parts = urlsplit(url)
    user = f"{parts.username}@" if parts.username else ""
    return parts._replace(netloc=f"{user}{node.host}:{node.port}").geturl()
