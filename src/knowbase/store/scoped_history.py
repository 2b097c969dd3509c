"""What a base was, as somebody with less than full access sees it: of their project alone."""

from collections.abc import Collection, Sequence

from knowbase.errors import NotAllowed
from knowbase.store.contract import HistoryStore
from knowbase.store.naming import OwnNames
from knowbase.values.access import Access
from knowbase.values.documents import Document
from knowbase.values.history import Change, Kept, Version, Wanted


class ScopedHistory:
    """See `knowbase.store.contract.HistoryStore` for what each method promises."""

    def __init__(self, history: HistoryStore, access: Access, names: OwnNames) -> None:
        self._history = history
        self._access = access
        self._names = names

    def changes(self, wanted: Wanted) -> list[Change]:
        """Those that concern the project, and what they did in it."""
        if self._access.project is None:
            return self._history.changes(wanted)
        session = wanted.session and self._names.session(wanted.session)
        found = self._history.changes(wanted._replace(limit=2**62, session=session))
        return [one for one in map(self._shown, found) if one.touched][: wanted.limit]

    def numbered(self, numbers: Collection[int]) -> dict[int, Change]:
        found = self._history.numbered(numbers)
        if self._access.project is None:
            return found
        return {number: self._shown(one) for number, one in found.items()}

    def _shown(self, change: Change) -> Change:
        """How many documents others have is nothing that a number may tell."""
        ours = tuple(one for one in change.touched if one.project == self._access.project)
        session = change.session and self._names.shown_session(change.session)
        own = change._replace(touched=ours, session=session, next_seq=0, next_chunk=0)
        return own if ours else own._replace(who="", surface="", command="", session=None, run="")

    def last(self) -> int:
        return self._history.last()

    def number_at(self, moment: str) -> int | None:
        return self._history.number_at(moment)

    def versions(self, document: str | None = None) -> list[Version]:
        found = self._history.versions(document)
        return [one for one in found if self._is_ours(one.document)]

    def version(self, document: str, number: int) -> Kept | None:
        found = self._history.version(document, number)
        if found is None or not self._is_ours(found.document):
            return None
        if self._access.project is None:
            return found
        known = {one.target for one in found.relations if self.versions(one.target)}
        related = tuple(one for one in found.relations if one.target in known)
        return found._replace(relations=related)

    def past(self, reference: str) -> str | None:
        names = [reference]
        if self._access.project is not None:
            names = [self._names.code(reference), reference]
        for name in names:
            found = self._history.past(name)
            if found is not None and self.versions(found):
                return found
        return None

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:
        if not self._access.is_full:
            raise NotAllowed("this needs access to the whole base")
        self._history.prune(ended)

    def leftovers(self) -> int:
        return self._history.leftovers()

    def _is_ours(self, document: Document | None) -> bool:
        if self._access.project is None:
            return True
        return document is not None and document.project == self._access.project
