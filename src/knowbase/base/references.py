"""What people call documents by: a code, an id, a number, a path, and :slug for one section."""

from typing import TYPE_CHECKING

from knowbase.errors import Conflict, NotFound
from knowbase.values.characters import clean
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from knowbase.store.contract import DocumentStore


class References:
    """Finds the documents of one base by what they are called."""

    def __init__(self, store: "DocumentStore", home: str) -> None:
        self._store = store
        self._home = home

    def resolve(self, reference: str) -> tuple[Document, str | None]:
        """The document that a reference names, and the section's slug if it names one."""
        reference = clean(reference)
        whole = self.find(reference)
        if whole is not None:
            return whole, None
        front, colon, slug = reference.rpartition(":")
        document = self.find(front) if colon else None
        if document is None:
            raise NotFound(f"there is no document {reference!r}", hint=self.nearest(reference))
        return document, slug

    def whole(self, reference: str) -> Document:
        """The document that a reference names; a section does not stand for its document."""
        document, slug = self.resolve(reference)
        if slug is not None:
            raise Conflict(
                f"{reference!r} is a section",
                field="reference",
                hint=f"the document is {document.code}",
            )
        return document

    def find(self, reference: str) -> Document | None:
        """What is forgotten goes by no name."""
        found = self.find_any(reference)
        return found if found is not None and found.deleted_at is None else None

    def find_any(self, reference: str) -> Document | None:
        from knowbase.ingest.places import Home

        return self._store.find(reference) or self._store.find(Home(self._home).stored(reference))

    def nearest(self, reference: str) -> str:
        """What to try instead of a reference that names nothing."""
        if self.find_any(reference) is not None:
            return f"it is forgotten; kb restore {reference} brings it back"
        from difflib import get_close_matches

        near = get_close_matches(reference.upper(), self._store.codes(), n=3, cutoff=0.5)
        return "did you mean " + ", ".join(near) + "?" if near else "list or search what there is"
