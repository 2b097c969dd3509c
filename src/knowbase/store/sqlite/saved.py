"""Saved searches in SQLite."""

import json
from typing import Any

import apsw

from knowbase.values.changes import SavedSearch


def searches(connection: apsw.Connection) -> list[SavedSearch]:
    rows: Any = connection.execute(
        "SELECT name, query, options, created_at, updated_at FROM saved ORDER BY name"
    )
    return [SavedSearch(name, query, json.loads(rest), *when) for name, query, rest, *when in rows]


def save(connection: apsw.Connection, search: SavedSearch, replace: bool) -> bool:
    taken = (
        "DO UPDATE SET query = excluded.query, options = excluded.options,"
        " updated_at = excluded.updated_at"
        if replace
        else "DO NOTHING"
    )
    connection.execute(
        f"INSERT INTO saved VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) {taken}", row_of(search)
    )
    return bool(connection.changes())


def row_of(search: SavedSearch) -> tuple[str, ...]:
    options = json.dumps(dict(search.options), sort_keys=True)
    return (search.name, search.query, options, search.created_at, search.updated_at)


def drop(connection: apsw.Connection, name: str) -> bool:
    connection.execute("DELETE FROM saved WHERE name = ?", (name,))
    return bool(connection.changes())
