"""The parts of a store in SQLite put together, on whatever connections: those that see the base as
it is, or as it was."""

from typing import TYPE_CHECKING

from knowbase.store.sqlite.calibration import SqliteCalibration
from knowbase.store.sqlite.documents import SqliteDocuments
from knowbase.store.sqlite.files import SqliteFiles
from knowbase.store.sqlite.graph import SqliteGraph
from knowbase.store.sqlite.leases import SqliteLeases
from knowbase.store.sqlite.retrieval import SqliteRetrieval
from knowbase.store.sqlite.saved import SqliteSavedSearches
from knowbase.store.sqlite.sessions import SqliteSessions
from knowbase.store.sqlite.space import SqliteSpace
from knowbase.store.sqlite.vectors import SqliteVectors

if TYPE_CHECKING:
    from knowbase.store.keeping import Keeps
    from knowbase.store.sqlite.copying import SqliteCopying
    from knowbase.values.replicas import ReplicaState


class SqliteParts(
    SqliteDocuments,
    SqliteRetrieval,
    SqliteSessions,
    SqliteGraph,
    SqliteFiles,
    SqliteSavedSearches,
    SqliteCalibration,
    SqliteLeases,
    SqliteSpace,
    SqliteVectors,
):
    """All but writing and what was; `SqliteStore` is the whole."""

    path: str
    keeps: "Keeps | None" = None

    def replicas(self) -> "list[ReplicaState]":
        return []

    def cluster(self) -> None:
        return None

    def copying(self) -> "SqliteCopying":
        from knowbase.store.sqlite.copying import SqliteCopying

        return SqliteCopying(self._connections)
