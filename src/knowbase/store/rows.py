"""Rows as values, the same for every engine: which columns are read, and what they become."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from knowbase.values.documents import FIELDS, Chunk, Document, Passage
from knowbase.values.files import FileRecord

CHUNK = ", ".join(f"c.{name}" for name in Chunk._fields)
FILE = ", ".join(FileRecord._fields)
_CHUNK_COLUMNS = len(Chunk._fields)


class Rows:
    """Reads rows of an engine that keeps some kinds of fields in a form of its own."""

    def __init__(self, readers: Mapping[str, Callable[[Any], Any]]) -> None:
        self._readers = [
            (place, readers[field.kind])
            for place, field in enumerate(FIELDS.values())
            if field.kind in readers
        ]

    def document(self, row: Sequence[Any]) -> Document:
        """From a column for each field, in their order."""
        values = list(row)
        for place, read in self._readers:
            values[place] = read(values[place])
        return Document._make(values)

    def passage(self, row: Sequence[Any]) -> Passage:
        """From `c.id`, the chunk's columns and the document's."""
        chunk = Chunk._make(row[1 : 1 + _CHUNK_COLUMNS])
        return Passage(row[0], chunk, self.document(row[1 + _CHUNK_COLUMNS :]))


def file_record(row: Sequence[Any]) -> FileRecord:
    """From the columns of `FILE`."""
    record = FileRecord._make(row)
    return record._replace(excluded=bool(record.excluded))
