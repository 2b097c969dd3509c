"""The parts of a base's postings, written: what is new is one row, parts that have grown to a size
become one. Everything happens in the transaction of whoever writes, which has locked the base."""

import struct
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from knowbase.store.postgres.blocks import Packed
from knowbase.store.postgres.bulk import copy_packed, numbers

FEW = 256  # chunks that lie in a row or some, of all words: every search reads them
MOST_ROWS = 16  # of them
SIZES = (2048, 16384)  # a part below either is made one with others of its kind
TOGETHER = 8  # so many of a kind become one
MOST_GONE = 8  # a part of which one chunk in so many is gone is written anew
_BLOCK = struct.Struct(">hiiiiiii")  # the first three of five columns, behind their lengths
_LENGTH = struct.Struct(">i")
BLOCK = ("base_id", "segment", "word", "narrow", "wide")


class _Segment(NamedTuple):
    id: int
    chunks: int
    is_fresh: bool
    gone: int

    @property
    def kind(self) -> int:
        """How large it is; the largest are left as they are."""
        return 0 if self.is_fresh else 1 + sum(self.chunks >= size for size in SIZES)

    @property
    def is_worn(self) -> bool:
        return self.gone * MOST_GONE > self.chunks


class Segments:
    """Those of one base."""

    def __init__(self, connection: Connection, base: int) -> None:
        self._connection = connection
        self._base = base

    def drop(self, chunks: Collection[int]) -> None:
        """What the parts say of these chunks holds no longer."""
        if not chunks:
            return
        given = numbers(chunks)
        self._connection.execute(
            "UPDATE word_segments s SET gone = ARRAY(SELECT unnest(s.gone) UNION"
            " SELECT c FROM unnest(%s::bigint[]) AS c WHERE c BETWEEN s.first AND s.last)"
            " WHERE s.base_id = %s AND EXISTS"
            " (SELECT 1 FROM unnest(%s::bigint[]) AS c WHERE c BETWEEN s.first AND s.last)",
            (given, self._base, given),
        )

    def add(self, new: Packed, *, is_copy: bool = False) -> None:
        """Postings of chunks that no part speaks of; then parts that are too many become one.
        Those of a base that is being copied lie whole until there are enough for a part that is
        never written again."""
        there = self._there()
        fresh = [one for one in there if one.is_fresh]
        chunks = len(new.chunks()) + sum(one.chunks - one.gone for one in fresh)
        if chunks >= (SIZES[-1] if is_copy else FEW):
            self._write_blocks(self._taken(fresh, new))
            there = self._there()
        elif len(fresh) >= MOST_ROWS or any(one.is_worn for one in fresh):
            self._register(self._taken(fresh, new), is_fresh=True)
        else:
            self._register(new, is_fresh=True)
        while due := _due(there):
            self._write_blocks(self._taken(due, Packed.nothing()))
            there = self._there()

    def _there(self) -> list[_Segment]:
        rows = self._connection.execute(
            "SELECT id, chunks, fresh IS NOT NULL, cardinality(gone) FROM word_segments"
            " WHERE base_id = %s ORDER BY id",
            (self._base,),
        )
        return [_Segment(*row) for row in rows]

    def _register(self, new: Packed, *, is_fresh: bool = False) -> int:
        """The number of a new part, which may be kept whole; 0 when it would be empty."""
        chunks = new.chunks()
        if not len(chunks):
            return 0
        kept = (new.narrow.tobytes(), new.wide.tobytes()) if is_fresh else (None, None)
        row = self._connection.execute(
            "INSERT INTO word_segments (base_id, id, chunks, first, last, fresh, wide)"
            " SELECT %s, coalesce(max(id), 0) + 1, %s, %s, %s, %b::bytea, %b::bytea"
            " FROM word_segments WHERE base_id = %s RETURNING id",
            (self._base, len(chunks), int(chunks[0]), int(chunks[-1]), *kept, self._base),
        ).fetchone()
        return int(row[0]) if row else 0

    def _write_blocks(self, new: Packed) -> None:
        if number := self._register(new):
            copy_blocks(self._connection, self._base, number, new)

    def _taken(self, segments: Sequence[_Segment], new: Packed) -> Packed:
        """Parts, without what is gone, together with what is new; they are there no longer."""
        ids = [one.id for one in segments]
        if not ids:
            return new
        whole = Packed.joined([*read(self._connection, self._base, ids), new])
        for table, column in (("word_blocks", "segment"), ("word_segments", "id")):
            self._connection.execute(
                SQL("DELETE FROM {} WHERE base_id = %s AND {} = ANY(%s)").format(
                    Identifier(table), Identifier(column)
                ),
                (self._base, ids),
            )
        return whole


def _due(there: Sequence[_Segment]) -> list[_Segment]:
    """The smallest of those that are to become one part."""
    worn = [one for one in there if one.is_worn and not one.is_fresh]
    if worn:
        return worn[:1]
    for kind in range(1, len(SIZES) + 1):
        same = [one for one in there if one.kind == kind]
        if len(same) >= TOGETHER:
            return same
    return []


def read(connection: Connection, base: int, ids: Sequence[int]) -> Iterator[Packed]:
    """Each of these parts whole, without what is gone from it."""
    with connection.cursor(binary=True) as cursor:
        for number in ids:
            row = cursor.execute(
                "SELECT gone, fresh, wide FROM word_segments WHERE base_id = %s AND id = %s",
                (base, number),
            ).fetchone()
            gone, fresh, wide = row or ((), b"", b"")
            if fresh is not None:
                yield Packed.read(fresh, wide).without(gone)
                continue
            cursor.execute(
                "SELECT word, narrow, wide FROM word_blocks"
                " WHERE base_id = %s AND segment = %s ORDER BY word",
                (base, number),
            )
            yield Packed.of_blocks(cursor.fetchall()).without(gone)


def every_segment(connection: Connection, base: int) -> Iterator[Packed]:
    """All postings of a base that hold, part by part."""
    found = connection.execute(
        "SELECT id FROM word_segments WHERE base_id = %s ORDER BY id", (base,)
    ).fetchall()
    return read(connection, base, [number for (number,) in found])


def copy_blocks(connection: Connection, base: int, segment: int, whole: Packed) -> None:
    lines: list[bytes] = []
    for word, narrow, wide in whole.by_word():
        lines += (
            *(_BLOCK.pack(5, 4, base, 4, segment, 4, word, len(narrow)), narrow),
            *(_LENGTH.pack(len(wide)), wide),
        )
    copy_packed(connection, Identifier("word_blocks"), BLOCK, lines)
