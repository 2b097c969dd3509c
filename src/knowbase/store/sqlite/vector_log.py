"""Which vectors have changed since an index of them was written.

The base itself keeps it, in the same transaction as the change, by triggers: whoever writes, and
with whatever version. A checkpoint is a line of the log with a token that was drawn for it; an
index names the checkpoint that it was made at. A base that has this line has come from that state,
and what follows the line is all that has changed since. One that does not have it is another base,
or an older copy of this one. The log is there only while there is an index.
"""

from typing import Any

import apsw

DUE = 20  # an index is brought in step when a 20th of its least size has changed

_LOG = "vector_log"
_TRIGGERS = (("inserted", "INSERT", "new"), ("updated", "UPDATE OF seal", "new"),
             ("deleted", "DELETE", "old"))  # fmt: skip


def is_there(connection: apsw.Connection) -> bool:
    sql = "SELECT 1 FROM sqlite_schema WHERE name = ?"
    return bool(connection.execute(sql, (_LOG,)).get)


def check_in(connection: apsw.Connection, model: int) -> tuple[int, str]:
    """Within a transaction: a new checkpoint, its place in the log and its token. Changes of
    this model's vectors are logged from here on, those of others no longer."""
    if not is_there(connection):
        connection.execute(
            f"CREATE TABLE {_LOG} (seq INTEGER PRIMARY KEY, model INTEGER NOT NULL,"
            f" chunk INTEGER, token TEXT);"
            f"CREATE INDEX {_LOG}_checkpoints ON {_LOG} (model) WHERE token IS NOT NULL"
        )
        for name, event, row in _TRIGGERS:
            connection.execute(
                f"CREATE TRIGGER {_LOG}_{name} AFTER {event} ON embedded WHEN EXISTS (SELECT 1"
                f" FROM {_LOG} WHERE model = {row}.model AND token IS NOT NULL) BEGIN"
                f" INSERT INTO {_LOG} (model, chunk) VALUES ({row}.model, {row}.chunk); END"
            )
    connection.execute(f"DELETE FROM {_LOG} WHERE model <> ?", (model,))
    connection.execute(
        f"INSERT INTO {_LOG} (model, token) VALUES (?, lower(hex(randomblob(16))))", (model,)
    )
    place = connection.last_insert_rowid()
    token: Any = connection.execute(f"SELECT token FROM {_LOG} WHERE seq = ?", (place,)).get
    return place, token


def has_checkpoint(connection: apsw.Connection, model: int, place: int, token: str) -> bool:
    """Whether the base has come from that state."""
    sql = f"SELECT 1 FROM {_LOG} WHERE seq = ? AND model = ? AND token = ?"
    return is_there(connection) and bool(connection.execute(sql, (place, model, token)).get)


def changed_since(connection: apsw.Connection, model: int, place: int, most: int) -> list[int]:
    """The chunks whose vectors came, changed or went after a checkpoint; one more than `most` at
    most."""
    found: Any = connection.execute(
        f"SELECT DISTINCT chunk FROM {_LOG} WHERE seq > ? AND model = ? AND chunk IS NOT NULL"
        " LIMIT ?",
        (place, model, most + 1),
    )
    return [chunk for (chunk,) in found]


def is_short(connection: apsw.Connection, few: int) -> bool:
    """Whether there is a log, and no more in it than that."""
    if not is_there(connection):
        return False
    first, last = connection.execute(f"SELECT min(seq), max(seq) FROM {_LOG}").get
    return first is not None and last - first <= few


def trim(connection: apsw.Connection, place: int) -> None:
    """What lies before a checkpoint is in its index."""
    connection.execute(f"DELETE FROM {_LOG} WHERE seq < ?", (place,))


def forget(connection: apsw.Connection, model: int) -> None:
    """Within a transaction: no index of this model is good any more."""
    if is_there(connection):
        connection.execute(f"DELETE FROM {_LOG} WHERE model = ?", (model,))


def drop(connection: apsw.Connection) -> None:
    """Within a transaction: there is no index, and nothing to keep for it."""
    for name, _, _ in _TRIGGERS:
        connection.execute(f"DROP TRIGGER IF EXISTS {_LOG}_{name}")
    connection.execute(f"DROP TABLE IF EXISTS {_LOG}")
