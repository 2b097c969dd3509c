"""What a sync did with each file, for its report."""

from collections.abc import Sequence

from knowbase.ingest.batch import Batch
from knowbase.ingest.pending import FileProblem, Pending
from knowbase.ingest.report import Report
from knowbase.ingest.telling import Pictures, grouped


class Tally:
    """Paths by what became of them; what earlier syncs could not read counts beside."""

    def __init__(self, work: Sequence[Pending]) -> None:
        self.unchanged = sum(each.unchanged for each in work)
        self.failed_before = [problem for each in work for problem in each.failed]
        self.failed = [problem for each in work for problem in each.closed]
        self.skipped = [problem for each in work for problem in each.skipped]
        self._skipped_before = sum(each.skipped_before for each in work)
        self.told: list[tuple[str, str]] = []  # paths, and what is to be said of them
        self.added: list[str] = []
        self.changed: list[str] = []
        self.moved: list[str] = []
        self.removed: list[str] = []
        self.interrupted = False  # by Ctrl-C

    def fail(self, path: str, reason: str, *, again: bool) -> None:
        """One that failed before for this reason was only tried again."""
        listed = self.failed_before if again else self.failed
        listed.append(FileProblem(path, reason))

    def skip(self, path: str, reason: str) -> None:
        self.skipped.append(FileProblem(path, reason))

    def report(self, batch: Batch, pictures: Pictures) -> Report:
        return Report(
            added=tuple(self.added),
            changed=tuple(self.changed),
            moved=tuple(self.moved),
            removed=tuple(self.removed),
            unchanged=self.unchanged,
            failed=(*self.failed_before, *self.failed),
            skipped=tuple(self.skipped),
            skipped_before=self._skipped_before,
            failed_before=len(self.failed_before),
            warnings=(*grouped(self.told), *pictures.told(), *batch.warnings),
            chunks_embedded=batch.embedded,
            chunks_reused=batch.reused,
            chunks_waiting=batch.waiting,
            interrupted=self.interrupted,
        )
