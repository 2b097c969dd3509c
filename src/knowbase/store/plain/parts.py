"""The parts of the plain store put together, over the base as it is, or as it was."""

from knowbase.store.plain.calibration import PlainCalibration
from knowbase.store.plain.copying import PlainCopying
from knowbase.store.plain.files import PlainFiles
from knowbase.store.plain.graph import PlainGraph
from knowbase.store.plain.leases import PlainLeases
from knowbase.store.plain.retrieval import PlainRetrieval
from knowbase.store.plain.saved import PlainSavedSearches
from knowbase.store.plain.sessions import PlainSessions
from knowbase.store.plain.space import PlainSpace
from knowbase.store.plain.vectors import PlainVectors
from knowbase.values.replicas import ReplicaState


class PlainParts(
    PlainRetrieval,
    PlainSessions,
    PlainGraph,
    PlainFiles,
    PlainSavedSearches,
    PlainCalibration,
    PlainLeases,
    PlainSpace,
    PlainVectors,
):
    """All but writing and what was; `PlainStore` is the whole."""

    def close(self) -> None:
        """Nothing to close."""

    def replicas(self) -> list[ReplicaState]:
        return []

    def cluster(self) -> None:
        return None

    def copying(self) -> PlainCopying:
        return PlainCopying(self)
