"""Files that say what took their place: hidden by it once it is there, and shown until then."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from knowbase.query.conditions import AllOf, Compare, Meta
from knowbase.store.contract import DocumentStore
from knowbase.values.documents import ALL, Document
from knowbase.values.reading import Reading

KEY = "superseded_by"


class Named(NamedTuple):
    """What the document of a file goes by."""

    id: str | None  # None: it is new
    code: str | None
    path: str

    def is_it(self, document: Document) -> bool:
        is_code = self.code is not None and self.code.lower() == document.code.lower()
        return document.id == self.id or document.path == self.path or is_code


def waiting_if_unfit(
    reading: Reading, file: Named, store: DocumentStore, said: Mapping[str, str]
) -> Reading:
    """The reading with its successor kept as front matter alone, while nothing goes by its name,
    or while that one is superseded by this document itself. `said` is what other files say by now,
    by their paths."""
    name = reading.value(KEY)
    if name is None:
        return reading
    successors = list(_following(name, store, said))
    if successors and not any(map(file.is_it, successors)):
        return reading
    metadata = {**reading.value("metadata"), KEY: name}
    return reading.stating(superseded_by=None, metadata=metadata)


def may_settle(reading: Reading, file: Named, store: DocumentStore) -> bool:
    """Whether a file waits for its successor, or others may have waited for what it says by now:
    its name, or that it has no successor any more. Only then is it worth looking through all that
    wait."""
    names = reading.parts or (file.code is not None and store.find(file.code) is None)
    if file.id is None or names or KEY in reading.value("metadata"):
        return True
    before = store.find(file.id)
    return before is not None and _next(before) not in (None, reading.value(KEY))


def waiting(store: DocumentStore) -> list[Document]:
    """The documents of files whose successor was not there."""
    condition = AllOf((Compare("path", "present"), Meta(KEY, "present")))
    return [one for one in store.documents(condition, ALL) if successor_of(one)]


def is_due(document: Document, store: DocumentStore) -> bool:
    """Whether what it waits for is there, and does not lead back to it."""
    successors = list(_following(successor_of(document), store, {}))
    return bool(successors) and document.id not in {one.id for one in successors}


def successor_of(document: Document) -> str:
    """What a document that waits says took its place."""
    named = document.metadata.get(KEY)
    return named if isinstance(named, str) and document.superseded_by is None else ""


def said_of(document: Document, store: DocumentStore) -> str:
    name = successor_of(document)
    chain = [one.code for one in _following(name, store, {})]
    if document.code in chain:
        circle = " → ".join([document.code, *chain[: chain.index(document.code) + 1]])
        return f"superseded_by would be a circle ({circle}); it is shown until that is mended"
    return f"superseded_by names no document ({name}); it is shown until there is one"


def _following(
    name: str | None, store: DocumentStore, said: Mapping[str, str]
) -> Iterator[Document]:
    """The document of this name and those that took its place, also as files say that wait."""
    seen: set[str] = set()
    while name and (document := store.find(name)) is not None and document.id not in seen:
        yield document
        seen.add(document.id)
        name = said.get(document.path or "") or _next(document)


def _next(document: Document) -> str | None:
    return document.superseded_by or successor_of(document) or None
