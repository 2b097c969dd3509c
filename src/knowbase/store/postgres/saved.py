"""Saved searches in PostgreSQL."""

import json
from collections.abc import Sequence

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

_DELETE = SQL("DELETE FROM saved WHERE base_id = %s AND name = %s")
_SYNONYMS = SQL(
    "SELECT query FROM saved WHERE base_id = %s AND name >= %s AND name < %s ORDER BY name"
)


class PostgresSavedSearches(Connected):
    """See `knowbase.store.contract.SavedSearchStore` for what each method promises."""

    def saved_searches(self) -> list[SavedSearch]:
        return self._connections.run(lambda connection: searches(connection, self._base))

    def synonyms(self) -> list[str]:
        found = self._read(_SYNONYMS, (self._base, *SYNONYM_NAMES))
        return [query for (query,) in found]

    def save_search(self, search: SavedSearch, *, replace: bool = False) -> bool:
        statement = SQL(INSERT + (_IN_ITS_PLACE if replace else " ON CONFLICT DO NOTHING"))
        values = (self._base, *row_of(search))
        return self._connections.writing(
            lambda connection: connection.execute(statement, values).rowcount > 0
        )

    def drop_search(self, name: str) -> bool:
        return self._connections.writing(
            lambda connection: connection.execute(_DELETE, (self._base, name)).rowcount > 0
        )

    def replace_synonyms(
        self, before: Sequence[str], dropped: Sequence[str], group: SavedSearch | None = None
    ) -> bool:
        def replace(connection: Connection) -> bool:
            # One at a time: what was read stays true until it is written.
            connection.execute("SELECT 1 FROM bases WHERE id = %s FOR UPDATE", (self._base,))
            found = connection.execute(_SYNONYMS, (self._base, *SYNONYM_NAMES))
            if [query for (query,) in found] != list(before):
                return False
            for name in dropped:
                connection.execute(_DELETE, (self._base, name))
            if group is not None:
                connection.execute(SQL(INSERT + _IN_ITS_PLACE), (self._base, *row_of(group)))
            return True

        return self._connections.writing(replace)


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
