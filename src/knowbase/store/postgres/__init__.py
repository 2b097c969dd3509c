"""A team's store: PostgreSQL, with pgvector for the semantic leg."""

from typing import TYPE_CHECKING
from urllib.parse import unquote

from psycopg import Connection, errors
from psycopg.sql import SQL

from knowbase.errors import BaseMissing, InvalidInput
from knowbase.store.location import split_url
from knowbase.store.postgres import rows, schema
from knowbase.store.postgres.calibration import PostgresCalibration
from knowbase.store.postgres.connection import (
    STATEMENT_TIMEOUT,
    Connections,
    Timeouts,
    find_model,
)
from knowbase.store.postgres.files import PostgresFiles
from knowbase.store.postgres.graph import PostgresGraph
from knowbase.store.postgres.leases import PostgresLeases
from knowbase.store.postgres.links import Linking
from knowbase.store.postgres.retrieval import PostgresRetrieval
from knowbase.store.postgres.saved import PostgresSavedSearches
from knowbase.store.postgres.sessions import PostgresSessions
from knowbase.store.postgres.space import PostgresSpace
from knowbase.store.postgres.vectors import PostgresVectors
from knowbase.store.postgres.write import Writing
from knowbase.store.rules import check_codes
from knowbase.values.changes import Changes
from knowbase.values.characters import storable
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from knowbase.store.postgres.copying import PostgresCopying

DEFAULT_NAME = "default"
BUSY_TIMEOUT = 5.0


def split(url: str) -> tuple[str, str]:
    """The database, and the name of the base in it: postgresql://host/database#name."""
    database, name = split_url(url)
    return database, unquote(name) or DEFAULT_NAME


def create(url: str) -> "PostgresStore":
    """Make a new base; an existing one is opened."""
    database, name = split(url)
    if len(name) > 100 or not name.isprintable():
        raise InvalidInput(f"the base cannot be called {name[:40]!r}", field="base")
    connections = Connections(database, Timeouts(BUSY_TIMEOUT))
    try:
        connections.run(_upgrade)
        connections.run(
            lambda connection: connection.execute(
                "INSERT INTO bases (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,)
            )
        )
    finally:
        connections.close()
    return PostgresStore(url)


class PostgresStore(
    PostgresRetrieval,
    PostgresSessions,
    PostgresGraph,
    PostgresFiles,
    PostgresSavedSearches,
    PostgresCalibration,
    PostgresLeases,
    PostgresSpace,
    PostgresVectors,
):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(
        self,
        url: str,
        busy_timeout: float = BUSY_TIMEOUT,
        vector_index: str = "hnsw",
        statement_timeout: float = STATEMENT_TIMEOUT,
    ) -> None:
        self.url = url
        database, name = split(url)
        self._connections = Connections(database, Timeouts(busy_timeout, statement_timeout))
        self._vector_index = vector_index
        try:
            self._base, self._vectors_known = self._connections.run(
                lambda connection: _opened(connection, name)
            )
        except BaseException:
            self._connections.close()
            raise

    def close(self) -> None:
        self._connections.close()

    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:
        def write(connection: Connection) -> list[Document]:
            known = find_model(connection, self._base, changes.model)
            writing = Writing(connection, self._base, now, known)
            seqs = writing.apply(changes)
            if writing.doubled:
                connection.execute("ANALYZE documents, chunks, words, postings")
            if writing.grew:
                self.index_vectors(connection)
            found = connection.execute(
                SQL(
                    f"SELECT {rows.DOCUMENT} FROM documents d WHERE base_id = %s AND seq = ANY(%s)"
                ),
                (self._base, seqs),
            )
            by_seq = {row[1]: rows.document(row) for row in found}
            written = [by_seq[seq] for seq in seqs]
            check_codes(changes.drafts, written)
            return written

        changes = storable(changes)
        return self._connections.writing(write, wait=wait)

    def copying(self) -> "PostgresCopying":
        from knowbase.store.postgres.copying import PostgresCopying

        return PostgresCopying(self._connections, self._base, self)


def _upgrade(connection: Connection) -> None:
    if schema.is_current(connection):
        return
    schema.upgrade(connection, lambda within, base: Linking(within, base).relink())


def _opened(connection: Connection, name: str) -> tuple[int, tuple[int, ...]]:
    """The base's id, and the version of pgvector; () when there is none."""
    missing = BaseMissing(
        f"there is no base {name!r} in this database", hint="make one with: kb init --base URL"
    )
    try:
        version = schema.version_of(connection)
    except errors.UndefinedTable as error:
        raise missing from error
    if version < len(schema.STEPS):
        _upgrade(connection)
    row = connection.execute("SELECT id FROM bases WHERE name = %s", (name,)).fetchone()
    if row is None:
        raise missing
    return row[0], schema.pgvector(connection) or ()
