"""The parts of a store in PostgreSQL put together, on whatever connections: those that see the base
as it is, or as it was."""

from typing import TYPE_CHECKING

from knowbase.store.postgres import cluster
from knowbase.store.postgres.calibration import PostgresCalibration
from knowbase.store.postgres.files import PostgresFiles
from knowbase.store.postgres.graph import PostgresGraph
from knowbase.store.postgres.leases import PostgresLeases
from knowbase.store.postgres.place import place_in
from knowbase.store.postgres.retrieval import PostgresRetrieval
from knowbase.store.postgres.saved import PostgresSavedSearches
from knowbase.store.postgres.sessions import PostgresSessions
from knowbase.store.postgres.space import PostgresSpace
from knowbase.store.postgres.vectors import PostgresVectors

if TYPE_CHECKING:
    from knowbase.store.keeping import Keeps
    from knowbase.store.postgres.copying import PostgresCopying
    from knowbase.values.cluster import ClusterState
    from knowbase.values.replicas import ReplicaState


class PostgresParts(
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
    """All but writing and what was; `PostgresStore` is the whole."""

    url: str
    keeps: "Keeps | None" = None

    def close(self) -> None:
        self._connections.close()

    def replicas(self) -> "list[ReplicaState]":
        return self._connections.replicas()

    def cluster(self) -> "ClusterState | None":
        if not self._connections.is_distributed:
            return None
        schema = place_in(self.url).schema
        return self._connections.run(lambda connection: cluster.state(connection, schema))

    def copying(self) -> "PostgresCopying":
        from knowbase.store.postgres.copying import PostgresCopying

        return PostgresCopying(self._connections, self._base, self)
