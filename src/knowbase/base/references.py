"""What people call documents by: a code, an id, a number, a path, and :slug for one section."""

from typing import TYPE_CHECKING

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.values.characters import clean, composed, spellings
from knowbase.values.documents import Document, Page

if TYPE_CHECKING:
    from knowbase.store.contract import DocumentStore

MOST_NAMED = 5  # files of one name that are told
MOST_LOOKED_AT = 100  # of those that lie in a folder of that name, too


class References:
    """Finds the documents of one base by what they are called."""

    def __init__(self, store: "DocumentStore", home: str) -> None:
        self._store = store
        self._home = home

    def resolve(self, reference: str, *, by_name: bool = False) -> tuple[Document, str | None]:
        """The document that a reference names, and the section's slug if it names one.

        With `by_name` the end of a path will do, if one file alone ends so: for reading, where
        a mistake costs nothing.
        """
        reference = _text(reference)
        find = self._find_by_name if by_name else self.find
        whole = find(reference)
        if whole is not None:
            return whole, None
        front, colon, slug = reference.rpartition(":")
        document = find(front) if colon else None
        if document is None:
            raise NotFound(f"there is no document {reference!r}", hint=self.nearest(reference))
        return document, slug

    def whole(self, reference: str, *, by_name: bool = False) -> Document:
        """The document that a reference names; a section does not stand for its document."""
        document, slug = self.resolve(reference, by_name=by_name)
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
        from knowbase.ingest.places import Home, is_address

        reference = _text(reference)
        found = self._store.find(reference)
        if found is None and is_address(reference):
            return self._page(reference)
        home = Home(self._home)
        others = [name for one in spellings(reference) for name in (one, home.stored(one))][1:]
        return found or next(filter(None, map(self._store.find, others)), None)

    def _page(self, address: str) -> Document | None:
        from knowbase.ingest.web import page_id

        try:
            return self._store.find(page_id(address))
        except InvalidInput:
            return None

    def find_named(self, reference: str) -> Document | None:
        """Like `find`, and by a name that one file alone has; `nearest` says when several do."""
        found = self.find(reference)
        if found is not None:
            return found
        named = self._files_called(reference)
        return named[0] if len(named) == 1 else None

    def _find_by_name(self, reference: str) -> Document | None:
        found = self.find_named(reference)
        named = [] if found is not None else self._files_called(reference)
        if len(named) > 1:
            raise NotFound(f"{reference!r} is the name of several files", hint=_told(named))
        return found

    def _files_called(self, reference: str) -> list[Document]:
        """The documents whose path ends so, else those whose path without its extension does."""
        return self._ending(reference, "") or self._ending(reference, ".*")

    def _ending(self, reference: str, extension: str) -> list[Document]:
        from knowbase.query.conditions import FORGOTTEN, InPath, Not, both
        from knowbase.text.paths import folded, path_pattern

        plain, pattern = path_pattern(reference), path_pattern(reference + extension)
        if plain is None or pattern is None or not plain.names or not plain.is_plain:
            return []
        if plain.folder or reference.strip() != reference:
            return []
        end = composed("/" + "/".join(plain.names))
        there = both(Not(FORGOTTEN), InPath(pattern))
        found = self._store.documents(there, Page(MOST_LOOKED_AT))
        paths = [(one, "/" + composed(folded(one.path or "")).lstrip("/")) for one in found]
        if extension:  # of a.tar.gz, the name is a.tar
            paths = [(one, _bare(path)) for one, path in paths]
        return [one for one, path in paths if path.endswith(end)]

    def nearest(self, reference: str) -> str:
        """What to try instead of a reference that names nothing."""
        if self.find_any(reference) is not None:
            return f"it is forgotten; kb restore {reference} brings it back"
        named = self._files_called(reference)
        if len(named) > 1:
            return f"several files are called so: {_told(named)}"
        if named:
            return f"did you mean {_told(named)}?"
        from difflib import get_close_matches

        near = get_close_matches(reference.upper(), self._store.codes(), n=3, cutoff=0.5)
        return "did you mean " + ", ".join(near) + "?" if near else "list or search what there is"


def _text(reference: object) -> str:
    if not isinstance(reference, str):
        raise InvalidInput(
            f"a document is named by a text, not by {type(reference).__name__}",
            field="reference",
            hint="a code, an id, a number or a path",
        )
    return clean(reference)


def _bare(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return folder + slash + (name.rpartition(".")[0] or name)


def _told(named: list[Document]) -> str:
    more = " …" if len(named) > MOST_NAMED else ""
    return ", ".join(f"{one.code} ({one.path})" for one in named[:MOST_NAMED]) + more
