"""Reading what the workers of a cluster that answer have, while others are away.

Citus answers a query over all shards or not at all. So here the statement is sent to each shard
by its name: what comes back is to be put together by the caller.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from psycopg import ClientCursor, Connection
from psycopg.sql import SQL, Composable, Identifier

from knowbase.errors import BaseUnreachable
from knowbase.store.nearest import nearest
from knowbase.store.postgres.cluster import BaseConnection
from knowbase.store.postgres.vector_tables import as_text, from_text
from knowbase.values.documents import Candidate
from knowbase.values.vectors import Vector

_TABLE = re.compile(r'\b(FROM|JOIN) "?([a-z_]+(?:_[0-9]+)?)"?(?![a-z0-9_(.])')


class _Shard(NamedTuple):
    """Where a part of the documents lies, and what its tables are called there."""

    host: str
    port: int
    tables: Mapping[str, str]


def rows(
    connection: Connection[Any], statement: Composable, values: Sequence[Any]
) -> list[tuple[Any, ...]]:
    """What the statement finds; of a cluster that lacks workers, what each shard finds."""
    if not is_partial(connection):
        return connection.execute(statement, values).fetchall()  # type: ignore[call-overload, no-any-return]
    return _gathered(connection, statement, values)


def summed(found: Iterable[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Rows that end with a number, each once: a shard knows its own number alone."""
    numbers: dict[tuple[Any, ...], int] = {}
    for *key, number in found:
        numbers[tuple(key)] = numbers.get(tuple(key), 0) + int(number)
    return [(*key, number) for key, number in numbers.items()]


def nearest_of_shards(
    connection: Connection[Any],
    where: Composable,
    scope: tuple[Any, ...],
    asked: tuple[Vector, int],
) -> list[Candidate]:
    """The nearest of what the workers that answer have: all that pass are compared."""
    vector, limit = asked
    statement = SQL(
        "SELECT v.chunk, v.embedding::text, v.embedding <=> %s::vector {} ORDER BY 3 LIMIT %s"
    ).format(where)

    def propose(number: int) -> list[tuple[int, Vector]]:
        found = rows(connection, statement, (as_text(vector), *scope, number))
        found.sort(key=lambda row: row[2])
        return [(chunk, from_text(given)) for chunk, given, _ in found[:number]]

    return nearest(vector, limit, propose)


def is_partial(connection: Connection[Any]) -> bool:
    return isinstance(connection, BaseConnection) and connection.is_partial


def _gathered(
    connection: Connection[Any], statement: Composable, values: Sequence[Any]
) -> list[tuple[Any, ...]]:
    text = statement.as_string(connection)
    shards = list(_shards(connection))
    commands = [_command(connection, _at(text, shard.tables), values) for shard in shards]
    found = connection.execute(
        "SELECT success, result FROM master_run_on_worker(%s, %s, %s, true)",
        ([one.host for one in shards], [one.port for one in shards], commands),
    ).fetchall()
    answers = [result for success, result in found if success]
    if not answers:
        raise BaseUnreachable("no worker of the cluster answers", hint="kb status names them")
    return [tuple(row) for answer in answers for row in json.loads(answer)]


def _shards(connection: Connection[Any]) -> Iterator[_Shard]:
    """Each part of the distributed tables of the schema, beside it those that are everywhere."""
    found = connection.execute(
        "SELECT s.shardminvalue, n.nodename, n.nodeport, c.relname, s.shardid"
        " FROM pg_dist_shard s JOIN pg_class c ON c.oid = s.logicalrelid"
        " JOIN pg_dist_placement p ON p.shardid = s.shardid"
        " JOIN pg_dist_node n ON n.groupid = p.groupid AND n.noderole = 'primary'"
        " WHERE c.relnamespace = current_schema()::regnamespace"
        " AND (s.shardminvalue IS NOT NULL OR n.groupid = 0)"
    ).fetchall()
    schema = _schema(connection)
    everywhere: dict[str, str] = {}
    parts: dict[tuple[str, int, str], dict[str, str]] = {}
    for least, host, port, table, number in found:
        name = Identifier(schema, f"{table}_{number}").as_string()
        if least is None:
            everywhere[table] = name
        else:
            parts.setdefault((host, port, least), {})[table] = name
    for (host, port, _), tables in parts.items():
        yield _Shard(host, port, {**everywhere, **tables})


def _schema(connection: Connection[Any]) -> str:
    row = connection.execute("SELECT current_schema()").fetchone()
    return str(row[0]) if row else ""


def _at(text: str, tables: Mapping[str, str]) -> str:
    """The statement over the tables of one shard."""
    return _TABLE.sub(lambda one: f"{one[1]} {tables.get(one[2], one[2])}", text)


def _command(connection: Connection[Any], text: str, values: Sequence[Any]) -> str:
    """With its values in it, and all rows in one text: a worker is sent a text, and sends one."""
    whole = (
        "SELECT coalesce(json_agg((SELECT json_agg(e.value) FROM json_each(row_to_json(r)) e)),"
        f" '[]') FROM ({text}) r"
    )
    return ClientCursor(connection).mogrify(SQL(whole), values)
