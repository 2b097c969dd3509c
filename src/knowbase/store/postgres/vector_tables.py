"""The tables of pgvector, their indexes, and vectors as they go in and come out."""

from array import array
from sys import byteorder

from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier, Literal

from knowbase.store.postgres.cluster import BESIDE_ITS_DOCUMENT, is_distributed, spread
from knowbase.store.postgres.schema import LOCK
from knowbase.values.vectors import Vector

_KEYS = (
    "PRIMARY KEY (base_id, model, chunk), FOREIGN KEY (base_id, chunk)"
    " REFERENCES chunks (base_id, id) ON DELETE CASCADE"
)
VECTORS_A_LIST = 1000
LEAST_LISTS = 10
HALVES = "(embedding::halfvec({})) halfvec_cosine_ops"
HNSW = "m = 24, ef_construction = 128"  # with pgvector's own, dense clusters hide some vectors


def vector_table(dimensions: int) -> Identifier:
    """Vectors of one length share a table: an index needs a fixed length."""
    return Identifier(f"vectors_{dimensions:d}")


def create_vector_table(connection: Connection, dimensions: int) -> None:
    """Unless it is there: who may write need not be one who may create. An index comes when there
    are so many vectors that a search needs it: to keep one up costs more than all else that is
    written, and to build it of many at once a fraction of that."""
    if is_there(connection, f"vectors_{dimensions:d}"):
        return
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    connection.execute(vector_table_sql(dimensions, spread=is_distributed(connection)))
    if is_distributed(connection):
        spread(connection, f"vectors_{dimensions:d}")


def vector_table_sql(dimensions: int, *, spread: bool = False) -> Composed:
    return SQL(
        "CREATE TABLE IF NOT EXISTS {table} (base_id integer NOT NULL, model integer NOT NULL,"
        " chunk bigint NOT NULL, embedding vector({dimensions}) NOT NULL,"
        " seal bytea, {keys})"
    ).format(
        table=vector_table(dimensions),
        dimensions=Literal(dimensions),
        keys=SQL(BESIDE_ITS_DOCUMENT if spread else _KEYS),
    )


def is_there(connection: Connection, name: str) -> bool:
    row = connection.execute("SELECT to_regclass(%s) IS NOT NULL", (name,)).fetchone()
    return bool(row and row[0])


def is_owned(connection: Connection, table: str) -> bool:
    """Only who owns a table may build an index of it."""
    row = connection.execute(
        "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass(%s)",
        (table,),
    ).fetchone()
    return bool(row and row[0])


def learn_lists(connection: Connection, dimensions: int, enough: int) -> None:
    """Build IVFFlat once there is enough to learn from: its lists are clusters of what is there.

    Until then, searches compare every vector.
    """
    if lists_of(connection, dimensions) or not is_owned(connection, f"vectors_{dimensions:d}"):
        return
    if not are_more(connection, f"vectors_{dimensions:d}", enough):
        return
    whole = connection.execute(
        SQL("SELECT count(*) FROM {}").format(vector_table(dimensions))
    ).fetchone()
    lists = max(LEAST_LISTS, (whole[0] if whole else 0) // VECTORS_A_LIST)
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    connection.execute(
        SQL(
            "CREATE INDEX IF NOT EXISTS {} ON {} USING ivfflat (embedding vector_cosine_ops)"
            " WITH (lists = {})"
        ).format(
            Identifier(f"vectors_{dimensions:d}_ivfflat"), vector_table(dimensions), Literal(lists)
        )
    )


def is_hnsw_due(connection: Connection, dimensions: int, enough: int, *, anew: bool) -> bool:
    """Whether an index is wanted and this user is one who may build it."""
    if not is_owned(connection, f"vectors_{dimensions:d}"):
        return False
    if is_there(connection, f"vectors_{dimensions:d}_hnsw"):
        return anew
    return are_more(connection, f"vectors_{dimensions:d}", enough)


def build_hnsw(connection: Connection, dimensions: int, *, anew: bool) -> None:
    """Of all vectors that there are: who writes some meanwhile waits, who reads does not. In half
    precision, where pgvector has that: the index proposes, the vectors themselves decide."""
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    old = Identifier(f"vectors_{dimensions:d}_hnsw")
    new = Identifier(f"vectors_{dimensions:d}_hnsw_new")
    key = SQL(HALVES if _has_halves(connection) else "embedding vector_cosine_ops")
    connection.execute(
        SQL(f"CREATE INDEX IF NOT EXISTS {{}} ON {{}} USING hnsw ({{}}) WITH ({HNSW})").format(
            new if anew else old,
            vector_table(dimensions),
            key.format(Literal(dimensions)),
        )
    )
    if not anew:
        return
    connection.execute(SQL("DROP INDEX IF EXISTS {}").format(old))  # now, for that readers wait
    connection.execute(SQL("ALTER INDEX {} RENAME TO {}").format(new, old))


def _has_halves(connection: Connection) -> bool:
    row = connection.execute("SELECT to_regtype('halfvec') IS NOT NULL").fetchone()
    return bool(row and row[0])


def is_of_halves(connection: Connection, dimensions: int) -> bool:
    """Whether HNSW, if there is one, has its vectors in half precision."""
    row = connection.execute(
        "SELECT pg_get_indexdef(to_regclass(%s)) LIKE '%%halfvec%%'",
        (f"vectors_{dimensions:d}_hnsw",),
    ).fetchone()
    return bool(row and row[0])


def built(connection: Connection, dimensions: int) -> tuple[int, int] | None:
    """How many vectors of how many are in the index that is being built, if one is."""
    row = connection.execute(
        "SELECT tuples_done, tuples_total FROM pg_stat_progress_create_index"
        " WHERE relid = to_regclass(%s)",
        (f"vectors_{dimensions:d}",),
    ).fetchone()
    return (int(row[0]), int(row[1])) if row else None


def are_more(connection: Connection, table: str, enough: int) -> bool:
    statement = SQL("SELECT count(*) FROM (SELECT 1 FROM {} LIMIT %s) enough")
    row = connection.execute(statement.format(Identifier(table)), (enough + 1,)).fetchone()
    return row is not None and row[0] > enough


def lists_of(connection: Connection, dimensions: int) -> int:
    """How many lists the IVFFlat index has; 0 when there is none."""
    row = connection.execute(
        "SELECT option_value::int FROM pg_class, pg_options_to_table(reloptions)"
        " WHERE oid = to_regclass(%s) AND option_name = 'lists'",
        (f"vectors_{dimensions:d}_ivfflat",),
    ).fetchone()
    return int(row[0]) if row else 0


def probes_of(lists: int) -> int:
    """How many of an index's lists are looked at: all of few, a tenth of many."""
    return min(lists, LEAST_LISTS + lists // 10)


def as_text(vector: Vector) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(map(repr, memoryview(vector).cast("f"))) + "]"


def from_text(given: str) -> Vector:
    """A vector as pgvector writes it."""
    return array("f", map(float, given[1:-1].split(","))).tobytes()


def packed(vector: Vector) -> bytes:
    """A vector as pgvector takes it in binary form; see `unpacked`."""
    numbers = array("f", vector)
    length = len(numbers).to_bytes(2, "big") + b"\0\0"
    if byteorder == "little":
        numbers.byteswap()
    return length + numbers.tobytes()


def unpacked(given: bytes) -> Vector:
    """A vector as pgvector sends it: a header of four bytes, then big-endian numbers."""
    numbers = array("f", given[4:])
    if byteorder == "little":
        numbers.byteswap()
    return numbers.tobytes()
