"""Writing seals beside documents, in the transaction that changes them."""

from collections.abc import Collection, Mapping
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres import rows
from knowbase.store.postgres.connection import Connections
from knowbase.store.postgres.reading import Reading
from knowbase.store.postgres.vector_tables import unpacked, vector_table
from knowbase.store.seals import SEALS, seals_of, vector_seal
from knowbase.values.copies import Copy
from knowbase.values.documents import FIELDS, Document

_BATCH = 100
_WHOLE = "seal = n.fields, text_seal = n.text, use_seal = n.use"
_FIELDS = "seal = n.fields, use_seal = n.use"
_USE = "use_seal = n.use"
_DEFAULTS = {name: rows.written(name, value) for name, value in Document._field_defaults.items()}


def seal(connection: Connection, base: int, written: Collection[int]) -> None:
    """Documents that were written whole."""
    _seal(connection, base, written, _WHOLE)


def seal_fields(connection: Connection, base: int, edited: Collection[int]) -> None:
    """Documents of which something was said; their text is as it was."""
    _seal(connection, base, edited, _FIELDS)


def seal_use(connection: Connection, base: int, used: Collection[int]) -> None:
    """Documents that were of use."""
    _seal(connection, base, used, _USE)


def read_back(values: Mapping[str, Any]) -> Document:
    """A new document as it will be read, of what is about to be written."""
    return rows.document([_as_read(name, values.get(name, _DEFAULTS.get(name))) for name in FIELDS])


def columns(copy: Copy) -> dict[str, bytes | None]:
    """The seals of a document, to be written with it."""
    return dict(zip(SEALS, seals_of(copy), strict=True))


def _as_read(name: str, value: Any) -> Any:
    """A share may be given as 1, and is then read as 1.0."""
    return float(value) if FIELDS[name].kind == "share" and value is not None else value


def _seal(connection: Connection, base: int, numbers: Collection[int], settings: str) -> None:
    if not numbers:
        return
    reading = Reading(connection, base, sorted(numbers))
    found = reading.heads()
    if settings == _WHOLE:
        found = reading.with_chunks(found, vectors=False)
    seals = [seals_of(one) for one in found]
    connection.execute(
        SQL(
            f"UPDATE documents d SET {settings} FROM unnest(%s::bigint[], %s::bytea[],"
            " %s::bytea[], %s::bytea[]) AS n (seq, fields, text, use)"
            " WHERE d.base_id = %s AND d.seq = n.seq"
        ),
        (
            *([one.document.seq for one in found], [one.fields for one in seals]),
            *([one.text for one in seals], [one.use for one in seals], base),
        ),
    )


def seal_missing(connections: Connections, base: int) -> int:
    """Documents and vectors from before there were seals; how many documents."""
    sealed = 0
    while True:
        documents, vectors = connections.writing(lambda connection: _seal_some(connection, base))
        if not documents and not vectors:
            return sealed
        sealed += documents


def _seal_some(connection: Connection, base: int) -> tuple[int, int]:
    connection.execute("SELECT 1 FROM bases WHERE id = %s FOR UPDATE", (base,))
    found = connection.execute(
        "SELECT seq FROM documents WHERE base_id = %s AND seal IS NULL LIMIT %s", (base, _BATCH)
    ).fetchall()
    seal(connection, base, [seq for (seq,) in found])
    return len(found), _seal_vectors(connection, base)


def _seal_vectors(connection: Connection, base: int) -> int:
    sizes = connection.execute(
        "SELECT DISTINCT dimensions FROM models WHERE base_id = %s", (base,)
    ).fetchall()
    sealed = 0
    for (dimensions,) in sizes:
        table = vector_table(dimensions)
        with connection.cursor(binary=True) as cursor:
            found = cursor.execute(
                SQL(
                    "SELECT model, chunk, embedding FROM {} WHERE base_id = %s AND seal IS NULL"
                    " LIMIT %s"
                ).format(table),
                (base, 10 * _BATCH),
            ).fetchall()
        connection.cursor().executemany(
            SQL("UPDATE {} SET seal = %s WHERE base_id = %s AND model = %s AND chunk = %s").format(
                table
            ),
            [(vector_seal(unpacked(given)), base, *key) for *key, given in found],
        )
        sealed += len(found)
    return sealed
