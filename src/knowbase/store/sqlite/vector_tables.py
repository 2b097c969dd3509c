"""The tables of sqlite-vec: what they are called, how they are made and kept small."""

import apsw

VECTORS_A_BLOCK = 128
"""A block is one long value, and one vector is read by walking there: out of sqlite-vec's own
1,024 that takes five times as long, and a scan over all is no faster."""


def vector_table(model: int) -> str:
    """Vectors are kept per model, each in a table of its own with its own dimensions."""
    return f"chunks_vec_{model:d}"


def stored_vectors(table: str) -> str:
    """The query for chunks by their numbers, and their vectors."""
    return (
        f"SELECT v.chunk_id, v.embedding FROM json_each(?) wanted CROSS JOIN {table} v"
        " ON v.chunk_id = wanted.value"
    )


def stored_by_hash(model: int) -> str:
    """The query for vectors by the hash of what was embedded."""
    return (
        "SELECT wanted.value, v.embedding FROM json_each(?) wanted"
        f" CROSS JOIN {vector_table(model)} v ON v.chunk_id ="
        " (SELECT c.id FROM main.chunks c CROSS JOIN main.embedded e ON e.model = ? AND"
        " e.chunk = c.id WHERE c.hash = wanted.value LIMIT 1)"
    )


def create_vector_table(connection: apsw.Connection, model: int, dimensions: int) -> None:
    connection.execute(
        f"CREATE VIRTUAL TABLE {vector_table(model)} USING vec0 (chunk_id INTEGER PRIMARY KEY,"
        f" embedding float[{dimensions:d}] distance_metric=cosine, chunk_size={VECTORS_A_BLOCK})"
    )


def compact_vectors(connection: apsw.Connection, model: int) -> None:
    """Write the vectors anew when most of their blocks' places are empty.

    sqlite-vec never refills the place of a deleted vector: after many removals a search
    would go over more holes than vectors.
    """
    table = vector_table(model)
    blocks, size = connection.execute(f"SELECT count(*), max(size) FROM {table}_chunks").get
    vectors = int(connection.execute(f"SELECT count(*) FROM {table}_rowids").get)
    if blocks == 0 or (blocks - 1) * size <= 2 * vectors:
        return
    dimensions = connection.execute("SELECT dimensions FROM models WHERE id = ?", (model,)).get
    connection.execute(
        f"CREATE TEMP TABLE kept AS SELECT chunk_id, embedding FROM {table}; DROP TABLE {table}"
    )
    create_vector_table(connection, model, dimensions)
    connection.execute(
        f"INSERT INTO {table} (chunk_id, embedding) SELECT chunk_id, embedding FROM temp.kept;"
        "DROP TABLE temp.kept"
    )
