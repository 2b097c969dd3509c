"""The pages of a SQLite file, read without SQLite: whatever else is damaged, a row whose own
bytes are there can be read. As https://sqlite.org/fileformat2.html has it."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

USUAL = 4096  # bytes a page: what every base of ours has
HEADER = 100  # bytes at the start of the first page
INDEX_INNER, TABLE_INNER, INDEX_LEAF, TABLE_LEAF = 2, 5, 10, 13
_INNER = (INDEX_INNER, TABLE_INNER)
_KINDS = (*_INNER, INDEX_LEAF, TABLE_LEAF)
_OF_TABLES = (TABLE_INNER, TABLE_LEAF)
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # bytes of the values of the first serial types
_REAL, _FALSE, _TRUE = 7, 8, 9
_FIRST_LONG = 12  # serial types from here on are blobs and texts
_MOST_COLUMNS = 200


class Row(NamedTuple):
    """A row as it lies in the file."""

    number: int | None  # its rowid; a table without rowids has none
    values: tuple[Any, ...]
    pages: tuple[int, ...]  # that it lies on
    is_exact: bool  # False: some of its text has bytes that are no text


class Damaged(Exception):
    """These bytes are nothing that SQLite has written."""


class Pages:
    """One file."""

    def __init__(self, path: str) -> None:
        with open(path, "rb") as file:
            self._header = file.read(HEADER)
        self._file = open(path, "rb")  # noqa: SIM115 - closed by close
        given = int.from_bytes(self._header[16:18])
        sizes = [1 << power for power in range(9, 16)]
        self.size = given if given in sizes else USUAL
        self.number = -(-os.path.getsize(path) // self.size)

    def close(self) -> None:
        self._file.close()

    def page(self, number: int) -> bytes:
        """A page; what is cut off at the end of the file counts as zeros."""
        if not 1 <= number <= self.number:
            raise Damaged("no such page")
        self._file.seek((number - 1) * self.size)
        return self._file.read(self.size).ljust(self.size, b"\0")

    def kind(self, number: int) -> int:
        """What a page says that it is; 0 for something else."""
        found = self.page(number)[HEADER if number == 1 else 0]
        return found if found in _KINDS else 0

    def free(self) -> set[int]:
        """Pages that hold what was deleted, as far as the list of them can be followed."""
        found: set[int] = set()
        trunk = int.from_bytes(self._header[32:36])
        while trunk and trunk not in found:
            found.add(trunk)
            try:
                page = self.page(trunk)
            except Damaged:
                break
            number = min(int.from_bytes(page[4:8]), self.size // 4 - 2)
            leaves = (int.from_bytes(page[8 + 4 * n : 12 + 4 * n]) for n in range(number))
            found |= {one for one in leaves if 1 <= one <= self.number}
            trunk = int.from_bytes(page[:4])
        return found

    def tree(self, root: int, seen: set[int]) -> Iterator[Row]:
        """The rows of a table, or of an index, that can be reached; `seen` gets its pages."""
        waiting = [root]
        while waiting:
            number = waiting.pop()
            if number in seen or not 1 <= number <= self.number:
                continue
            seen.add(number)
            waiting += self._children(number)
            yield from self.rows(number, seen)

    def _children(self, number: int) -> list[int]:
        if self.kind(number) not in _INNER:
            return []
        page, start = self.page(number), HEADER if number == 1 else 0
        found = [int.from_bytes(page[start + 8 : start + 12])]
        for at in self._cells(page, start):
            found.append(int.from_bytes(page[at : at + 4]))
        return found

    def _cells(self, page: bytes, start: int) -> list[int]:
        """Where the cells of a page begin, those that can be."""
        first = start + (12 if page[start] in _INNER else 8)
        number = int.from_bytes(page[start + 3 : start + 5])
        if first + 2 * number > self.size:
            number = 0
        found = (int.from_bytes(page[first + 2 * n : first + 2 * n + 2]) for n in range(number))
        return [at for at in found if first <= at < self.size]

    def rows(self, number: int, seen: set[int]) -> Iterator[Row]:
        """The rows on one page, without those that are damaged."""
        kind = self.kind(number)
        if kind in (0, TABLE_INNER):
            return
        page, start = self.page(number), HEADER if number == 1 else 0
        for at in self._cells(page, start):
            try:
                yield self._row(page, at, kind, number, seen)
            except (Damaged, IndexError):
                continue

    def _row(self, page: bytes, at: int, kind: int, number: int, seen: set[int]) -> Row:
        at += 4 if kind in _INNER else 0
        length, at = _varint(page, at)
        rowid = None
        if kind == TABLE_LEAF:
            rowid, at = _varint(page, at)
        payload, pages = self._payload(page, at, length, kind in _OF_TABLES)
        values, is_exact = record(payload)
        seen.update(pages)
        return Row(rowid, values, (number, *pages), is_exact)

    def _payload(
        self, page: bytes, at: int, length: int, of_table: bool
    ) -> tuple[bytes, list[int]]:
        """All bytes of a row, with the pages that it overflows to."""
        most = self.size - 35 if of_table else (self.size - 12) * 64 // 255 - 23
        least = (self.size - 12) * 32 // 255 - 23
        if length > self.number * self.size:
            raise Damaged("longer than the file")
        if length <= most:
            if at + length > self.size:
                raise Damaged("beyond its page")
            return page[at : at + length], []
        local = least + (length - least) % (self.size - 4)
        local = local if local <= most else least
        if at + local + 4 > self.size:
            raise Damaged("beyond its page")
        parts, pages = [page[at : at + local]], []
        following = int.from_bytes(page[at + local : at + local + 4])
        left = length - local
        while left > 0:
            if following in pages:
                raise Damaged("a circle")
            more = self.page(following)
            pages.append(following)
            parts.append(more[4 : 4 + left])
            left -= self.size - 4
            following = int.from_bytes(more[:4])
        return b"".join(parts)[:length], pages


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(9):
        byte = data[at + place]
        if place == 8:
            value = value << 8 | byte
            break
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            break
    return value - (1 << 64) if value >= 1 << 63 else value, at + place + 1


def record(payload: bytes) -> tuple[tuple[Any, ...], bool]:
    """The values of a row, and whether all of its text is text."""
    end, at = _varint(payload, 0)
    if not 0 < end <= len(payload):
        raise Damaged("no header")
    types: list[int] = []
    while at < end:
        kind, at = _varint(payload, at)
        types.append(kind)
        if kind < 0 or kind in (10, 11) or len(types) > _MOST_COLUMNS:
            raise Damaged("no such type")
    values: list[Any] = []
    is_exact = True
    for kind in types:
        size = _SIZES[kind] if kind < _FIRST_LONG - 2 else (kind - _FIRST_LONG) // 2
        data = payload[at : at + size]
        if len(data) != size:
            raise Damaged("too short")
        at += size
        value = _value(kind, data)
        if isinstance(value, bytes) and kind % 2:
            is_exact = False
            value = value.decode("utf-8", "replace")
        values.append(value)
    return tuple(values), is_exact


def _value(kind: int, data: bytes) -> Any:
    """A text that is none is given back as its bytes."""
    if kind >= _FIRST_LONG:
        if kind % 2 == 0:
            return data
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            return data
    if kind == _REAL:
        import struct

        return struct.unpack(">d", data)[0]
    if kind in (_FALSE, _TRUE):
        return kind - _FALSE
    return int.from_bytes(data, signed=True) if kind else None
