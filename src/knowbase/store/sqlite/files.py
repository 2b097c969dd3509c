"""Reading sources and files; a search loads nothing of them."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from knowbase.store.sqlite import rows
from knowbase.store.sqlite.connection import Connected, translated

if TYPE_CHECKING:
    from knowbase.values.files import FileRecord, Source


class SqliteFiles(Connected):
    """See `knowbase.store.contract.FileStore` for what each method promises."""

    def sources(self) -> "list[Source]":
        from knowbase.store.rows import from_json
        from knowbase.values.files import Source

        found = self._read("SELECT path, tags, parent, tree FROM sources ORDER BY path")
        return [
            Source(path, tuple(from_json(tags, list)), parent, bool(tree))
            for path, tags, parent, tree in found
        ]

    def files(self, within: Collection[str] | None = None) -> "dict[str, FileRecord]":
        query = f"SELECT {rows.file_columns()} FROM files"
        if within is None:
            found = self._read(query)
        else:
            at, below = "SELECT value FROM json_each(?1)", "SELECT f.path FROM json_each(?1) w"
            found = self._read(
                f"{query} WHERE path IN ({at} UNION {below} CROSS JOIN files f"
                "  ON f.path >= w.value || '/' AND f.path < w.value || '0'"
                f" UNION {below} CROSS JOIN files f"
                "  ON f.path >= w.value || '\\' AND f.path < w.value || ']')",
                (rows.to_json(list(within)),),
            )
        return {record.path: record for record in rows.file_records(found)}

    def has_lost_writes(self) -> bool:
        with translated():
            return self._connections.journal.is_lost(self._connections.get())

    def clear_lost_writes(self) -> None:
        with translated(), self._connections.writing() as connection:
            self._connections.journal.restored(connection)

    def problems(self) -> "list[FileRecord]":
        found = self._read(
            f"SELECT {rows.file_columns()} FROM files WHERE problem IS NOT NULL ORDER BY path"
        )
        return rows.file_records(found)
