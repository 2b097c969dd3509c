"""Which store a base is in: a URL is PostgreSQL, everything else a SQLite file."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from knowbase.errors import BaseError, BaseMissing, InvalidInput
from knowbase.store.location import FOLDER, is_url

if TYPE_CHECKING:
    from knowbase.config import Settings
    from knowbase.store.contract import Store


def open_store(base: str, settings: "Settings", *, english: bool = False) -> "Store":
    """The store of an existing base; whether a profile ranks English words as PostgreSQL does."""
    if not is_url(base):
        from knowbase.store.sqlite import SqliteStore

        return SqliteStore(base, settings.store_busy_timeout, settings.store_index_after)
    _need_driver()
    from knowbase.store.postgres import PostgresStore
    from knowbase.store.postgres.english import Indexes
    from knowbase.values.replicas import ReadFrom

    return PostgresStore(
        base,
        settings.store_busy_timeout,
        Indexes(settings.store_vector_index, english),
        settings.store_statement_timeout,
        ReadFrom(settings.base_read, settings.base_read_lag),
    )


def create_store(base: str) -> bool:
    """Make a new base, or leave an existing one as it is; whether it is new."""
    if not is_url(base):
        from knowbase.store.sqlite import create

        is_new = not os.path.exists(base) or os.path.getsize(base) == 0
        create(base).close()
        if is_new:
            _hide_from_git(os.path.dirname(base))
        return is_new
    _need_driver()
    from knowbase.store.postgres import PostgresStore
    from knowbase.store.postgres import create as create_in_postgres

    try:
        store = PostgresStore(base)
    except BaseMissing:
        create_in_postgres(base).close()
        return True
    try:
        store.distribute()
    finally:
        store.close()
    return False


def schema_sql(base: str, dimensions: int, writer: str | None, reader: str | None) -> str:
    """What an administrator runs before a base can be made by who may create nothing."""
    if not is_url(base):
        raise InvalidInput(
            "a base in a file needs no SQL", field="print_sql", hint="--base postgresql://…"
        )
    _need_driver()
    from knowbase.store.postgres import schema_sql as sql_of
    from knowbase.store.postgres.upgrade import Roles

    return sql_of(base, dimensions, Roles(writer, reader))


def _hide_from_git(folder: str) -> None:
    """What lies in .kb is made from the files around it, and may hold what is in no repository."""
    path = os.path.join(folder, ".gitignore")
    if os.path.basename(folder) != FOLDER or os.path.exists(path):
        return
    with suppress(OSError), open(path, "x", encoding="utf-8") as file:
        file.write("*\n")


def _need_driver() -> None:
    from importlib.util import find_spec

    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        raise BaseError(
            "a base in PostgreSQL needs the psycopg package",
            hint="pip install 'knowbase[postgres]'",
        )
