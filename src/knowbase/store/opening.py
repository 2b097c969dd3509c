"""Which store a base is in: a URL is PostgreSQL, everything else a SQLite file."""

from typing import TYPE_CHECKING

from knowbase.errors import BaseError
from knowbase.location import is_url

if TYPE_CHECKING:
    from knowbase.config import Settings
    from knowbase.store.contract import Store


def open_store(base: str, settings: "Settings") -> "Store":
    """The store of an existing base."""
    if not is_url(base):
        from knowbase.store.sqlite import SqliteStore

        return SqliteStore(base, settings.store_busy_timeout)
    _need_driver()
    from knowbase.store.postgres import PostgresStore

    return PostgresStore(base, settings.store_busy_timeout, settings.store_vector_index)


def create_store(base: str) -> None:
    """Make a new base; an existing one stays as it is."""
    if not is_url(base):
        from knowbase.store.sqlite import create

        create(base).close()
        return
    _need_driver()
    from knowbase.store.postgres import create as create_in_postgres

    create_in_postgres(base).close()


def _need_driver() -> None:
    from importlib.util import find_spec

    if find_spec("psycopg") is None or find_spec("psycopg_pool") is None:
        raise BaseError(
            "a base in PostgreSQL needs the psycopg package",
            hint="pip install 'knowbase[postgres]'",
        )
