"""Sources and files in the plain store."""

from collections.abc import Collection

from knowbase.store.plain.contents import Contents
from knowbase.values.files import FileRecord, Source


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

    def problems(self) -> list[FileRecord]:
        return sorted(r for r in self._state.files.values() if r.problem is not None)

    def has_lost_writes(self) -> bool:
        return False

    def clear_lost_writes(self) -> None:
        """There are none."""
