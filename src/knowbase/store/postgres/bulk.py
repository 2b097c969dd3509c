"""Many rows at once: COPY as text or as the server keeps them, and lists as one parameter."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Composed, Identifier

from knowbase import deadline
from knowbase.store.postgres.cluster import is_distributed
from knowbase.store.postgres.vector_tables import packed, vector_table
from knowbase.store.seals import vector_seal
from knowbase.values.vectors import Vector

_START = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_POSTING = struct.Struct(">hiiiiiqiiihihihih")  # eight columns, each behind its length
_VECTOR = struct.Struct(">hiiiiiq")
_DOCUMENT = struct.Struct(">iq")  # one more column, of a cluster
_LENGTH = struct.Struct(">i")
POSTING = ("base_id", "word", "chunk", "length", "title", "heading", "text", "terms")


def copy_rows(
    connection: Connection, table: str, columns: Sequence[str], lines: Sequence[Sequence[Any]]
) -> None:
    """New rows; the server reads the first while the last are still being sent."""
    if not lines:
        return
    deadline.check()
    statement = _statement(Identifier(table), columns, "")
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for line in lines:
            copy.write_row(line)


def copy_postings(
    connection: Connection,
    base: int,
    lines: Iterable[tuple[int, ...]],
    documents: Mapping[int, int] | None = None,
) -> None:
    """Word, chunk, length and the four counts; in the order of the table's key. Over a cluster,
    the document of each chunk says where it goes."""
    pack, spread = _POSTING.pack, _spread(connection, documents)
    number, columns = (9, (*POSTING, "document")) if spread else (8, POSTING)
    rows = []
    for word, chunk, length, title, heading, text, terms in sorted(lines):
        rows.append(
            pack(
                *(number, 4, base, 4, word, 8, chunk, 4, length),
                *(2, title, 2, heading, 2, text, 2, terms),
            )
        )
        if spread:
            rows.append(_DOCUMENT.pack(8, spread[chunk]))
    _copy_packed(connection, Identifier("postings"), columns, rows)


def copy_vectors(
    connection: Connection,
    base: int,
    model: tuple[int, int],
    vectors: Iterable[tuple[int, Vector]],
    documents: Mapping[int, int] | None = None,
) -> None:
    """Of a model, by its number and its dimensions: chunks that have no vector of it yet."""
    number, dimensions = model
    spread = _spread(connection, documents)
    columns = ("base_id", "model", "chunk", "embedding", "seal", *(("document",) if spread else ()))
    rows = []
    for chunk, vector in vectors:
        sent, seal = packed(vector), vector_seal(vector)
        rows += [
            *(
                _VECTOR.pack(len(columns), 4, base, 4, number, 8, chunk),
                _LENGTH.pack(len(sent)),
                sent,
            ),
            *(_LENGTH.pack(len(seal)), seal),
        ]
        if spread:
            rows.append(_DOCUMENT.pack(8, spread[chunk]))
    _copy_packed(connection, vector_table(dimensions), columns, rows)


def _spread(connection: Connection, documents: Mapping[int, int] | None) -> Mapping[int, int]:
    """The document of each chunk, where it is a column."""
    return (documents or {}) if is_distributed(connection) else {}


def _copy_packed(
    connection: Connection, table: Identifier, columns: Sequence[str], rows: Sequence[bytes]
) -> None:
    if not rows:
        return
    deadline.check()
    statement = _statement(table, columns, " (FORMAT binary)")
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(b"".join((_START, *rows, _END)))


def _statement(table: Composable, columns: Sequence[str], how: str) -> Composed:
    return SQL("COPY {} ({}) FROM STDIN{}").format(
        table, SQL(", ").join(map(Identifier, columns)), SQL(how)
    )


def analyze(connection: Connection) -> None:
    """Tell the planner how large the tables have become. Of those over a cluster, each worker
    plans for itself and learns it by itself; in the middle of a transaction it cannot be told."""
    tables = "words" if is_distributed(connection) else "documents, chunks, words, postings"
    connection.execute(SQL("ANALYZE {}").format(SQL(tables)))


def numbers(given: Iterable[int]) -> str:
    """As an array of PostgreSQL: a list of thousands is slow to adapt one by one."""
    return "{" + ",".join(map(str, given)) + "}"


def texts(given: Iterable[str]) -> str:
    """The same for text."""
    return "{" + ",".join([f'"{_escaped(one)}"' for one in given]) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
