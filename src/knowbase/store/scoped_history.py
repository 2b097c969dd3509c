"""What a base was, as somebody with less than full access sees it: of their project alone.

A project's changes have numbers of their own: the base's tell how much others write.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import cached_property

from knowbase.errors import NotAllowed
from knowbase.store.contract import HistoryStore
from knowbase.store.naming import OwnNames
from knowbase.values.access import Access
from knowbase.values.history import BEFORE, Change, Kept, Version, Wanted

_ALL = 2**62


def scoped_history(history: HistoryStore, access: Access, names: OwnNames) -> HistoryStore:
    if access.project is None:
        return _ReadOnly(history)
    return ScopedHistory(history, access.project, names)


def real_number(history: HistoryStore, number: int) -> int:
    """The base's number of a change that a project has by its own."""
    return history._real(number) if isinstance(history, ScopedHistory) else number


def _refused() -> NotAllowed:
    return NotAllowed("this needs access to the whole base")


class ScopedHistory:
    """See `knowbase.store.contract.HistoryStore` for what each method promises."""

    def __init__(self, history: HistoryStore, project: str, names: OwnNames) -> None:
        self._history = history
        self._project = project
        self._names = names

    @cached_property
    def _ours(self) -> list[Change]:
        """The changes that concern the project, and what they did in it; oldest first."""
        found = map(self._shown, self._history.changes(Wanted(limit=_ALL)))
        return [one for one in found if one.touched][::-1]

    @cached_property
    def _numbers(self) -> list[int]:
        return [one.number for one in self._ours]

    def _own(self, number: int) -> int:
        return bisect_right(self._numbers, number)

    def _real(self, number: int) -> int:
        return self._numbers[number - 1] if 0 < number <= len(self._numbers) else 0

    def _shown(self, change: Change) -> Change:
        ours = tuple(one for one in change.touched if one.project == self._project)
        session = change.session and self._names.shown_session(change.session)
        return change._replace(touched=ours, session=session, next_seq=0, next_chunk=0)

    def changes(self, wanted: Wanted) -> list[Change]:
        found = self.numbered(range(1, len(self._ours) + 1)).values()
        return [one for one in reversed(list(found)) if wanted.passes(one)][: wanted.limit]

    def numbered(self, numbers: Collection[int]) -> dict[int, Change]:
        known = {place: one for place, one in enumerate(self._ours, 1) if place in numbers}
        found = {place: one._replace(number=place) for place, one in known.items()}
        for place, one in found.items():  # a transaction that is a command of its own
            if one.run.startswith("change "):
                found[place] = one._replace(run=f"change {place}")
        return {**({0: BEFORE} if 0 in numbers else {}), **found}

    def last(self) -> int:
        return len(self._ours)

    def number_at(self, moment: str) -> int | None:
        found = self._history.number_at(moment)
        return None if found is None else self._own(found)

    def versions(self, document: str | None = None) -> list[Version]:
        return [
            one._replace(
                since=self._own(one.since),
                until=None if one.until is None else self._own(one.until),
            )
            for one in self._history.versions(document)
            if one.document is not None and one.document.project == self._project
        ]

    def version(self, document: str, number: int) -> Kept | None:
        found = self._history.version(document, self._real(number))
        if found is None or found.document.project != self._project:
            return None
        related = (one for one in found.relations if self.versions(one.target))
        return found._replace(relations=tuple(related))

    def lost(self, number: int) -> int:  # noqa: ARG002 - as promised
        """Nobody knows any more whose they were."""
        return 0

    def past(self, reference: str, number: int | None = None) -> str | None:
        number = None if number is None else self._real(number)
        for name in (self._names.code(reference), reference):
            found = self._history.past(name, number)
            if found is not None and self.versions(found):
                return found
        return None

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:  # noqa: ARG002 - as promised
        raise _refused()

    def leftovers(self) -> int:
        return 0


class _ReadOnly:
    """All of it, for who may only read."""

    def __init__(self, history: HistoryStore) -> None:
        self.changes = history.changes
        self.numbered = history.numbered
        self.last = history.last
        self.number_at = history.number_at
        self.versions = history.versions
        self.version = history.version
        self.lost = history.lost
        self.past = history.past
        self.leftovers = history.leftovers

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:  # noqa: ARG002 - as promised
        raise _refused()
