"""A base over the workers of a Citus cluster.

Chunks and their vectors are distributed by their document, so that a document's parts live
together. What a worker joins them with is on every node (reference tables). What is only asked for
by itself stays on the coordinator: the words, which lie in blocks of many documents, the history,
and the counters that every writer locks.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier, Literal

from knowbase.errors import Conflict
from knowbase.store.compile import Compiled
from knowbase.store.postgres.schema import LOCK
from knowbase.values.cluster import ClusterState, Worker

EVERYWHERE = (
    "documents", "sessions", "links", "names", "mentions", "edges", "unlinked", "uses",
    "verdicts", "relations",
)  # fmt: skip
"""Documents, and what is said of them: filters are met where the chunks are."""

_VECTORS = r"^vectors_[0-9]+$"
ONE_BY_ONE = "SET LOCAL citus.multi_shard_modify_mode = sequential"
"""One connection to each worker for all that a transaction does there: what it has read of a table
that is on every node, it may then write."""

_EVERYWHERE = "SELECT create_reference_table('{}')"
_BESIDE_CHUNKS = "SELECT create_distributed_table('{}', 'document', colocate_with => 'chunks')"
_OWN_KEYS = (
    # No key leads to another kind of table: every writer holds the lock of its base, and removes
    # what belongs to what it removes.
    "ALTER TABLE documents DROP CONSTRAINT documents_base_id_fkey",
    "ALTER TABLE sessions DROP CONSTRAINT sessions_base_id_fkey",
    "ALTER TABLE chunks DROP CONSTRAINT chunks_base_id_document_fkey",
    "ALTER TABLE chunks DROP CONSTRAINT chunks_pkey CASCADE,"
    " ADD PRIMARY KEY (base_id, document, id)",
    "CREATE INDEX chunks_id ON chunks (base_id, id)",
)
_KEY_OF_VECTORS = "PRIMARY KEY (base_id, model, chunk, document)"
_CHUNK_OF_VECTORS = (
    "FOREIGN KEY (base_id, document, chunk) REFERENCES chunks (base_id, document, id)"
    " ON DELETE CASCADE"
)
BESIDE_ITS_DOCUMENT = f"document bigint NOT NULL, {_KEY_OF_VECTORS}, {_CHUNK_OF_VECTORS}"
_OWN_KEYS_OF_VECTORS = (
    "ALTER TABLE {0} ADD COLUMN document bigint",
    "UPDATE {0} v SET document = c.document FROM chunks c"
    " WHERE c.base_id = v.base_id AND c.id = v.chunk",
    "ALTER TABLE {0} ALTER COLUMN document SET NOT NULL, DROP CONSTRAINT {0}_pkey,"
    f" ADD {_KEY_OF_VECTORS}, ADD {_CHUNK_OF_VECTORS}",
)


class BaseConnection(Connection[tuple[Any, ...]]):
    """A connection that knows how the tables of its base lie."""

    is_distributed = False
    is_partial = False  # whether to do without workers that are away


def is_distributed(connection: Connection[Any]) -> bool:
    return isinstance(connection, BaseConnection) and connection.is_distributed


def together(connection: Connection[Any], one: str, other: str) -> SQL:
    """The rest of a join of two tables that are distributed by document: it stays on a worker."""
    text = f" AND {one}.document = {other}.document" if is_distributed(connection) else ""
    return SQL(text)


def apart(connection: Connection[Any], base: int) -> Callable[[Compiled], Compiled] | None:
    """Makes a test of documents before a query over the cluster: Citus neither walks down a tree
    nor looks into what a document says beside the query of its chunks."""

    def seqs(test: Compiled) -> Compiled:
        statement = SQL(f"SELECT d.seq FROM documents d WHERE d.base_id = %s AND {test.sql}")
        found = connection.execute(statement, (base, *test.values)).fetchall()
        return Compiled("d.seq = ANY(%s)", [[seq for (seq,) in found]])

    return seqs if is_distributed(connection) else None


def has_distributed(connection: Connection[Any], schema: str) -> bool:
    """Whether the chunks of this schema are; the database has Citus."""
    return _kind(connection, schema, "chunks") == "distributed"


def distribute(connection: Connection[Any], schema: str) -> None:
    """Give each table of the schema its place, unless it has it; nothing where Citus has no
    workers. Who comes second waits, and finds it done."""
    if not has_workers(connection):
        return
    connection.execute("SET LOCAL statement_timeout = 0")
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    if not has_distributed(connection, schema):
        _check_coordinator(connection)
        steps = distribution(_vector_tables(connection, schema))
    else:
        new = [one for one in EVERYWHERE if _kind(connection, schema, one) is None]
        steps = iter((ONE_BY_ONE, *map(_EVERYWHERE.format, new)))
    for statement in steps:
        connection.execute(SQL(statement))


def distribution(vectors: Iterable[str]) -> Iterator[str]:
    """The statements that give the tables their places; of vectors, these."""
    yield ONE_BY_ONE
    yield from _OWN_KEYS
    yield from map(_EVERYWHERE.format, EVERYWHERE)
    yield "SELECT create_distributed_table('chunks', 'document', colocate_with => 'none')"
    for table in vectors:
        yield from (one.format(table) for one in (*_OWN_KEYS_OF_VECTORS, _BESIDE_CHUNKS))


def spread(connection: Connection[Any], table: str) -> None:
    """Distribute a table beside the chunks that its rows are of."""
    connection.execute(SQL(_BESIDE_CHUNKS.format(table)))


def _name(schema: str, table: str) -> str:
    return Identifier(schema, table).as_string()


def has_workers(connection: Connection[Any]) -> bool:
    row = connection.execute(
        "SELECT 1 FROM pg_dist_node WHERE noderole = 'primary' AND isactive"
        " AND groupid <> 0 AND shouldhaveshards LIMIT 1"
    ).fetchone()
    return row is not None


def _check_coordinator(connection: Connection[Any]) -> None:
    row = connection.execute("SELECT 1 FROM pg_dist_node WHERE groupid = 0").fetchone()
    if row is None:
        raise Conflict(
            "the workers of this Citus cluster do not know its coordinator",
            field="base",
            hint="as an administrator: SELECT citus_set_coordinator_host('its.host.name', 5432)",
        )


def _vector_tables(connection: Connection[Any], schema: str) -> list[str]:
    found = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = %s AND tablename ~ %s",
        (schema, _VECTORS),
    )
    return [name for (name,) in found]


def _kind(connection: Connection[Any], schema: str, table: str) -> str | None:
    """`distributed`, `reference`, or None of a table that lies on the coordinator alone."""
    row = connection.execute(
        "SELECT CASE WHEN partmethod = 'h' THEN 'distributed' WHEN repmodel = 't' THEN 'reference'"
        " END FROM pg_dist_partition WHERE logicalrelid = to_regclass(%s)",
        (_name(schema, table),),
    ).fetchone()
    return row[0] if row else None


# what status shows


def state(connection: Connection[Any], schema: str) -> ClusterState | None:
    """The workers with their shards; a worker that does not answer has no size."""
    placed = connection.execute(
        "SELECT n.nodename, n.nodeport, count(DISTINCT s.shardid), count(DISTINCT s.shardminvalue)"
        " FILTER (WHERE s.shardminvalue IS NOT NULL) FROM pg_dist_node n"
        " LEFT JOIN pg_dist_placement p USING (groupid) LEFT JOIN pg_dist_shard s"
        " ON s.shardid = p.shardid AND s.logicalrelid = to_regclass(%s)"
        " WHERE n.noderole = 'primary' GROUP BY n.nodename, n.nodeport, n.shouldhaveshards"
        " HAVING n.shouldhaveshards OR count(s.shardid) > 0 ORDER BY 1, 2",  # one may be emptied
        (_name(schema, "chunks"),),
    ).fetchall()
    sizes = dict(_sizes(connection, schema))
    workers = [
        Worker(f"{host}:{port}", shards, sizes.get((host, port)))
        for host, port, shards, _ in placed
    ]
    return ClusterState(tuple(workers), sum(one.shards for one in workers))


def _sizes(
    connection: Connection[Any], schema: str
) -> Iterator[tuple[tuple[str, int], int | None]]:
    """Bytes of the chunks and vectors on each worker, asked of it."""
    total = SQL(
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c"
        " WHERE c.relnamespace = to_regnamespace({}) AND c.relkind = 'r'"
        " AND c.relname ~ '^(chunks|vectors_[0-9]+)_[0-9]+$'"
    ).format(Literal(Identifier(schema).as_string()))
    rows = connection.execute(
        "SELECT nodename, nodeport, success, result FROM run_command_on_workers(%s)",
        (total.as_string(connection),),
    )
    for host, port, success, result in rows:
        yield (host, port), int(result) if success else None
