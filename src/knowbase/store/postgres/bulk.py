"""Many rows at once: COPY as text or as the server keeps them, and lists as one parameter."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Composable, Composed, Identifier

from knowbase import deadline
from knowbase.store.halves import halved_all
from knowbase.store.postgres.cluster import is_distributed
from knowbase.store.postgres.vector_tables import packed, vector_table
from knowbase.store.seals import vector_seal
from knowbase.values.characters import clean
from knowbase.values.vectors import Vector

_START = b"PGCOPY\n\xff\r\n\0" + bytes(8)
_END = b"\xff\xff"
_VECTOR = struct.Struct(">hiiiiiq")
_DOCUMENT = struct.Struct(">iq")  # one more column, of a cluster
_LENGTH = struct.Struct(">i")
_ROWS = 4096  # that are sent at once
_BLOCK = 128  # that are made at once: as many as a processor has at hand
_BETWEEN = "\x1f"
_NOTHING = "\\N"
_FILTERED = (
    "documents (base_id, seq, type, tags, path, created_at, updated_at, parent_key, project, roles,"
    " archived, expires_at, scope, sector, tier)"
)
_REACHED_BY_KEYS = (
    "chunks (base_id, id, document, position, hash)",
    "names (base_id, document, name)",
    "mentions (base_id, document, name)",
    "edges (base_id, source, target)",
)
_SAMPLE = 10  # times 300 rows; PostgreSQL's own is 100


def copy_rows(
    connection: Connection, table: str, columns: Sequence[str], lines: Sequence[Sequence[Any]]
) -> None:
    """New rows; the server reads the first while the last are still being sent. What is sent is
    made here: the driver adapts value by value, and takes longer for it than the server to store
    them."""
    if not lines:
        return
    statement = _statement(Identifier(table), columns, "")
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for start in range(0, len(lines), _ROWS):
            deadline.check()
            ends = min(start + _ROWS, len(lines))
            blocks = [_block(lines[at : at + _BLOCK]) for at in range(start, ends, _BLOCK)]
            copy.write(clean("".join(blocks)))


def _block(lines: Sequence[Sequence[Any]]) -> str:
    columnwise = map(_fields, zip(*lines, strict=True))
    return "\n".join(map("\t".join, zip(*columnwise, strict=True))) + "\n"


def _fields(column: Sequence[Any]) -> Iterable[str]:
    """The values of a column as COPY reads them; those of one kind all at once."""
    kinds = set(map(type, column))
    if kinds <= {int, float}:
        return map(str, column)
    if kinds == {type(None)}:
        return repeat(_NOTHING, len(column))
    if kinds == {str}:
        whole = _BETWEEN.join(column)
        if whole.count(_BETWEEN) == len(column) - 1:  # no text has it
            return _escaped(whole).split(_BETWEEN)
    return map(_field, column)


def _field(value: object) -> str:
    if value is None:
        return _NOTHING
    if isinstance(value, bytes):
        return "\\\\x" + value.hex()
    return _escaped(array(value) if isinstance(value, list) else str(value))


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\")
    return text.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def copy_vectors(
    connection: Connection,
    base: int,
    model: tuple[int, int],
    vectors: Iterable[tuple[int, Vector]],
    documents: Mapping[int, int] | None = None,
) -> None:
    """Of a model, by its number and its dimensions: chunks that have no vector of it yet. Over a
    cluster, the document of each chunk says where it goes."""
    number, dimensions = model
    spread = (documents or {}) if is_distributed(connection) else {}
    columns = ("base_id", "model", "chunk", "embedding", "seal", *(("document",) if spread else ()))
    rows = []
    chunks, given = [*zip(*vectors, strict=True)] or ((), ())
    for chunk, (_, vector) in zip(chunks, halved_all(given), strict=True):
        sent, seal = packed(vector), vector_seal(vector)
        rows += [
            _VECTOR.pack(len(columns), 4, base, 4, number, 8, chunk),
            *(_LENGTH.pack(len(sent)), sent, _LENGTH.pack(len(seal)), seal),
        ]
        if spread:
            rows.append(_DOCUMENT.pack(8, spread[chunk]))
    copy_packed(connection, vector_table(dimensions), columns, rows)


def copy_packed(
    connection: Connection, table: Identifier, columns: Sequence[str], rows: Sequence[bytes]
) -> None:
    """Rows that are packed already."""
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
    """Tell the planner how large the tables have become, and what is in the columns that a query
    chooses by: to sample texts and blocks takes longer than to write some. How many documents pass
    a filter is to be known well; of tables that are reached by keys a tenth of the sample says how
    many rows a key has. Of those over a cluster, each worker plans for itself and learns it by
    itself; in the middle of a transaction it cannot be told."""
    tables = ["words", "word_blocks (base_id, segment, word)"]
    if not is_distributed(connection):
        connection.execute(SQL("ANALYZE {}").format(SQL(_FILTERED)))
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
            " AND tablename ~ '^vectors_[0-9]+$'"
        )
        tables += [*_REACHED_BY_KEYS, *(f"{name} (base_id, model, chunk)" for (name,) in found)]
    connection.execute(SQL(f"SET LOCAL default_statistics_target = {_SAMPLE:d}"))
    connection.execute(SQL("ANALYZE {}").format(SQL(", ".join(tables))))
    connection.execute("SET LOCAL default_statistics_target TO DEFAULT")


def numbers(given: Iterable[int]) -> str:
    """As an array of PostgreSQL: a list of thousands is slow to adapt one by one."""
    return "{" + ",".join(map(str, given)) + "}"


def array(given: Iterable[Any]) -> str:
    """The same for whatever there is; texts all at once where none has to be quoted."""
    given = list(given)
    if given and set(map(type, given)) == {str}:
        whole = '","'.join(given)
        if "\\" not in whole and whole.count('"') == 2 * (len(given) - 1):
            return '{"' + whole + '"}'
    return "{" + ",".join([_element(one) for one in given]) + "}"


def _element(value: object) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return '"\\\\x' + value.hex() + '"'
    if not isinstance(value, str):
        return str(value)
    if "\\" in value or '"' in value:
        value = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{value}"'
