"""What came of adding or syncing, and how far it is."""

from typing import NamedTuple

from knowbase.ingest.pending import FileProblem


class Report(NamedTuple):
    """What came of adding or syncing."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    failed: tuple[FileProblem, ...] = ()
    skipped: tuple[FileProblem, ...] = ()  # those that were not before
    skipped_before: int = 0
    failed_before: int = 0  # how many of those that failed did so before, and did not change
    warnings: tuple[str, ...] = ()
    chunks_embedded: int = 0
    chunks_reused: int = 0
    chunks_waiting: int = 0  # stored without a vector: kb embed makes it
    versions: int = 0  # of files, as they were at the commits of a repository
    interrupted: bool = False

    @property
    def is_news(self) -> bool:
        """Whether there is anything to tell of a round of watching."""
        parts = (self.added, self.changed, self.removed, self.moved, self.skipped, self.warnings)
        return any(parts) or len(self.failed) > self.failed_before


class Taken(NamedTuple):
    """What came of taking in what comes from elsewhere."""

    added: tuple[str, ...] = ()  # titles
    changed: tuple[str, ...] = ()
    unchanged: int = 0
    failed: tuple[FileProblem, ...] = ()
    skipped: tuple[FileProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    chunks_embedded: int = 0
    chunks_reused: int = 0
    chunks_waiting: int = 0
    interrupted: bool = False


def joined(report: Report, other: Report | Taken) -> Report:
    """What came of two things that were done one after the other."""
    both = {
        name: getattr(report, name) + getattr(other, name)
        for name in Report._fields
        if hasattr(other, name) and name != "interrupted"
    }
    return report._replace(**both, interrupted=report.interrupted or other.interrupted)


class Progress(NamedTuple):
    """How far it is; `total` counts the files to be read, or whatever `unit` names."""

    done: int
    total: int
    embedded: int
    path: str
    unit: str = "files"
    work: float = 0.0  # tokens that are done …
    stored: float = 0.0  # … for good
    left: float = 0.0  # … and those that wait, or are expected of files that are still to be read
    pages: int = 0  # of pictures that were looked at …
    pages_left: float = 0.0  # … and that are expected

    @property
    def text(self) -> str:
        embedded = f" · {self.embedded} chunks embedded" if self.embedded else ""
        return f"{self.done}/{self.total} {self.unit}{embedded}"

    @property
    def now(self) -> str:
        """What is under way."""
        return " · " + self.path.rpartition("/")[2]
