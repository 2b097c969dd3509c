"""What a removal takes out of the base. Files on disk are never touched."""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.ingest.parts import file_of, stored_parts
from knowbase.ingest.places import Home, closest, inside
from knowbase.store.contract import Store
from knowbase.values.changes import Changes
from knowbase.values.documents import Document
from knowbase.values.files import FileRecord


class Removal(NamedTuple):
    """What was removed, or would be."""

    documents: tuple[Document, ...]
    sources: tuple[str, ...]
    dry_run: bool = False
    notices: tuple[str, ...] = ()  # what stays hidden by something that was removed


def removal_of(
    references: Sequence[str], store: Store, home: Home, resolve: Callable[[str], Document]
) -> tuple[Changes, Removal]:
    """The changes for these references: sources, folders inside a source, or documents."""
    sources = {source.path for source in store.sources()}
    dropped = {home.stored(reference) for reference in references} & sources
    documents: dict[str, Document] = {}
    gone: dict[str, FileRecord] = {}
    for reference in references:
        path = home.stored(reference)
        below = _records(store, path)
        if path in sources:
            below = {p: record for p, record in below.items() if record.source == path}
        elif not below:
            document = resolve(reference)
            documents[document.id] = document
            if document.path:
                below = _records(store, document.path)
                below = {p: record for p, record in below.items() if p == document.path}
            if document.path and not below:  # no file of its own
                _refuse_part(document, store.files())
        gone |= below
        documents |= _documents(below.values(), store)
    documents |= {part.id: part for part in stored_parts(store, list(gone)).values()}
    excluded = [kept_out(record, sources - dropped) for record in gone.values()]
    changes = Changes(
        removed=tuple(documents),
        files=tuple(record for record in excluded if record is not None),
        forgotten=tuple(p for p, record in zip(gone, excluded, strict=True) if record is None),
        dropped_sources=tuple(sorted(dropped)),
    )
    return changes, Removal(tuple(documents.values()), tuple(sorted(dropped)))


def _records(store: Store, path: str) -> dict[str, FileRecord]:
    """Of the file at the path, or of those below it."""
    is_root = path in (".", os.sep)  # holds what does not begin with its name
    found = store.files(None if is_root else (path.rstrip(os.sep),))
    return {known: record for known, record in found.items() if inside(known, path)}


def without_parts(documents: Iterable[Document], files: Collection[str]) -> list[Document]:
    """Those that can be removed for themselves: a part of a file goes with it."""
    return [document for document in documents if _holder(document, files) is None]


def _holder(document: Document, files: Collection[str]) -> str | None:
    """The file that it is a part of."""
    holder = file_of(document.path, files) if document.path else None
    return holder if holder != document.path else None


def _refuse_part(document: Document, files: Collection[str]) -> None:
    """The next change of its file would bring it back."""
    holder = _holder(document, files)
    if holder is not None:
        raise InvalidInput(
            f"{document.code} is a part of {holder}, and comes and goes with it",
            field="references",
            hint=f"kb rm {holder}, or kb archive {document.code}",
        )


def kept_out(record: FileRecord, sources: set[str]) -> FileRecord | None:
    """The record that keeps the file out from now on; none when no source holds it any more."""
    source = closest(record.path, sources)
    if source is None:
        return None
    return record._replace(source=source, document=None, excluded=True)


def _documents(records: Iterable[FileRecord], store: Store) -> dict[str, Document]:
    found = (store.find(record.document) for record in records if record.document)
    return {document.id: document for document in found if document is not None}
