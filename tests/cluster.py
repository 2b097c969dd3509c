"""A Citus cluster for the tests: one whose coordinator KB_TEST_POSTGRES names."""

from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg

SHARDS = 4


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
    name = urlsplit(database).path[1:]
    servers = nodes(server)
    for one in servers:
        if one.group:
            _make(server, one, name)
    if not servers:
        return
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"ALTER DATABASE {name} SET citus.shard_count = {SHARDS}")
        for extension in ("citus", "vector"):
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
        for one in servers:
            place = (one.host, one.port)
            if one.group:
                connection.execute("SELECT citus_add_node(%s, %s)", place)
            else:
                connection.execute("SELECT citus_set_coordinator_host(%s, %s)", place)


def worker_url(server: str, node: Node, name: str) -> str:
    """A database of a worker, as the same user."""
    parts = urlsplit(server)
    user = f"{parts.username}@" if parts.username else ""
    return parts._replace(netloc=f"{user}{node.host}:{node.port}", path=f"/{name}").geturl()


def _make(server: str, node: Node, name: str) -> None:
    with psycopg.connect(worker_url(server, node, "postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.execute(f"CREATE DATABASE {name}")
    with psycopg.connect(worker_url(server, node, name), autocommit=True) as connection:
        for extension in ("citus", "vector"):
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")
