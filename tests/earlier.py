"""Bases as earlier versions left them, made of ones of today."""

from typing import Any

import apsw

from knowbase.store.sqlite import schema
from knowbase.store.sqlite.packing import CONTENT_HASH, HEADER, MILLION, TERMS, register

_SAID_TWICE = f"""
DROP TRIGGER documents_terms;
DROP TRIGGER chunks_updated;
DROP TRIGGER chunks_inserted;
DROP TRIGGER names_inserted;
DROP TRIGGER names_deleted;
UPDATE chunks AS c SET header = {HEADER}, terms = packed({TERMS});
UPDATE documents AS d SET content_hash = {CONTENT_HASH};
DROP INDEX documents_project;
DROP INDEX documents_content;
ALTER TABLE documents DROP COLUMN terms;
UPDATE changes SET touched = plain(touched);
UPDATE edges SET weight = weight / {MILLION};
"""


def schema_of(number: int) -> dict[str, str]:
    """The statements of an empty base after so many steps, by what they make."""
    old = apsw.Connection(":memory:")
    register(old)
    for step in schema.STEPS[:number]:
        old.execute(step) if isinstance(step, str) else step(old)
    made: Any = old.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    old.close()
    return dict(made)


def said_twice(path: str) -> None:
    """A base as the version before `schema.slim` has it."""
    number = schema.STEPS.index(schema.slim)
    sql = schema_of(number)
    connection = apsw.Connection(path)
    register(connection)
    connection.execute(f"BEGIN; {_SAID_TWICE}; PRAGMA legacy_alter_table = ON")
    for table in ("chunks", "embedded", "edges"):
        made: Any = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE tbl_name = ? AND type = 'trigger'", (table,)
        ).fetchall()
        connection.execute(f"ALTER TABLE {table} RENAME TO was; {sql[table]}")
        names = ", ".join(str(row[1]) for row in connection.execute(f"PRAGMA table_info({table})"))
        connection.execute(f"INSERT INTO {table} ({names}) SELECT {names} FROM was; DROP TABLE was")
        for name, trigger in made:
            connection.execute(sql.get(name, trigger))
    for name in ("chunks_inserted", "chunks_updated", "names_inserted", "names_deleted",
                 "chunks_hash", "edges_target", "embedded_chunk", "documents_created",
                 "documents_content"):  # fmt: skip
        connection.execute(sql[name])
    connection.execute(f"PRAGMA user_version = {number}; COMMIT")
    connection.close()
