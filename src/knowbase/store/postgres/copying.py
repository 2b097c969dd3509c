"""A base in PostgreSQL as a whole: read in parts, and written in parts as they are."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.contract import CopySource
from knowbase.store.postgres import keeping, past, reading
from knowbase.store.postgres.bulk import analyze
from knowbase.store.postgres.connection import Connected, Connections
from knowbase.store.postgres.links import Linking
from knowbase.store.postgres.pasting import Pasting
from knowbase.store.postgres.reading import PostgresSnapshot, Reading
from knowbase.store.postgres.sealing import seal_missing
from knowbase.store.postgres.vectors import PostgresVectors
from knowbase.store.postgres.write import Writing
from knowbase.values.changes import Changes
from knowbase.values.copies import Copy, Frame, SharedParts, batches
from knowbase.values.history import HistoryPart


class PostgresCopying(Connected):
    """See `knowbase.store.contract.Copying` for what each method promises."""

    def __init__(self, connections: Connections, base: int, store: PostgresVectors) -> None:
        self._connections = connections
        self._base = base
        self._store = store

    def identity(self) -> str:
        """Server, database, schema and base: a URL can name them in many ways."""
        server = self._read(
            SQL(
                "SELECT pg_postmaster_start_time()::text, oid::text, current_schema()"
                " FROM pg_database"
                " WHERE datname = current_database()"
            )
        )[0]
        return " ".join((*server, str(self._base)))

    def source(self) -> str | None:
        found = self._read(SQL("SELECT source FROM moving WHERE base_id = %s"), (self._base,))
        return found[0][0] if found else None

    def seqs(self) -> list[int]:
        return self._connections.run(lambda connection: reading.seqs(connection, self._base))

    def frame(self) -> Frame:
        return self._connections.consistently(self._frame)

    def _frame(self, connection: Connection) -> Frame:
        row = connection.execute(
            "SELECT next_seq, next_chunk FROM bases WHERE id = %s", (self._base,)
        ).fetchone()
        models = self._store.models_by_arrival(connection)
        return Frame(tuple(models), *(row or (1, 1)))

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        return self._connections.consistently(
            lambda connection: Reading(connection, self._base, list(seqs)).copies(), long=True
        )

    def shared(self) -> SharedParts:
        return self._connections.consistently(
            lambda connection: reading.shared(connection, self._base), long=True
        )

    def history(self) -> Iterator[HistoryPart]:
        """All of it at once: a transaction ends before what it gives is looked at."""
        found = self._connections.consistently(
            lambda connection: list(past.parts(connection, self._base)), long=True
        )
        return iter(found)

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSnapshot]:
        """On a connection of its own, for as long as it takes: this one has no time-outs."""
        with self._connections.beside() as connection:
            connection.execute("SELECT 1 FROM graph LIMIT 1")
            yield PostgresSnapshot(connection, self._base, self._frame)

    def seal(self) -> int:
        return seal_missing(self._connections, self._base)

    # writing

    def start(self, source: str, frame: Frame) -> None:
        def begin(connection: Connection) -> None:
            self._begin(connection, frame)
            connection.execute(
                "INSERT INTO moving (base_id, source) VALUES (%s, %s)"
                " ON CONFLICT (base_id) DO UPDATE SET source = excluded.source",
                (self._base, source),
            )

        self._connections.writing(begin)

    def paste(self, copies: Sequence[Copy]) -> None:
        def write(connection: Connection) -> None:
            pasting = Pasting(connection, self._base)
            pasting.paste(copies)
            if pasting.outgrew_plans:
                analyze(connection)

        self._connections.writing(write)

    def paste_shared(self, shared: SharedParts) -> None:
        def write(connection: Connection) -> None:
            Pasting(connection, self._base).paste_shared(shared)
            self._store.index_large(connection)

        self._connections.writing(write)

    def paste_history(self, parts: Iterable[HistoryPart]) -> None:
        self._connections.writing(lambda connection: keeping.replace(connection, self._base, parts))

    def replace(self, source: CopySource, before: Callable[[], None]) -> None:
        def write(connection: Connection) -> None:
            connection.execute("SELECT 1 FROM bases WHERE id = %s FOR UPDATE", (self._base,))
            before()
            found = connection.execute(
                "SELECT id FROM documents WHERE base_id = %s", (self._base,)
            ).fetchall()
            gone = Changes(removed=tuple(identity for (identity,) in found))
            removing = Writing(connection, self._base, "", None)
            removing.keeping = None  # what was goes, too
            removing.apply(gone)
            Linking(connection, self._base).clear()
            self._begin(connection, source.frame())
            for batch in batches(source.seqs()):
                Pasting(connection, self._base).paste(source.copies(batch))
            Pasting(connection, self._base).paste_shared(source.shared())
            keeping.replace(connection, self._base, source.history())
            self._store.index_large(connection)

        self._connections.writing(write)

    def _begin(self, connection: Connection, frame: Frame) -> None:
        """The models and counters of another base."""
        self._store.take_models(connection, frame.models)
        connection.execute(
            "UPDATE bases SET next_seq = %s, next_chunk = %s WHERE id = %s",
            (frame.next_seq, frame.next_chunk, self._base),
        )

    def end(self) -> None:
        statement = "DELETE FROM moving WHERE base_id = %s"
        self._connections.writing(
            lambda connection: connection.execute(statement, (self._base,)) and None
        )
