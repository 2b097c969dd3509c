"""What a removal takes out of the base. Files on disk are never touched."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.ingest.places import Home, inside
from knowbase.store import Store
from knowbase.types import Changes, Document, FileRecord


class Removal(NamedTuple):
    """What was removed, or would be."""

    documents: tuple[Document, ...]
    sources: tuple[str, ...]
    dry_run: bool = False


def removal_of(
    references: Sequence[str], store: Store, home: Home, resolve: Callable[[str], Document]
) -> tuple[Changes, Removal]:
    """The changes for these references: sources, folders inside a source, or documents."""
    if not references:
        raise InvalidInput("name at least one document, file or folder", field="references")
    paths = {source.path for source in store.sources()}
    records = {r.path: r for path in paths for r in store.files(path).values()}
    dropped, documents, forgotten, excluded = [], {}, [], []
    for reference in references:
        path = home.stored(reference)
        below = [record for record in records.values() if inside(record.path, path)]
        if path in paths:
            dropped.append(path)
            below = [record for record in below if record.source == path]
            forgotten += [record.path for record in below]
        elif below:
            excluded += below
        else:
            document = resolve(reference)
            documents[document.id] = document
            excluded += [r for r in (records.get(document.path or ""),) if r is not None]
        documents.update(_documents(below, store))
    changes = Changes(
        removed=tuple(documents),
        files=tuple(record._replace(document=None, excluded=True) for record in excluded),
        forgotten=tuple(forgotten),
        dropped_sources=tuple(dropped),
    )
    return changes, Removal(tuple(documents.values()), tuple(dropped))


def _documents(records: Sequence[FileRecord], store: Store) -> dict[str, Document]:
    found = (store.find(record.document) for record in records if record.document)
    return {document.id: document for document in found if document is not None}
