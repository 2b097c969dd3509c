"""What came of importing."""

from typing import NamedTuple

from knowbase.ingest.pending import FileProblem
from knowbase.ingest.report import Taken
from knowbase.upkeep.digests import Part


class Imported(NamedTuple):
    """What came in, or would."""

    source: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    kept: int = 0  # documents that were changed here later than there
    failed: tuple[FileProblem, ...] = ()
    skipped: tuple[FileProblem, ...] = ()
    chunks_embedded: int = 0
    chunks_reused: int = 0
    chunks_waiting: int = 0
    parts: tuple[Part, ...] = ()  # of an export: what there is of each kind
    verified: bool = False  # every part was read again from the copy and is the same
    dry_run: bool = False
    interrupted: bool = False
    notices: tuple[str, ...] = ()


def of_taken(source: str, taken: Taken, *, dry_run: bool) -> Imported:
    return Imported(
        source, len(taken.added), len(taken.changed), taken.unchanged, 0, taken.failed,
        taken.skipped, taken.chunks_embedded, taken.chunks_reused, taken.chunks_waiting,
        dry_run=dry_run, interrupted=taken.interrupted, notices=taken.warnings,
    )  # fmt: skip
