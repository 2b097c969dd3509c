"""Saved searches in SQLite."""

from typing import TYPE_CHECKING, Any

from knowbase.store.sqlite.connection import Connected, translated
from knowbase.values.characters import storable
from knowbase.values.synonyms import SYNONYM_NAMES

if TYPE_CHECKING:
    import apsw

    from knowbase.values.changes import SavedSearch


class SqliteSavedSearches(Connected):
    """See `knowbase.store.contract.SavedSearchStore` for what each method promises."""

    def saved_searches(self) -> "list[SavedSearch]":
        with translated():
            return searches(self._connections.get())

    def synonyms(self) -> list[str]:
        with translated():
            found = self._connections.get().execute(
                "SELECT query FROM saved WHERE name >= ? AND name < ? ORDER BY name", SYNONYM_NAMES
            )
            return [query for (query,) in found]

    def save_search(self, search: "SavedSearch", *, replace: bool = False) -> bool:
        taken = (
            "DO UPDATE SET query = excluded.query, options = excluded.options,"
            " updated_at = excluded.updated_at"
            if replace
            else "DO NOTHING"
        )
        with translated(), self._connections.writing() as connection:
            connection.execute(
                f"INSERT INTO saved VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) {taken}",
                row_of(search),
            )
            return bool(connection.changes())

    def drop_search(self, name: str) -> bool:
        with translated(), self._connections.writing() as connection:
            connection.execute("DELETE FROM saved WHERE name = ?", (name,))
            return bool(connection.changes())


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
