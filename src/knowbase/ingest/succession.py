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


def waiting(store: DocumentStore) -> list[Document]:
    """The documents of files whose successor was not there."""
    condition = AllOf((Compare("path", "present"), Meta(KEY, "present")))
    return [one for one in store.documents(condition, ALL) if successor_of(one)]


def successor_of(document: Document) -> str:
    """What a document that waits says took its place."""
    named = document.metadata.get(KEY)
    return named if isinstance(named, str) and document.superseded_by is None else ""


def said_of(name: str) -> str:
    return f"superseded_by names no document ({name}); it is shown until there is one"
