"""What a base has learnt of its answers, in SQLite."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from knowbase.store.sqlite.connection import Connected, translated
from knowbase.store.sqlite.packing import HASH
from knowbase.values.calibration import Calibration

if TYPE_CHECKING:
    import apsw


class SqliteCalibration(Connected):
    """See `knowbase.store.contract.CalibrationStore` for what each method promises."""

    def calibration(self) -> Calibration | None:
        with translated():
            return read(self._connections.get())

    def put_calibration(self, calibration: Calibration) -> None:
        with translated(), self._connections.writing() as connection:
            write(connection, calibration)

    def hashes(self, chunks: Collection[int]) -> dict[int, str]:
        found = self._read(
            f"SELECT c.id, {HASH} FROM json_each(?) wanted CROSS JOIN chunks c"
            " ON c.id = wanted.value",
            ("[" + ",".join(map(str, chunks)) + "]",),
        )
        return dict(found)


def read(connection: "apsw.Connection") -> Calibration | None:
    rows: Any = connection.execute(
        "SELECT name, number, made_at FROM calibration ORDER BY name"
    ).fetchall()
    numbers = {name: float(number) for name, number, _ in rows}
    return Calibration(rows[0][2], numbers) if rows else None


def write(connection: "apsw.Connection", calibration: Calibration | None) -> None:
    """In place of what there is."""
    connection.execute("DELETE FROM calibration")
    if calibration is not None:
        connection.executemany(
            "INSERT INTO calibration VALUES (?, ?, ?)",
            [(name, one, calibration.made_at) for name, one in calibration.numbers.items()],
        )
