"""What has changed since an index beside the base was written: vectors, or words.

The base itself keeps it, in the same transaction as the change, by triggers: whoever writes, and
with whatever version. A checkpoint is a line of the log with a token that was drawn for it; an
index names the checkpoint that it was made at. A base that has this line has come from that state,
and what follows the line is all that has changed since. One that does not have it is another base,
or an older copy of this one. The log is there only while there is an index.
"""

from typing import Any, NamedTuple

import apsw

DUE = 20  # an index is brought in step when a 20th of its least size has changed


class ChangeLog(NamedTuple):
    """The log of one kind of index, and what it watches."""

    name: str
    watched: str  # table
    told: str  # its columns that an index is made from
    model: str  # where a row has it, behind new. or old.; or a number
    chunk: str

    def is_there(self, connection: apsw.Connection) -> bool:
        sql = "SELECT 1 FROM sqlite_schema WHERE name = ?"
        return bool(connection.execute(sql, (self.name,)).get)

    def check_in(self, connection: apsw.Connection, model: int) -> tuple[int, str]:
        """Within a transaction: a new checkpoint, its place in the log and its token. Changes of
        this model are logged from here on, those of others no longer."""
        if not self.is_there(connection):
            self._create(connection)
        connection.execute(f"DELETE FROM {self.name} WHERE model <> ?", (model,))
        connection.execute(
            f"INSERT INTO {self.name} (model, token) VALUES (?, lower(hex(randomblob(16))))",
            (model,),
        )
        place = connection.last_insert_rowid()
        sql = f"SELECT token FROM {self.name} WHERE seq = ?"
        token: Any = connection.execute(sql, (place,)).get
        return place, token

    def _create(self, connection: apsw.Connection) -> None:
        connection.execute(
            f"CREATE TABLE {self.name} (seq INTEGER PRIMARY KEY, model INTEGER NOT NULL,"
            f" chunk INTEGER, token TEXT);"
            f"CREATE INDEX {self.name}_checkpoints ON {self.name} (model) WHERE token IS NOT NULL"
        )
        for name, event, row in self._triggers():
            model = self.model if self.model.isdigit() else f"{row}.{self.model}"
            connection.execute(
                f"CREATE TRIGGER {name} AFTER {event} ON {self.watched} WHEN EXISTS (SELECT 1"
                f" FROM {self.name} WHERE model = {model} AND token IS NOT NULL) BEGIN"
                f" INSERT INTO {self.name} (model, chunk) VALUES ({model}, {row}.{self.chunk}); END"
            )

    def _triggers(self) -> tuple[tuple[str, str, str], ...]:
        return (
            (f"{self.name}_inserted", "INSERT", "new"),
            (f"{self.name}_updated", f"UPDATE OF {self.told}", "new"),
            (f"{self.name}_deleted", "DELETE", "old"),
        )

    def has_checkpoint(
        self, connection: apsw.Connection, model: int, place: int, token: str
    ) -> bool:
        """Whether the base has come from that state."""
        sql = f"SELECT 1 FROM {self.name} WHERE seq = ? AND model = ? AND token = ?"
        return self.is_there(connection) and bool(
            connection.execute(sql, (place, model, token)).get
        )

    def changed_since(
        self, connection: apsw.Connection, model: int, place: int, most: int
    ) -> list[int]:
        """The chunks of which something came, changed or went after a checkpoint; one more than
        `most` at most."""
        found: Any = connection.execute(
            f"SELECT DISTINCT chunk FROM {self.name} WHERE seq > ? AND model = ? AND chunk IS NOT"
            " NULL LIMIT ?",
            (place, model, most + 1),
        )
        return [chunk for (chunk,) in found]

    def is_short(self, connection: apsw.Connection, few: int) -> bool:
        """Whether there is a log, and no more in it than that."""
        if not self.is_there(connection):
            return False
        first, last = connection.execute(f"SELECT min(seq), max(seq) FROM {self.name}").get
        return first is not None and last - first <= few

    def trim(self, connection: apsw.Connection, place: int) -> None:
        """What lies before a checkpoint is in its index."""
        connection.execute(f"DELETE FROM {self.name} WHERE seq < ?", (place,))

    def forget(self, connection: apsw.Connection, model: int) -> None:
        """Within a transaction: no index of this model is good any more."""
        if self.is_there(connection):
            connection.execute(f"DELETE FROM {self.name} WHERE model = ?", (model,))

    def drop(self, connection: apsw.Connection) -> None:
        """Within a transaction: there is no index, and nothing to keep for it."""
        for name, _, _ in self._triggers():
            connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        connection.execute(f"DROP TABLE IF EXISTS {self.name}")


VECTORS = ChangeLog("vector_log", "embedded", "seal", "model", "chunk")
WORDS = ChangeLog("word_log", "chunks", "document, title, heading, text, terms", "0", "id")
