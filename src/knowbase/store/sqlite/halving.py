"""Vectors of earlier versions: single precision, in blocks of sqlite-vec's tables.

They are read without it: a block is a long value with one vector behind the other, and two tables
say which chunk lies where.
"""

from typing import Any

import apsw

from knowbase.store.halves import as_kept, halved
from knowbase.store.seals import vector_seal
from knowbase.store.sqlite.vector_tables import create_vector_table, vector_table
from knowbase.values.vectors import Vector

_ENDS = ("chunks", "rowids", "vector_chunks00", "info")  # of the tables behind a virtual one


def halve_vectors(connection: apsw.Connection) -> None:
    """Within the transaction of an upgrade: every vector at half precision, in a table of ours."""
    from knowbase.store.sqlite.change_log import VECTORS

    models: Any = connection.execute("SELECT id, dimensions FROM models").fetchall()
    for model, dimensions in models:
        if _is_virtual(connection, model):
            _forget_virtual(connection, model)
            create_vector_table(connection, model)
            _copy(connection, model, dimensions)
            for end in _ENDS:
                connection.execute(f"DROP TABLE IF EXISTS {vector_table(model)}_{end}")
    past: Any = connection.execute("SELECT hash, model, embedding FROM past_vectors").fetchall()
    for digest, model, vector in past:
        connection.execute(
            "UPDATE past_vectors SET embedding = ? WHERE hash = ? AND model = ?",
            (halved(vector), digest, model),
        )
    connection.execute("DROP TABLE IF EXISTS vectors_left")
    VECTORS.drop(connection)  # an index of what was is none of what is


def _is_virtual(connection: apsw.Connection, model: int) -> bool:
    sql = "SELECT sql LIKE 'CREATE VIRTUAL%' FROM sqlite_schema WHERE name = ?"
    return bool(connection.execute(sql, (vector_table(model),)).get)


def _forget_virtual(connection: apsw.Connection, model: int) -> None:
    """Only sqlite-vec could drop its table; without its entry, those behind it are plain ones."""
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute("DELETE FROM sqlite_schema WHERE name = ?", (vector_table(model),))
    connection.execute("PRAGMA writable_schema = RESET")


def _copy(connection: apsw.Connection, model: int, dimensions: int) -> None:
    """Those that count, with a seal of what is kept where the old one was right."""
    import numpy as np

    table = vector_table(model)
    numbers: Any = connection.execute(
        f"SELECT chunk_id, rowids, validity FROM {table}_chunks ORDER BY chunk_id"
    ).fetchall()
    for block, rowids, validity in numbers:
        sql = f"SELECT vectors FROM {table}_vector_chunks00 WHERE rowid = ?"
        held: Any = connection.execute(sql, (block,)).get
        vectors = np.frombuffer(held, "<f4").reshape(-1, dimensions)
        is_there = np.unpackbits(np.frombuffer(validity, "u1"), bitorder="little")
        chunks = np.frombuffer(rowids, "<i8")
        places = {int(chunks[at]): at for at in np.flatnonzero(is_there[: len(chunks)])}
        listed = "[" + ",".join(map(str, places)) + "]"
        counted: Any = connection.execute(
            "SELECT chunk, seal FROM embedded WHERE model = ?"
            " AND chunk IN (SELECT value FROM json_each(?))",
            (model, listed),
        ).fetchall()
        rows, seals = [], []
        for chunk, seal in counted:
            vector = vectors[places[chunk]].tobytes()
            rows.append((chunk, halved(vector)))
            if seal is not None and seal == vector_seal(vector):
                seals.append((vector_seal(as_kept(vector)), model, chunk))
        connection.executemany(
            f"INSERT OR REPLACE INTO {table} (chunk_id, embedding) VALUES (?, ?)", rows
        )
        connection.executemany("UPDATE embedded SET seal = ? WHERE model = ? AND chunk = ?", seals)


def vector_in_block(
    connection: apsw.Connection, model: int, chunk: int, dimensions: int
) -> Vector | None:
    """One vector of an earlier version's base."""
    table = vector_table(model)
    found: Any = connection.execute(
        f"SELECT substr(v.vectors, 1 + r.chunk_offset * ?1, ?1) FROM {table}_rowids r"
        f" JOIN {table}_vector_chunks00 v ON v.rowid = r.chunk_id WHERE r.rowid = ?2",
        (4 * dimensions, chunk),
    ).get
    return found if isinstance(found, bytes) else None
