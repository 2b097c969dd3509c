"""Reading sources and files."""

from collections.abc import Collection, Iterable
from typing import Any

from psycopg.sql import SQL

from knowbase.store.postgres import rows
from knowbase.store.postgres.connection import Connected
from knowbase.store.rows import LOOK, SETTLED
from knowbase.values.files import FileRecord, Look, Settled, Source

_SETTLED = f"{SETTLED} AND size <= %s AND document <> ALL(%s)"


class PostgresFiles(Connected):
    """See `knowbase.store.contract.FileStore` for what each method promises."""

    def sources(self) -> list[Source]:
        found = self._read(
            SQL("SELECT path, tags, parent, tree FROM sources WHERE base_id = %s ORDER BY path"),
            (self._base,),
        )
        return [Source(path, tuple(tags), parent, tree) for path, tags, parent, tree in found]

    def files(self, within: Collection[str] | None = None) -> dict[str, FileRecord]:
        if within is None:
            return {record.path: record for record in self._files("true")}
        below = (
            "path = ANY(%s) OR EXISTS (SELECT 1 FROM unnest(%s::text[]) AS w"
            " WHERE starts_with(path, w || '/') OR starts_with(path, w || '\\'))"
        )
        found = self._files(below, list(within), list(within))
        return {record.path: record for record in found}

    def looks(self, source: str, settled: Settled) -> dict[str, Look]:
        found: Iterable[Any] = self._read(
            SQL(f"SELECT {LOOK} FROM files WHERE base_id = %s AND source = %s AND {_SETTLED}"),
            (self._base, source, settled.largest, list(settled.besides)),
        )
        return {look[0]: look for look in found}

    def unsettled(self, sources: Collection[str], settled: Settled) -> dict[str, FileRecord]:
        found = self._files(
            f"NOT (source = ANY(%s) AND {_SETTLED})",
            list(sources), settled.largest, list(settled.besides),
        )  # fmt: skip
        return {record.path: record for record in found}

    def problems(self) -> list[FileRecord]:
        return self._files("problem IS NOT NULL")

    def has_lost_writes(self) -> bool:
        return False  # the server has its own journal, and its own check

    def clear_lost_writes(self) -> None:
        """There are none."""

    def _files(self, test: str, *values: list[str] | int) -> list[FileRecord]:
        query = SQL(
            f"SELECT {rows.file_columns()} FROM files WHERE base_id = %s AND ({test}) ORDER BY path"
        )
        return rows.file_records(self._read(query, (self._base, *values)))
