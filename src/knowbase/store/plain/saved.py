"""Saved searches in the plain store."""

from collections.abc import Sequence

from knowbase.store.plain.contents import Contents
from knowbase.values.changes import SavedSearch
from knowbase.values.characters import clean, storable
from knowbase.values.synonyms import SYNONYMS


class PlainSavedSearches(Contents):
    """See `knowbase.store.contract.SavedSearchStore` for what each method promises."""

    def saved_searches(self) -> list[SavedSearch]:
        return [search for _, search in sorted(self._state.saved.items())]

    def synonyms(self) -> list[str]:
        return [one.query for one in self.saved_searches() if one.name.startswith(SYNONYMS)]

    def save_search(self, search: SavedSearch, *, replace: bool = False) -> bool:
        search = storable(search)
        old = self._state.saved.get(search.name)
        if old is not None and not replace:
            return False
        made = search.created_at if old is None else old.created_at
        self._state.saved[search.name] = search._replace(created_at=made)
        return True

    def drop_search(self, name: str) -> bool:
        return self._state.saved.pop(clean(name), None) is not None

    def replace_synonyms(
        self, before: Sequence[str], dropped: Sequence[str], group: SavedSearch | None = None
    ) -> bool:
        if self.synonyms() != list(before):
            return False
        for name in dropped:
            self.drop_search(name)
        if group is not None:
            self.save_search(group, replace=True)
        return True
