"""What can be read of a damaged base file: every row of ours that is still there."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import apsw

from knowbase.store.halves import whole
from knowbase.store.sqlite import schema
from knowbase.store.sqlite.backups import new_file
from knowbase.store.sqlite.beside import remove_all
from knowbase.store.sqlite.halving import vector_in_block
from knowbase.store.sqlite.packing import PACKED
from knowbase.store.sqlite.pages import HEADER, USUAL, Damaged, Pages, Row
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.values.vectors import Vector

TABLES = (
    "models", "documents", "tags", "links", "chunks", "sources", "files", "sessions", "uses",
    "verdicts", "relations", "embedded", "names", "saved",
)  # fmt: skip
_PACKED = {
    "documents": ("content_hash", "terms"), "chunks": (*PACKED, "hash", "header"),
    "names": ("name",),
}  # fmt: skip
"""Columns of texts that may hold bytes."""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT")
_MAGIC = b"SQLite format 3\0"


class Column(NamedTuple):
    name: str
    types: tuple[type, ...]
    default: Any
    is_number: bool = False  # of its row: kept as the rowid


class Found(NamedTuple):
    """A row of a table, by its columns."""

    table: str
    values: dict[str, Any]
    pages: tuple[int, ...]
    is_exact: bool
    is_reached: bool  # from the table's first page; else it was found lying about


@cache
def columns() -> dict[str, tuple[Column, ...]]:
    """The columns of each table, as a new base has them."""
    connection = apsw.Connection(":memory:")
    schema.create(connection, lambda _: None)
    found = {}
    for table in TABLES:
        info = connection.execute(f"PRAGMA table_info({table})").fetchall()
        keys = [row for row in info if row[5]]
        found[table] = tuple(_column(row, alone=len(keys) == 1) for row in info)
    for table, names in _PACKED.items():
        found[table] = tuple(
            one._replace(types=(*one.types, bytes)) if one.name in names else one
            for one in found[table]
        )
    connection.close()
    return found


def _column(row: Any, *, alone: bool) -> Column:
    """From what PRAGMA table_info says of it."""
    _, name, kind, required, given, key = row
    types: tuple[type, ...] = {
        "INTEGER": (int,), "REAL": (float, int), "TEXT": (str,), "BLOB": (bytes,)
    }[kind]  # fmt: skip
    default: Any = given.strip("'") if isinstance(given, str) and given != "NULL" else None
    if not required and not key:
        types = (*types, type(None))
    elif default is None:
        default = {"INTEGER": 0, "REAL": 0.5, "TEXT": ""}[kind]
    if isinstance(default, str) and kind == "INTEGER":
        default = int(default)
    return Column(name, types, default, bool(key) and alone and kind == "INTEGER")


def as_found(table: str, row: Row, *, is_reached: bool) -> Found | None:
    """A row as one of a table's; None when it cannot be one."""
    wanted = columns()[table]
    names = [one.name for one in wanted]
    if not 2 <= len(row.values) <= len(names):
        return None
    values = {one.name: one.default for one in wanted} | dict(zip(names, row.values, strict=False))
    for one in wanted:
        if one.is_number:
            values[one.name] = row.number
    return Found(table, values, row.pages, row.is_exact, is_reached)


def fits(found: Found) -> bool:
    """Whether each value is of its column's kind, and looks like what stands there."""
    for one in columns()[found.table]:
        value = found.values[one.name]
        if type(value) not in one.types:
            return False
        if not isinstance(value, str):
            continue
        if one.name.endswith("_at") and not _MOMENT.match(value):
            return False
        if one.name in ("options", "metadata", "said") and not value.startswith("{"):
            return False
        if (found.table, one.name) in (("sources", "tags"), ("documents", "roles")) and (
            not value.startswith("[")
        ):
            return False
    return True


class Salvage:
    """One damaged file, or a copy of it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._pages = Pages(path)

    def close(self) -> None:
        self._pages.close()

    def rows(self) -> Iterator[Found]:
        """Every row that can be read; those that their tables lead to come first."""
        seen: set[int] = set()
        roots, others = self._roots(seen)
        for table, root in roots.items():
            for row in self._pages.tree(root, seen):
                found = as_found(table, row, is_reached=True)
                if found is not None and fits(found):
                    yield found
                    continue
                # a damaged page can lead into another table
                found = recognised(row) or found
                if found is not None:
                    yield found
        for root in others:  # after the tables: one that is damaged can lead to a table of ours
            for _row in self._pages.tree(root, seen):
                pass
        seen |= self._pages.free()
        for number in range(1, self._pages.number + 1):
            if number not in seen:
                yield from self._lying_about(number, seen)

    def _roots(self, seen: set[int]) -> tuple[dict[str, int], list[int]]:
        """Where the tables begin, and where other tables and indexes do: what those have is not
        looked at again."""
        found: dict[str, int] = {}
        others: list[int] = []
        for row in self._pages.tree(1, seen):
            kind, name, _, root, *_ = (*row.values, None, None, None, None)
            if not isinstance(root, int) or root < 1:
                continue
            if kind == "table" and name in TABLES:
                found[str(name)] = root
            else:
                others.append(root)
        return found, others

    def _lying_about(self, number: int, seen: set[int]) -> Iterator[Found]:
        """Rows of a page that nothing leads to any more, by what they look like."""
        try:
            rows = list(self._pages.rows(number, seen))
        except Damaged:
            return
        for row in rows:
            found = recognised(row)
            if found is not None:
                yield found


def recognised(row: Row) -> Found | None:
    """A row by what it looks like."""
    for table, wanted in columns().items():
        has_number = any(one.is_number for one in wanted)
        if has_number != (row.number is not None) or len(row.values) != len(wanted):
            continue
        found = as_found(table, row, is_reached=False)
        if found is not None and fits(found):
            return found
    return None


def working_copy(base: str, copy: str) -> None:
    """The pages of a damaged base, with what is in its journal, in a file that can be tried."""
    new_file(copy)
    try:
        _copy_by_sqlite(base, copy)
    except (apsw.Error, UnicodeDecodeError):
        remove_all(copy)
        shutil.copyfile(base, copy)
        _mend_header(copy)
        with suppress(OSError):
            shutil.copyfile(base + "-wal", copy + "-wal")
        with suppress(apsw.Error, UnicodeDecodeError):
            connection = apsw.Connection(copy, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                connection.close()


def _copy_by_sqlite(base: str, copy: str) -> None:
    source = apsw.Connection(base, flags=apsw.SQLITE_OPEN_READONLY)
    target = apsw.Connection(copy, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                backup.step(-1)
        if os.path.getsize(copy) < os.path.getsize(base):
            raise apsw.CorruptError("less was copied than there is")
    finally:
        target.close()
        source.close()


def _mend_header(path: str) -> None:
    """The fields of the header that are the same in every base."""
    with open(path, "r+b") as file:
        header = bytearray(file.read(HEADER).ljust(HEADER, b"\0"))
        header[:16] = _MAGIC
        header[16:18] = USUAL.to_bytes(2)
        header[18:24] = bytes((2, 2, 0, 64, 32, 32))
        header[28:32] = (os.path.getsize(path) // USUAL).to_bytes(4)
        header[92:96] = header[24:28]
        header[44:48] = (4).to_bytes(4)
        header[56:60] = (1).to_bytes(4)
        file.seek(0)
        file.write(header)


class Vectors:
    """The vectors of a damaged base, as far as they can still be read."""

    def __init__(self, path: str) -> None:
        self._connection: apsw.Connection | None = None
        with suppress(apsw.Error, UnicodeDecodeError):
            self._connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)

    def get(self, model: int, chunk: int, dimensions: int) -> Vector | None:
        if self._connection is None:
            return None
        with suppress(apsw.Error, UnicodeDecodeError):
            sql = f"SELECT embedding FROM {vector_table(model)} WHERE chunk_id = ?"
            found = self._connection.execute(sql, (chunk,)).get
            return whole(found) if isinstance(found, bytes) else None
        with suppress(apsw.Error, UnicodeDecodeError):  # a base of an earlier version
            return vector_in_block(self._connection, model, chunk, dimensions)
        return None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
