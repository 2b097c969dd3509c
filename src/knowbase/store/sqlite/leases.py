"""Work that one process does for all, in SQLite."""

import time

from knowbase.store.sqlite.connection import Connected, translated


class SqliteLeases(Connected):
    """See `knowbase.store.contract.LeaseStore` for what each method promises."""

    def lease(self, work: str, holder: str, seconds: float) -> bool:
        now = time.time()
        held = self._read(
            "SELECT 1 FROM leases WHERE work = ? AND holder <> ? AND until BETWEEN ? AND ?",
            (work, holder, now, now + seconds),
        )
        if list(held):  # who only looks takes no lock
            return False
        with translated(), self._connections.writing() as connection:
            connection.execute(
                "INSERT INTO leases VALUES (?1, ?2, ?3 + ?4) ON CONFLICT (work) DO UPDATE"
                " SET holder = excluded.holder, until = excluded.until"
                " WHERE holder = ?2 OR until NOT BETWEEN ?3 AND ?3 + ?4",
                (work, holder, now, seconds),
            )
            return bool(connection.changes())

    def end_lease(self, work: str, holder: str) -> None:
        with translated(), self._connections.writing() as connection:
            connection.execute("DELETE FROM leases WHERE work = ? AND holder = ?", (work, holder))
