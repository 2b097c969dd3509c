"""Reading sources and files; a search loads nothing of them."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from knowbase.store.rows import LOOK, SETTLED, damaged
from knowbase.store.sqlite import rows
from knowbase.store.sqlite.connection import Connected, translated

if TYPE_CHECKING:
    from knowbase.values.files import FileRecord, Look, Settled, Source

_SETTLED = f"{SETTLED} AND size <= ?2 AND document NOT IN (SELECT value FROM json_each(?3))"


def _values(settled: "Settled") -> tuple[int, str]:
    return settled.largest, rows.to_json(list(settled.besides))


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

    def looks(self, source: str, settled: "Settled") -> "dict[str, Look]":
        found: Iterable[Any] = self._read(
            f"SELECT {LOOK} FROM files WHERE source = ?1 AND {_SETTLED}",
            (source, *_values(settled)),
        )
        looks = {look[0]: look for look in found}
        try:
            "".join(looks)  # what damage made of other values is not what the disk shows
        except TypeError as error:
            raise damaged("a stored value is of another kind") from error
        return looks

    def unsettled(self, sources: Collection[str], settled: "Settled") -> "dict[str, FileRecord]":
        of_these = "source IN (SELECT value FROM json_each(?1))"
        found = self._read(
            f"SELECT {rows.file_columns()} FROM files WHERE NOT ({of_these} AND {_SETTLED})",
            (rows.to_json(list(sources)), *_values(settled)),
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
