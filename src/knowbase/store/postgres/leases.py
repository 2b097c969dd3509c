"""Work that one process does for all, in PostgreSQL: by the server's clock."""

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.connection import Connected


class PostgresLeases(Connected):
    """See `knowbase.store.contract.LeaseStore` for what each method promises."""

    def lease(self, work: str, holder: str, seconds: float) -> bool:
        held = self._read(
            SQL(
                "SELECT 1 FROM leases WHERE base_id = %s AND work = %s AND holder <> %s"
                " AND until >= clock_timestamp()"
            ),
            (self._base, work, holder),
        )
        if list(held):  # who only looks takes no lock
            return False

        def take(connection: Connection) -> bool:
            taken = connection.execute(
                "INSERT INTO leases (base_id, work, holder, until)"
                " VALUES (%s, %s, %s, clock_timestamp() + make_interval(secs => %s))"
                " ON CONFLICT (base_id, work) DO UPDATE"
                " SET holder = excluded.holder, until = excluded.until"
                " WHERE leases.holder = excluded.holder OR leases.until < clock_timestamp()",
                (self._base, work, holder, seconds),
            )
            return bool(taken.rowcount)

        return self._connections.writing(take)

    def end_lease(self, work: str, holder: str) -> None:
        self._connections.writing(
            lambda connection: connection.execute(
                "DELETE FROM leases WHERE base_id = %s AND work = %s AND holder = %s",
                (self._base, work, holder),
            )
        )
