"""What a base holds and whether all is well with it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.values.cluster import ClusterState
from knowbase.values.files import FileRecord
from knowbase.values.plain import as_dict
from knowbase.values.replicas import ReplicaState
from knowbase.values.vectors import IndexState, Model, StoredModel

if TYPE_CHECKING:
    from knowbase.ingest.telling import Suspect, Unread


class SourceState(NamedTuple):
    """A source, and how it is followed from this machine."""

    path: str
    tags: tuple[str, ...] = ()
    parent: str | None = None
    tree: bool = False
    synced_at: str | None = None  # when it was last compared with the disk, as far as is known
    is_watched: bool = False  # by kb watch or kb serve


class Status(NamedTuple):
    """What a base holds and whether all is well with it."""

    base: str
    size_bytes: int | None  # of its file; a database is shared with others
    documents: int
    chunks: int
    embedded: int
    tags: int
    types: Mapping[str, int]
    forgotten: int
    model: Model | None
    models: tuple[StoredModel, ...]
    sources: tuple[SourceState, ...]
    problems: tuple[FileRecord, ...]
    unread: "tuple[Unread, ...]"  # what was left out, by reason and extension
    suspects: "tuple[Suspect, ...]"  # what was read, and perhaps should not have been
    out_of_step: int  # documents split by other settings or an older version: kb sync mends
    copy_of: str | None = None  # while kb move has not finished with it
    newer_model: Model | None = None  # packaged with this knowbase; kb embed changes to it
    vector_index: IndexState | None = None  # of a large base in a file
    hidden: Mapping[str, int] = {}  # of the documents, by the state that hides them
    lost_writes: bool = False  # its journal was deleted: kb sync looks at every file again

    replicas: tuple[ReplicaState, ...] = ()  # of the server of a base in PostgreSQL
    cluster: ClusterState | None = None  # the servers that its chunks are distributed over

    def to_dict(self) -> dict[str, Any]:
        """As `kb status --json` has it."""
        return as_dict(self)
