"""The files of documents that are put back as they were: what they say now is not known."""

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from knowbase.ingest.parts import file_of
from knowbase.ingest.places import around, closest
from knowbase.store.contract import FileStore
from knowbase.values.documents import Document
from knowbase.values.files import NOT_AS_READ, PUT_BACK, FileRecord


class PutBack(NamedTuple):
    """A document as it was, and the file that it came from until now, if any."""

    document: Document
    path: str | None


class Files(NamedTuple):
    """What is to be known of the files."""

    records: tuple[FileRecord, ...]
    forgotten: tuple[str, ...]


def files_of(store: FileStore, back: Sequence[PutBack]) -> Files:
    """A file that lies there as it was last read stays so until it changes, unless its content is
    asked for; one that was kept out, that was removed or that has another name by now is looked
    at by the next sync, which says when it is not there."""
    places = {one.document.path: one for one in back if one.document.path}
    if not places:
        return Files((), ())
    known = store.files()
    sources = [source.path for source in store.sources()]
    holders = {path for path, record in known.items() if record.document} | set(places)
    records: dict[str, FileRecord] = {}
    forgotten = []
    for path, one in places.items():
        above = file_of(os.path.dirname(path), holders)  # of a part
        record = known.get(above or path)
        if record is not None and not record.excluded:
            document = one.document.id if above is None else record.document
            records[record.path] = record._replace(sha256=NOT_AS_READ, document=document)
        elif above is None and (source := closest(path, sources)) is not None:
            before = known.get(one.path or "")
            sha256 = before.sha256 if before is not None else ""
            records[path] = FileRecord(path, source, PUT_BACK, 0, sha256, one.document.id)
        if one.path is not None and one.path != path:
            forgotten.append(one.path)
    gone = (path for path in forgotten if path not in records)
    return Files(tuple(records.values()), tuple(gone))


def without_source(store: FileStore, paths: Iterable[str | None]) -> tuple[str, ...]:
    """Where those of these files lie that no source holds."""
    sources = [source.path for source in store.sources()]
    return around(path for path in paths if path and closest(path, sources) is None)
