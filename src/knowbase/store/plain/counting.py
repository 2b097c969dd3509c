"""What documents of the plain store are sorted by, and how many each has."""

from collections import Counter
from collections.abc import Iterable

from knowbase.query.conditions import Condition
from knowbase.store.plain.filtering import passing
from knowbase.store.plain.state import State


class Counting:
    """The part of `knowbase.store.contract.Store` about tags and projects."""

    _state: State

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        return _counted(tag for d in passing(self._state, condition) for tag in d.tags)

    def projects(self, condition: Condition) -> list[tuple[str, int]]:
        return _counted(d.project for d in passing(self._state, condition) if d.project is not None)


def _counted(names: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))
