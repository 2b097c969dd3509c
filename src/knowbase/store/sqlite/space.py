"""What a base takes on the disk, by table, and as little of it as can be."""

from collections import Counter
from collections.abc import Mapping

import apsw

from knowbase.store.sqlite.connection import Connected, translated

KINDS = {
    "past_": "history",
    "versions": "history",
    "changes": "history",
    "chunks_vec_": "vectors",
    "embedded": "vectors",
    "chunks_fts": "words",
    "chunks": "texts",
    "names": "names and mentions",
    "stale_names": "names and mentions",
    "mentions": "names and mentions",
    "edges": "links",
    "links": "links",
    "relations": "links",
    "documents": "documents",
    "tags": "documents",
    "files": "files",
}
"""What a table holds, by how its name begins."""
OTHERS, FREE = "other", "free"


class SqliteSpace(Connected):
    """See `knowbase.store.contract.SpaceStore` for what each method promises."""

    def space(self) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        with translated():
            connection = self._connections.get()
            try:
                rows = connection.execute(
                    "SELECT coalesce(s.tbl_name, d.name), sum(d.pgsize) FROM dbstat('main', 1) d"
                    " LEFT JOIN sqlite_schema s ON s.name = d.name GROUP BY 1"
                ).fetchall()
            except apsw.SQLError:  # built without that table
                return {}
            for table, size in rows:
                found[_kind(str(table))] += int(size)  # type: ignore[arg-type]
            found[FREE] = connection.pragma("freelist_count") * connection.pragma("page_size")
        return dict(found.most_common())

    def compact(self) -> bool:
        """The words as one piece first, which has none of what is gone; then all."""
        with translated():
            connection = self._connections.get()
            with self._connections.writing() as writing:
                for words in ("chunks_fts", "past_fts"):
                    writing.execute(f"INSERT INTO {words} ({words}) VALUES ('optimize')")
            try:
                connection.execute("VACUUM")
                checkpoint = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except (apsw.BusyError, apsw.LockedError, apsw.FullError):
                return False
        return checkpoint is not None and not checkpoint[0]  # whether somebody still reads


def _kind(table: str) -> str:
    return next((kind for start, kind in KINDS.items() if table.startswith(start)), OTHERS)
