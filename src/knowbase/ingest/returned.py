"""A file that is back as it was: its document is there again, with what was said of it.

A checkout of another branch takes files away and brings them back; codes, relations and states
that people gave their documents are in no file.
"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from knowbase.query.conditions import OneOf
from knowbase.store.contract import Store
from knowbase.values.changes import Changes, Draft, Edit
from knowbase.values.documents import ALL
from knowbase.values.history import REMOVED, Kept, Wanted
from knowbase.values.reading import Reading

CHANGES, MOST = 200, 1000  # that are looked at, and documents that they removed: the last ones

BY_FILES = frozenset({"add", "sync", "sync_some", "watch"})
"""The commands that remove what has no file any more; what a person removed is not to come back."""


class Returned(NamedTuple):
    """The document that a file was."""

    kept: Kept

    @property
    def id(self) -> str:
        return self.kept.document.id

    def stated(self, reading: Reading) -> Reading:
        """What it says, and what nothing else says of a document that is new."""
        was = self.kept.document
        code = reading.value("code") or was.code
        created = reading.value("created_at") or was.created_at
        return reading.stating(code=code, created_at=created, salience=was.salience)

    @property
    def edits(self) -> tuple[Edit, ...]:
        """What commands had said of it."""
        said = self.kept.copy.said
        values = {name: getattr(self.kept.document, name) for name in said}
        return (Edit(self.id, values),) if values else ()


def relations(store: Store, returned: Sequence[Returned]) -> Changes:
    """Those that they had, as far as they still lead somewhere: most go and come together."""
    had = [one for each in returned for one in each.kept.relations]
    ends = tuple({one.target for one in had})
    there = {one.id for one in store.documents(OneOf("id", ends), ALL)} if ends else set()
    return Changes(relations=tuple(one for one in had if one.target in there))


class Removed:
    """The files whose documents were removed of late, by path."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ends: dict[str, tuple[str, int]] | None = None  # documents, and since when

    def returned(self, path: str, draft: Draft) -> Returned | None:
        """What the document of a new file was, when it says the same."""
        if self._ends is None:
            self._ends = self._looked_up()
        document, until = self._ends.get(path, ("", 0))
        kept = self._store.history().version(document, until - 1) if document else None
        if kept is None:
            return None
        before = [one.chunk.hash for one in kept.copy.chunks]
        return Returned(kept) if before == [chunk.hash for chunk in draft.chunks] else None

    def _looked_up(self) -> dict[str, tuple[str, int]]:
        history, found = self._store.history(), dict[str, tuple[str, int]]()
        changes = [one for one in history.changes(Wanted(limit=CHANGES)) if one.command in BY_FILES]
        touched = (one for change in changes for one in change.touched)
        removed = dict.fromkeys(one.id for one in touched if one.what == REMOVED)
        for document in islice(removed, MOST):
            last = history.versions(document)[-1]
            if last.until is not None and last.document is not None and last.document.path:
                found.setdefault(last.document.path, (document, last.until))
        return found
