"""Sources and files in the plain store."""

from collections.abc import Collection

from knowbase.store.plain.contents import Contents
from knowbase.values.files import FileRecord, Look, Settled, Source


class PlainFiles(Contents):
    """See `knowbase.store.contract.FileStore` for what each method promises."""

    def sources(self) -> list[Source]:
        return sorted(self._state.sources.values())

    def files(self, within: Collection[str] | None = None) -> dict[str, FileRecord]:
        return {
            path: record
            for path, record in self._state.files.items()
            if within is None
            or any(path == one or path.startswith((f"{one}/", f"{one}\\")) for one in within)
        }

    def looks(self, source: str, settled: Settled) -> dict[str, Look]:
        return {
            path: (path, record.size, record.mtime_ns, record.inode or 0, record.ctime_ns or 0)
            for path, record in self._state.files.items()
            if record.source == source and _is_settled(record, settled)
        }

    def unsettled(self, sources: Collection[str], settled: Settled) -> dict[str, FileRecord]:
        return {
            path: record
            for path, record in self._state.files.items()
            if record.source not in sources or not _is_settled(record, settled)
        }

    def problems(self) -> list[FileRecord]:
        return sorted(r for r in self._state.files.values() if r.problem is not None)

    def has_lost_writes(self) -> bool:
        return False

    def clear_lost_writes(self) -> None:
        """There are none."""


def _is_settled(record: FileRecord, settled: Settled) -> bool:
    said = record.problem is not None or record.skipped is not None or record.excluded
    is_read = record.document is not None and record.document not in settled.besides
    is_looked_at = bool(record.sha256 and record.inode and record.ctime_ns)
    return is_read and is_looked_at and not said and record.size <= settled.largest
