"""The tables of pgvector, their indexes, and vectors as they go in and come out."""

from array import array
from sys import byteorder

from psycopg import Connection
from psycopg.sql import SQL, Composable, Identifier, Literal

from knowbase.store.postgres.schema import LOCK
from knowbase.values.vectors import Vector

VECTORS_A_LIST = 1000
LEAST_LISTS = 10


def vector_table(dimensions: int) -> Identifier:
    """Vectors of one length share a table: an index needs a fixed length."""
    return Identifier(f"vectors_{dimensions:d}")


def create_vector_table(connection: Connection, dimensions: int, index: str) -> None:
    """Unless it is there: who may write need not be one who may create."""
    if _is_there(connection, dimensions):
        return
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    connection.execute(
        SQL(
            "CREATE TABLE IF NOT EXISTS {table} (base_id integer NOT NULL, model integer NOT NULL,"
            " chunk bigint NOT NULL, embedding vector({dimensions}) NOT NULL,"
            " seal bytea,"
            " PRIMARY KEY (base_id, model, chunk), FOREIGN KEY (base_id, chunk)"
            " REFERENCES chunks (base_id, id) ON DELETE CASCADE)"
        ).format(table=vector_table(dimensions), dimensions=Literal(dimensions))
    )
    if index == "hnsw":
        _index_vectors(connection, dimensions, index, SQL(""))


def _is_there(connection: Connection, dimensions: int) -> bool:
    row = connection.execute(
        "SELECT to_regclass(%s) IS NOT NULL", (f"vectors_{dimensions:d}",)
    ).fetchone()
    return bool(row and row[0])


def learn_lists(connection: Connection, dimensions: int, enough: int) -> None:
    """Build IVFFlat once there is enough to learn from: its lists are clusters of what is there.

    Until then, searches compare every vector.
    """
    table = vector_table(dimensions)
    if lists_of(connection, dimensions):
        return
    counted = SQL("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT %s) enough").format(table)
    found = connection.execute(counted, (enough + 1,)).fetchone()
    if found is None or found[0] <= enough:
        return
    whole = connection.execute(SQL("SELECT count(*) FROM {}").format(table)).fetchone()
    lists = max(LEAST_LISTS, (whole[0] if whole else 0) // VECTORS_A_LIST)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    _index_vectors(
        connection, dimensions, "ivfflat", SQL("WITH (lists = {})").format(Literal(lists))
    )


def lists_of(connection: Connection, dimensions: int) -> int:
    """How many lists the IVFFlat index has; 0 when there is none."""
    row = connection.execute(
        "SELECT option_value::int FROM pg_class, pg_options_to_table(reloptions)"
        " WHERE oid = to_regclass(%s) AND option_name = 'lists'",
        (f"knowbase.vectors_{dimensions:d}_ivfflat",),
    ).fetchone()
    return int(row[0]) if row else 0


def _index_vectors(
    connection: Connection, dimensions: int, index: str, options: Composable
) -> None:
    connection.execute(
        SQL("CREATE INDEX IF NOT EXISTS {} ON {} USING {} (embedding vector_cosine_ops) {}").format(
            Identifier(f"vectors_{dimensions:d}_{index}"),
            vector_table(dimensions),
            Identifier(index),
            options,
        )
    )


def probes_of(lists: int) -> int:
    """How many of an index's lists are looked at: all of few, a tenth of many."""
    return min(lists, LEAST_LISTS + lists // 10)


def as_text(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, memoryview(vector).cast("f"))) + "]"


def unpacked(given: bytes) -> Vector:
    """A vector as pgvector sends it: a header of four bytes, then big-endian numbers."""
    numbers = array("f", given[4:])
    if byteorder == "little":
        numbers.byteswap()
    return numbers.tobytes()
