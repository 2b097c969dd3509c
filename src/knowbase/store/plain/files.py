"""Sources and files in the plain store."""

from knowbase.store.plain.contents import Contents
from knowbase.values.files import FileRecord, Source


class PlainFiles(Contents):
    """See `knowbase.store.contract.FileStore` for what each method promises."""

    def sources(self) -> list[Source]:
        return sorted(self._state.sources.values())

    def files(self) -> dict[str, FileRecord]:
        return dict(self._state.files)

    def problems(self) -> list[FileRecord]:
        return sorted(r for r in self._state.files.values() if r.problem is not None)

    def has_lost_writes(self) -> bool:
        return False

    def clear_lost_writes(self) -> None:
        """There are none."""
