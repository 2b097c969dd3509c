"""Writing seals beside documents, in the transaction that changes them."""

import json
from collections.abc import Collection
from typing import Any

import apsw

from knowbase.store.halves import whole
from knowbase.store.rows import in_order
from knowbase.store.seals import OF_USE, seals_of, use_seal, vector_seal
from knowbase.store.sqlite import reading
from knowbase.store.sqlite.connection import Connections, translated
from knowbase.store.sqlite.vector_tables import vector_table

_BATCH = 100


def seal(connection: apsw.Connection, written: Collection[int]) -> None:
    """Documents that were written whole."""
    _seal(connection, written, "seal = ?, text_seal = ?, use_seal = ?", with_text=True)


def seal_fields(connection: apsw.Connection, edited: Collection[int]) -> None:
    """Documents of which something was said; their text is as it was."""
    _seal(connection, edited, "seal = ?1, use_seal = ?3", with_text=False)


def seal_use(connection: apsw.Connection, used: Collection[int]) -> None:
    """Documents that were of use: after every search of some profiles, so nothing else is read."""
    if not used:
        return
    wanted = json.dumps(sorted(used))
    given = reading.verdicts(connection, wanted)
    found: Any = connection.execute(
        f"SELECT seq, {', '.join(OF_USE)} FROM documents"
        " WHERE seq IN (SELECT value FROM json_each(?))",
        (wanted,),
    ).fetchall()
    connection.executemany(
        "UPDATE documents SET use_seal = ? WHERE seq = ?",
        [(use_seal(values, in_order(given.get(seq, ()))), seq) for seq, *values in found],
    )


def _seal(
    connection: apsw.Connection, numbers: Collection[int], settings: str, *, with_text: bool
) -> None:
    if not numbers:
        return
    wanted = json.dumps(sorted(numbers))
    found = reading.heads(connection, wanted)
    if with_text:
        found = reading.with_chunks(found, connection, wanted, {})
    connection.executemany(
        f"UPDATE documents SET {settings} WHERE seq = ?4",
        [(*seals_of(copy), copy.document.seq) for copy in found],
    )


def seal_missing(connections: Connections) -> int:
    """Documents and vectors from before there were seals; how many documents."""
    sealed = 0
    while True:
        with translated(), connections.writing() as connection:
            found = connection.execute(
                "SELECT seq FROM documents WHERE seal IS NULL LIMIT ?", (_BATCH,)
            ).fetchall()
            seal(connection, [int(seq) for (seq,) in found])  # type: ignore[arg-type]
            vectors = _seal_vectors(connection)
            sealed += len(found)
        if not found and not vectors:
            return sealed


def _seal_vectors(connection: apsw.Connection) -> int:
    found = connection.execute(
        "SELECT model, chunk FROM embedded WHERE seal IS NULL LIMIT ?", (10 * _BATCH,)
    ).fetchall()
    for model, chunk in found:
        sql = f"SELECT embedding FROM {vector_table(int(model))} WHERE chunk_id = ?"  # type: ignore[arg-type]
        half: Any = connection.execute(sql, (chunk,)).get
        connection.execute(
            "UPDATE embedded SET seal = ? WHERE model = ? AND chunk = ?",
            (vector_seal(whole(half or b"")), model, chunk),
        )
    return len(found)
