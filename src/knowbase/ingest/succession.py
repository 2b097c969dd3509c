"""Files that say what took their place: hidden by it once it is there, and shown until then."""

from knowbase.query.conditions import AllOf, Compare, Meta
from knowbase.store.contract import DocumentStore
from knowbase.values.documents import ALL, Document
from knowbase.values.reading import Reading

KEY = "superseded_by"


def waiting_if_unknown(reading: Reading, store: DocumentStore) -> Reading:
    """The reading with its successor kept as front matter alone, while nothing goes by its name."""
    name = reading.value(KEY)
    if name is None or store.find(name) is not None:
        return reading
    metadata = {**reading.value("metadata"), KEY: name}
    return reading.stating(superseded_by=None, metadata=metadata)


def may_settle(reading: Reading, store: DocumentStore, *, is_new: bool) -> bool:
    """Whether a file waits for its successor, or brings a name that others may wait for: only
    then is it worth looking through all that wait."""
    code = reading.value("code")
    names = is_new or bool(reading.parts) or (code is not None and store.find(code) is None)
    return names or KEY in reading.value("metadata")


def waiting(store: DocumentStore) -> list[Document]:
    """The documents of files whose successor was not there."""
    condition = AllOf((Compare("path", "present"), Meta(KEY, "present")))
    return [one for one in store.documents(condition, ALL) if successor_of(one)]


def successor_of(document: Document) -> str:
    """What a document that waits says took its place."""
    named = document.metadata.get(KEY)
    return named if isinstance(named, str) and document.superseded_by is None else ""


def said_of(document: Document) -> str:
    name = successor_of(document)
    return f"superseded_by names no document ({name}); it is shown until there is one"
