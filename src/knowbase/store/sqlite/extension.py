"""sqlite-vec: loading it, and doing without it.

Without it, words are read and written as ever. A vector that should go then stays in its table,
which only sqlite-vec can write to: it is noted, and removed by the next one who has it.
"""

import os
from contextlib import suppress
from functools import cache

import apsw

from knowbase.errors import VectorsUnavailable
from knowbase.logs import log
from knowbase.store.sqlite.vector_tables import vector_table

_LEFT = "vectors_left"  # a table that is there as long as it holds something


def load_vector_extension(connection: apsw.Connection) -> None:
    """Load sqlite-vec; one that does not load is the same as one that is missing."""
    try:
        _load(connection)
    except VectorsUnavailable as error:
        _log_once(error.message, str(error.__cause__ or ""))
        raise


@cache
def _log_once(message: str, cause: str) -> None:
    log("warning", "vectors cannot be used, words alone find", reason=message, cause=cause)


def _load(connection: apsw.Connection) -> None:
    """By its path: importing its package would import numpy."""
    from importlib.util import find_spec

    spec = find_spec("sqlite_vec")
    if spec is None or not spec.submodule_search_locations:
        raise VectorsUnavailable("the sqlite-vec package is missing", hint="pip install sqlite-vec")
    connection.enable_load_extension(True)
    try:
        connection.load_extension(os.path.join(spec.submodule_search_locations[0], "vec0"))
    except apsw.ExtensionLoadingError as error:
        raise VectorsUnavailable(
            "the sqlite-vec package does not load here",
            hint="pip install --force-reinstall sqlite-vec",
        ) from error
    finally:
        connection.enable_load_extension(False)


def has_vector_extension(connection: apsw.Connection) -> bool:
    """Whether tables of vectors can be used over this connection."""
    sql = "SELECT 1 FROM pragma_module_list WHERE name = 'vec0'"
    return bool(connection.execute(sql).get)


def remove_vector(connection: apsw.Connection, model: int, chunk: int) -> None:
    """Remove a chunk's vector, or note that it is to go."""
    if has_vector_extension(connection):
        connection.execute(f"DELETE FROM {vector_table(model)} WHERE chunk_id = ?", (chunk,))
        return
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {_LEFT}"
        " (model INTEGER, chunk INTEGER, PRIMARY KEY (model, chunk)) WITHOUT ROWID"
    )
    connection.execute(f"INSERT OR IGNORE INTO {_LEFT} VALUES (?, ?)", (model, chunk))


def has_left_vectors(connection: apsw.Connection) -> bool:
    sql = "SELECT 1 FROM sqlite_schema WHERE name = ?"
    return bool(connection.execute(sql, (_LEFT,)).get)


def remove_left_vectors(connection: apsw.Connection) -> None:
    """Remove what was noted, within a transaction."""
    if not has_left_vectors(connection):  # another was faster
        return
    for model, chunk in connection.execute(f"SELECT model, chunk FROM {_LEFT}").fetchall():
        with suppress(apsw.SQLError):  # a model that was dropped meanwhile
            connection.execute(
                f"DELETE FROM {vector_table(int(model))} WHERE chunk_id = ?",  # type: ignore[arg-type]
                (chunk,),
            )
    connection.execute(f"DROP TABLE {_LEFT}")
