"""Rows as values, the same for every engine: which columns are read, and what they become.

A value that no writer of ours can have written is damage, and said to be: here, where rows
become values, so that nothing behind it has to expect one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from knowbase.errors import BaseDamaged
from knowbase.values.documents import FIELDS, Chunk, Document, Passage

if TYPE_CHECKING:
    from knowbase.values.files import FileRecord

CHUNK = ", ".join(f"c.{name}" for name in Chunk._fields)
_CHUNK_COLUMNS = len(Chunk._fields)


_NONE = type(None)
_KINDS: dict[str, tuple[type, ...]] = {
    "count": (int,),
    "share": (float, int),
    "flag": (bool, int),
    "tags": (str, list, _NONE),
    "names": (str, list),
}
"""What a column of a kind of field holds, in any engine; every other kind is text."""
T = TypeVar("T")


def damaged(what: str = "") -> BaseDamaged:
    """What every damaged read ends in."""
    return BaseDamaged(
        "the base is damaged" + (f": {what}" if what else ""),
        hint="kb check says where, then kb repair saves what can be saved",
    )


def from_json(text: Any, kind: type[T]) -> T:
    """A value that was written as JSON."""
    import json

    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise damaged("a stored list or object cannot be read") from error
    if not isinstance(value, kind):
        raise damaged("a stored list or object is something else")
    return value


def in_order(values: Iterable[T]) -> tuple[T, ...]:
    """Sorted, whatever damage made of one of them."""
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError as error:
        raise damaged("a stored value is of another kind") from error


class Shape:
    """The types that the columns of a row may have. A database with free typing gives back
    whatever a damaged row seems to hold."""

    def __init__(self, columns: Sequence[tuple[type, ...]]) -> None:
        self.columns = columns
        self._known: set[tuple[type, ...]] = set()  # what fits, found before: few are

    def check(self, row: Sequence[Any]) -> None:
        types = tuple(map(type, row))
        if types in self._known:
            return
        if len(types) != len(self.columns) or not all(
            one in allowed for one, allowed in zip(types, self.columns, strict=True)
        ):
            raise damaged("a stored value is of another kind")
        self._known.add(types)


@cache
def shape_of(values: type) -> Shape:
    """Of rows with a column for each field of a named tuple of texts and numbers."""
    found = values.__annotations__.values()
    return Shape([_column(get_args(one) or (one,)) for one in found])


def _column(types: tuple[type, ...]) -> tuple[type, ...]:
    """An engine may keep a flag as a number, and give back a whole number as one."""
    more: dict[type, tuple[type, ...]] = {bool: (int,), float: (int,)}
    return (*types, *(other for one in types for other in more.get(one, ())))


class Rows:
    """Reads rows of an engine that keeps some kinds of fields in a form of its own."""

    def __init__(
        self, readers: Mapping[str, Callable[[Any], Any]], chunk: type[Chunk] = Chunk
    ) -> None:
        self._chunks = chunk
        self._readers = [
            (place, readers[field.kind])
            for place, field in enumerate(FIELDS.values())
            if field.kind in readers
        ]
        document = [_types_of(name) for name in FIELDS]
        self._document = Shape(document)
        of_chunks: type = chunk
        self._chunk = shape_of(of_chunks)
        self._passage = Shape([(int,), *self._chunk.columns, *document])

    def document(self, row: Sequence[Any]) -> Document:
        """From a column for each field, in their order."""
        self._document.check(row)
        return self._made(list(row))

    def _made(self, values: list[Any]) -> Document:
        for place, read in self._readers:
            values[place] = read(values[place])
        return tuple.__new__(Document, values)  # checked: each column is there

    def chunk(self, row: Sequence[Any]) -> Chunk:
        """From the chunk's columns."""
        self._chunk.check(row)
        return tuple.__new__(self._chunks, row)  # checked: each column is there

    def passage(self, row: Sequence[Any]) -> Passage:
        """From `c.id`, the chunk's columns and the document's."""
        self._passage.check(row)
        number, *values = row
        chunk = tuple.__new__(self._chunks, values[:_CHUNK_COLUMNS])
        return Passage(number, chunk, self._made(values[_CHUNK_COLUMNS:]))


def _types_of(name: str) -> tuple[type, ...]:
    types = _KINDS.get(FIELDS[name].kind, (str,))
    kind = get_args(Document.__annotations__[name])[0]  # Annotated[str | None, …]
    return (*types, _NONE) if _NONE in get_args(kind) else types


def file_columns() -> str:
    from knowbase.values.files import FileRecord

    return ", ".join(FileRecord._fields)


LOOK = "path, size, mtime_ns, inode, ctime_ns"
SETTLED = (
    "document IS NOT NULL AND problem IS NULL AND skipped IS NULL AND NOT excluded"
    " AND sha256 <> '' AND coalesce(inode, 0) <> 0 AND coalesce(ctime_ns, 0) <> 0"
)
"""Of a file, that nothing is to be done as long as the disk shows it as it did."""
_EXCLUDED = 7  # its place among them: a number in some databases


def file_records(rows: Iterable[Sequence[Any]]) -> "list[FileRecord]":
    """From the columns that `file_columns` names. A sync reads those of all files."""
    from knowbase.values.files import FileRecord

    check = shape_of(FileRecord).check
    records = []
    for row in rows:
        check(row)
        values = list(row)
        values[_EXCLUDED] = bool(values[_EXCLUDED])
        records.append(tuple.__new__(FileRecord, values))  # checked: each column is there
    return records
