"""A Citus cluster for the tests: one whose coordinator KB_TEST_POSTGRES names."""

from collections.abc import Sequence
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


def shards_each(server: str) -> list[int]:
    """How many shards each of the workers gets, one after the other."""
    workers = len(nodes(server)) - 1
    return [SHARDS // workers + (number < SHARDS % workers) for number in range(workers)]


def extend(server: str, name: str) -> bool:
    """Make a database on the whole cluster, if the server is the coordinator of one."""
    servers = nodes(server)
    if servers:
        join(prepare(server, name), servers)
    return bool(servers)


def prepare(server: str, name: str) -> str:
    """A new database with its extensions on every server; they do not know of each other yet."""
    drop(server, name)
    for one in nodes(server):
        prepare_on(server, one, name)
    return urlsplit(server)._replace(path=f"/{name}").geturl()


def prepare_on(server: str, node: Node, name: str, *, tablespace: str = "pg_default") -> None:
    """The database on one of the servers; if it is there, it is made anew."""
    with psycopg.connect(at(server, node), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} TABLESPACE {tablespace}")
        connection.execute(f"ALTER DATABASE {name} SET citus.shard_count = {SHARDS}")
    with psycopg.connect(at(server, node, name), autocommit=True) as connection:
        for extension in ("citus", "vector"):
            connection.execute(f"CREATE EXTENSION IF NOT EXISTS {extension}")


def drop(server: str, name: str) -> None:
    for one in nodes(server):
        with psycopg.connect(at(server, one), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def join(database: str, servers: Sequence[Node]) -> None:
    """Make them one cluster."""
    with psycopg.connect(database, autocommit=True) as connection:
        for one in servers:
            function = "citus_add_node" if one.group else "citus_set_coordinator_host"
            connection.execute(f"SELECT {function}(%s, %s)", (one.host, one.port))


def at(url: str, node: Node, name: str | None = None) -> str:
    """A database as the same user on one of the servers."""
    parts = urlsplit(url)
    user = f"{parts.username}@" if parts.username else ""
    path = parts.path if name is None else f"/{name}"
    return parts._replace(netloc=f"{user}{node.host}:{node.port}", path=path).geturl()
