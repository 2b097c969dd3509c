"""The tables of vectors: what they are called, and how they are made and read."""

import apsw

from knowbase.store.sqlite.packing import has_hash


def vector_table(model: int) -> str:
    """Vectors are kept per model, each in a table of its own."""
    return f"chunks_vec_{model:d}"


def stored_vectors(model: int) -> str:
    """The query for chunks by their numbers, and their vectors at half precision."""
    return (
        "SELECT v.chunk_id, v.embedding FROM json_each(?) wanted"
        f" CROSS JOIN {vector_table(model)} v ON v.chunk_id = wanted.value"
    )


def stored_by_hash(model: int) -> str:
    """The query for vectors by the hash of what was embedded."""
    return (
        "SELECT wanted.value, v.embedding FROM json_each(?) wanted"
        f" CROSS JOIN {vector_table(model)} v ON v.chunk_id ="
        " (SELECT c.id FROM main.chunks c CROSS JOIN main.embedded e ON e.model = ? AND"
        f" e.chunk = c.id WHERE {has_hash('wanted.value')} LIMIT 1)"
    )


def create_vector_table(connection: apsw.Connection, model: int) -> None:
    """A row a chunk: five of 384 numbers fill a page, and one is read as fast as any row."""
    connection.execute(
        f"CREATE TABLE {vector_table(model)}"
        " (chunk_id INTEGER PRIMARY KEY, embedding BLOB NOT NULL)"
    )
