"""Reading sources and files."""

from knowbase.store.sqlite import rows
from knowbase.store.sqlite.connection import Connected
from knowbase.values.files import FileRecord, Source


class SqliteFiles(Connected):
    """See `knowbase.store.contract.FileStore` for what each method promises."""

    def sources(self) -> list[Source]:
        import json

        found = self._read("SELECT path, tags, parent, tree FROM sources ORDER BY path")
        return [
            Source(path, tuple(json.loads(tags)), parent, bool(tree))
            for path, tags, parent, tree in found
        ]

    def files(self) -> dict[str, FileRecord]:
        found = self._read(f"SELECT {rows.FILE} FROM files")
        return {row[0]: rows.file_record(row) for row in found}

    def problems(self) -> list[FileRecord]:
        found = self._read(f"SELECT {rows.FILE} FROM files WHERE problem IS NOT NULL ORDER BY path")
        return [rows.file_record(row) for row in found]
