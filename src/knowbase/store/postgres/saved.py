"""Saved searches in PostgreSQL."""

import json

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.connection import Connected
from knowbase.store.rows import from_json
from knowbase.values.changes import SavedSearch
from knowbase.values.characters import storable
from knowbase.values.synonyms import SYNONYM_NAMES

INSERT = (
    "INSERT INTO saved (base_id, name, query, options, created_at, updated_at)"
    " VALUES (%s, %s, %s, %s, %s, %s)"
)
_IN_ITS_PLACE = (
    " ON CONFLICT (base_id, name) DO UPDATE SET query = excluded.query,"
    " options = excluded.options, updated_at = excluded.updated_at"
)


class PostgresSavedSearches(Connected):
    """See `knowbase.store.contract.SavedSearchStore` for what each method promises."""

    def saved_searches(self) -> list[SavedSearch]:
        return self._connections.run(lambda connection: searches(connection, self._base))

    def synonyms(self) -> list[str]:
        found = self._read(
            SQL(
                "SELECT query FROM saved WHERE base_id = %s AND name >= %s AND name < %s"
                " ORDER BY name"
            ),
            (self._base, *SYNONYM_NAMES),
        )
        return [query for (query,) in found]

    def save_search(self, search: SavedSearch, *, replace: bool = False) -> bool:
        statement = SQL(INSERT + (_IN_ITS_PLACE if replace else " ON CONFLICT DO NOTHING"))
        values = (self._base, *row_of(search))
        return self._connections.writing(
            lambda connection: connection.execute(statement, values).rowcount > 0
        )

    def drop_search(self, name: str) -> bool:
        statement = SQL("DELETE FROM saved WHERE base_id = %s AND name = %s")
        return self._connections.writing(
            lambda connection: connection.execute(statement, (self._base, name)).rowcount > 0
        )


def searches(connection: Connection, base: int) -> list[SavedSearch]:
    rows = connection.execute(
        "SELECT name, query, options, created_at, updated_at FROM saved WHERE base_id = %s"
        " ORDER BY name",
        (base,),
    )
    return [
        SavedSearch(name, query, from_json(rest, dict), *when) for name, query, rest, *when in rows
    ]


def row_of(search: SavedSearch) -> tuple[str, ...]:
    options = json.dumps(storable(dict(search.options)), sort_keys=True)
    return (search.name, search.query, options, search.created_at, search.updated_at)
