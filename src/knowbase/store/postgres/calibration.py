"""What a base has learnt of its answers, in PostgreSQL."""

from collections.abc import Collection

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres.connection import Connected
from knowbase.values.calibration import Calibration


class PostgresCalibration(Connected):
    """See `knowbase.store.contract.CalibrationStore` for what each method promises."""

    def calibration(self) -> Calibration | None:
        return self._connections.run(lambda connection: read(connection, self._base))

    def put_calibration(self, calibration: Calibration) -> None:
        self._connections.writing(lambda connection: write(connection, self._base, calibration))

    def hashes(self, chunks: Collection[int]) -> dict[int, str]:
        found = self._read(
            SQL("SELECT id, hash FROM chunks WHERE base_id = %s AND id = ANY(%s)"),
            (self._base, list(chunks)),
        )
        return dict(found)


def read(connection: Connection, base: int) -> Calibration | None:
    rows = connection.execute(
        "SELECT name, number, made_at FROM calibration WHERE base_id = %s ORDER BY name", (base,)
    ).fetchall()
    numbers = {name: float(number) for name, number, _ in rows}
    return Calibration(rows[0][2], numbers) if rows else None


def write(connection: Connection, base: int, calibration: Calibration | None) -> None:
    """In place of what there is."""
    connection.execute("DELETE FROM calibration WHERE base_id = %s", (base,))
    if calibration is not None:
        connection.cursor().executemany(
            "INSERT INTO calibration (base_id, name, number, made_at) VALUES (%s, %s, %s, %s)",
            [(base, name, one, calibration.made_at) for name, one in calibration.numbers.items()],
        )
