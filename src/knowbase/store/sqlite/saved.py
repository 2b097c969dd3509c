"""Saved searches in SQLite."""

from typing import TYPE_CHECKING, Any

from knowbase.store.sqlite.connection import Connected, translated
from knowbase.values.characters import storable
from knowbase.values.synonyms import SYNONYM_NAMES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from knowbase.values.changes import SavedSearch

_INSERT = "INSERT INTO saved VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) "
_IN_ITS_PLACE = (
    "DO UPDATE SET query = excluded.query, options = excluded.options,"
    " updated_at = excluded.updated_at"
)
_DELETE = "DELETE FROM saved WHERE name = ?"


class SqliteSavedSearches(Connected):
    """See `knowbase.store.contract.SavedSearchStore` for what each method promises."""

    def saved_searches(self) -> "list[SavedSearch]":
        with translated():
            return searches(self._connections.get())

    def synonyms(self) -> list[str]:
        with translated():
            return _synonyms(self._connections.get())

    def save_search(self, search: "SavedSearch", *, replace: bool = False) -> bool:
        statement = _INSERT + (_IN_ITS_PLACE if replace else "DO NOTHING")
        with translated(), self._connections.writing() as connection:
            connection.execute(statement, row_of(search))
            return bool(connection.changes())

    def drop_search(self, name: str) -> bool:
        with translated(), self._connections.writing() as connection:
            connection.execute(_DELETE, (name,))
            return bool(connection.changes())

    def replace_synonyms(
        self,
        before: "Sequence[str]",
        dropped: "Sequence[str]",
        group: "SavedSearch | None" = None,
    ) -> bool:
        with translated(), self._connections.writing() as connection:
            if _synonyms(connection) != list(before):
                return False
            connection.executemany(_DELETE, [(name,) for name in dropped])
            if group is not None:
                connection.execute(_INSERT + _IN_ITS_PLACE, row_of(group))
            return True


def _synonyms(connection: "apsw.Connection") -> list[str]:
    found = connection.execute(
        "SELECT query FROM saved WHERE name >= ? AND name < ? ORDER BY name", SYNONYM_NAMES
    )
    return [str(query) for (query,) in found]


def searches(connection: "apsw.Connection") -> "list[SavedSearch]":
    from knowbase.store.rows import from_json
    from knowbase.values.changes import SavedSearch

    rows: Any = connection.execute(
        "SELECT name, query, options, created_at, updated_at FROM saved ORDER BY name"
    )
    return [
        SavedSearch(name, query, from_json(rest, dict), *when) for name, query, rest, *when in rows
    ]


def row_of(search: "SavedSearch") -> tuple[str, ...]:
    import json

    options = json.dumps(storable(dict(search.options)), sort_keys=True)
    return (search.name, search.query, options, search.created_at, search.updated_at)
