"""A team's store: PostgreSQL, with pgvector for the semantic leg."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.errors import BaseMissing, BaseUnreachable, InvalidInput
from knowbase.store.postgres import cluster, rows, upgrade
from knowbase.store.postgres.bulk import analyze
from knowbase.store.postgres.connection import (
    STATEMENT_TIMEOUT,
    Connections,
    Timeouts,
    find_model,
)
from knowbase.store.postgres.english import Indexes
from knowbase.store.postgres.links import Linking
from knowbase.store.postgres.parts import PostgresParts
from knowbase.store.postgres.place import Place, place_in
from knowbase.store.postgres.schema import STEPS
from knowbase.store.postgres.write import Writing
from knowbase.store.rules import check_codes
from knowbase.values.changes import Changes, with_erased
from knowbase.values.characters import storable
from knowbase.values.documents import Document
from knowbase.values.replicas import ReadFrom

if TYPE_CHECKING:
    from knowbase.store.postgres.as_of import PostgresAsOf
    from knowbase.store.postgres.history import PostgresHistory

BUSY_TIMEOUT = 5.0


def create(url: str) -> "PostgresStore":
    """Make a new base; an existing one is opened."""
    database, schema, name = place_in(url)
    if len(name) > 100 or not name.isprintable():
        raise InvalidInput(f"the base cannot be called {name[:40]!r}", field="base")
    connections = Connections(database, Timeouts(BUSY_TIMEOUT, schema=schema))
    try:
        connections.run(lambda connection: _upgrade(connection, schema))
        connections.run(lambda connection: _distribute(connection, schema))
        connections.run(
            lambda connection: connection.execute(
                "INSERT INTO bases (name) VALUES (%s) ON CONFLICT DO NOTHING", (name,)
            )
        )
    finally:
        connections.close()
    return PostgresStore(url)


class PostgresStore(PostgresParts):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(
        self,
        url: str,
        busy_timeout: float = BUSY_TIMEOUT,
        indexes: Indexes = Indexes(),  # noqa: B008 - a value, never changed
        statement_timeout: float = STATEMENT_TIMEOUT,
        read_from: ReadFrom = ReadFrom(),  # noqa: B008 - a value, never changed
    ) -> None:
        self.url = url
        place = place_in(url)
        timeouts = Timeouts(busy_timeout, statement_timeout, place.schema)
        self._connections = _connections(place.database, timeouts, read_from)
        self._indexes = indexes
        try:
            self._base, self._vectors_known, is_distributed = self._connections.run(
                lambda connection: _opened(connection, place)
            )
            if is_distributed and read_from.urls:
                raise InvalidInput("a base over a cluster has no replicas", field="base_read")
            self._connections.is_distributed = is_distributed
        except BaseException:
            self._connections.close()
            raise

    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:
        def write(connection: Connection) -> list[Document]:
            known = find_model(connection, self._base, changes.model)
            writing = Writing(connection, self._base, now, known, self.keeps)
            seqs = writing.apply(changes)
            if writing.outgrew_plans:
                analyze(connection)
            if writing.grew:
                self.index_large(connection)
            by_seq = {seq: one.document for seq, one in writing.new.items()}
            by_seq |= self._documents_of(connection, {*seqs} - by_seq.keys())
            written = [by_seq[seq] for seq in seqs]
            check_codes(changes.drafts, written)
            return written

        changes = with_erased(storable(changes))
        return self._connections.writing(write, wait=wait)

    def _documents_of(self, connection: Connection, seqs: Collection[int]) -> dict[int, Document]:
        if not seqs:
            return {}
        found = connection.execute(
            SQL(f"SELECT {rows.DOCUMENT} FROM documents d WHERE base_id = %s AND seq = ANY(%s)"),
            (self._base, list(seqs)),
        )
        return {row[1]: rows.document(row) for row in found}

    def distribute(self) -> None:
        """Over the workers of a cluster, where the server has become the coordinator of one."""
        if not self._connections.is_distributed:
            schema = place_in(self.url).schema
            self._connections.run(lambda connection: _distribute(connection, schema))

    def as_of(self, number: int) -> "PostgresAsOf":
        if self._connections.is_distributed:
            raise InvalidInput(
                "a base over a cluster cannot be asked as it was",
                field="as_of",
                hint="kb move copies it, with its history, to a base that can",
            )
        from knowbase.store.postgres.as_of import PostgresAsOf

        return PostgresAsOf(self, self, number)

    def history(self) -> "PostgresHistory":
        from knowbase.store.postgres.history import PostgresHistory

        return PostgresHistory(self._connections, self._base)


def schema_sql(url: str, dimensions: int, roles: upgrade.Roles) -> str:
    """What an administrator runs to make the schema, or to bring it up to date."""
    database, schema, _ = place_in(url)
    try:
        connections = Connections(database, Timeouts(BUSY_TIMEOUT, schema=schema))
    except BaseUnreachable as error:
        whole = upgrade.printed(schema, upgrade.Found(), dimensions, roles)
        return (
            f"-- {error}: this makes all of it, in a database that has nothing of it yet\n{whole}"
        )
    try:
        there = connections.run(lambda within: upgrade.found(within, schema))
    finally:
        connections.close()
    return upgrade.printed(schema, there, dimensions, roles)


def _connections(database: str, timeouts: Timeouts, read_from: ReadFrom) -> Connections:
    if not read_from.urls:
        return Connections(database, timeouts)
    from knowbase.store.postgres.replicas import Replicated

    return Replicated(database, timeouts, *read_from)


def _upgrade(connection: Connection, schema: str) -> None:
    if upgrade.is_current(connection, schema):
        return
    upgrade.upgrade(connection, schema, lambda within, base: Linking(within, base).relink())


def _distribute(connection: Connection, schema: str) -> None:
    if "citus" in upgrade.extensions(connection):
        cluster.distribute(connection, schema)


def _opened(connection: Connection, place: Place) -> tuple[int, tuple[int, ...], bool]:
    """The base's id, the version of pgvector (() when there is none), and whether it lies over a
    cluster."""
    missing = BaseMissing(
        f"there is no base {place.name!r} in this database",
        hint="make one with: kb init --base URL",
    )
    version = upgrade.version_of(connection, place.schema)
    if not version:
        raise missing
    if version < len(STEPS):
        _upgrade(connection, place.schema)
    row = connection.execute("SELECT id FROM bases WHERE name = %s", (place.name,)).fetchone()
    if row is None:
        raise missing
    extensions = upgrade.extensions(connection)
    is_distributed = "citus" in extensions and cluster.has_distributed(connection, place.schema)
    if is_distributed and version < len(STEPS):
        cluster.distribute(connection, place.schema)  # what the upgrade made
    return row[0], extensions.get("vector", ()), is_distributed
