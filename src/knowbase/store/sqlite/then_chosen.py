"""What was replaced since a moment, chosen among what is in memory of all moments."""

from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import numpy as np

from knowbase.store.sqlite.then_rows import PastRows
from knowbase.store.sqlite.then_versions import PastVersions, Standing

if TYPE_CHECKING:
    from knowbase.store.sqlite.scan import Integers


class Chosen(NamedTuple):
    """The documents and chunks that were replaced since, and what they were."""

    standing: Standing
    rows: PastRows
    places: "Integers"  # of the rows that hold, by chunk
    stale: "Integers"  # chunks that are not what they were, rising


class Past:
    """What is known of all versions, as long as nobody writes."""

    def __init__(self) -> None:
        self._state: object = None
        self._rows: PastRows | None = None
        self._versions: PastVersions | None = None

    def at(
        self, connection: apsw.Connection, state: object, number: int, reached: tuple[int, int]
    ) -> Chosen:
        """What was replaced after a change, when numbers of documents and chunks had reached so
        far."""
        rows, versions = self._rows, self._versions
        if rows is None or versions is None or state != self._state or number < rows.since:
            rows = self._rows = PastRows.after(connection, number, rows)
            versions = self._versions = PastVersions(connection, rows.since)
            self._state = state
        standing = versions.at(connection, number)
        next_seq, next_chunk = reached
        places = rows.at(number, next_chunk, standing.is_there_by_number())
        lost = standing.gone[~standing.is_there & (standing.gone < next_seq)]
        stale = rows.chunks[places]
        if len(lost):
            stale = np.union1d(stale, _chunks_of(connection, lost, next_chunk))
        return Chosen(standing, rows, places, stale)


def _chunks_of(connection: apsw.Connection, documents: "Integers", next_chunk: int) -> "Integers":
    """Their chunks of today that have a number of then."""
    listed: Any = connection.execute(
        "SELECT group_concat(c.id) FROM carray(?) d CROSS JOIN main.chunks c"
        " ON c.document = d.value WHERE c.id < ?",
        (apsw.carray(documents), next_chunk),
    ).get
    return np.fromstring(listed or "", "i8", sep=",")


def fill_views(connection: apsw.Connection, chosen: Chosen) -> None:
    """The same as `then.fill_views`: several numbers of a row as one, which SQLite takes apart."""
    gone, until, is_there, flags = chosen.standing
    _insert(connection, "was_gone", gone << 32 | until, "value >> 32, value & 0xffffffff")
    there = (gone << 34 | until << 2 | flags)[is_there]
    _insert(connection, "was_there", there, "value >> 34, value >> 2 & 0xffffffff, value & 3")
    rows, places = chosen.rows, chosen.places
    said = np.zeros(len(chosen.stale), "i8")
    said[np.searchsorted(chosen.stale, rows.chunks[places])] = rows.rows[places]
    stale = chosen.stale << 32 | said
    _insert(connection, "was_stale", stale, "value >> 32, nullif(value & 0xffffffff, 0)")


def _insert(connection: apsw.Connection, table: str, numbers: "Integers", values: str) -> None:
    if len(numbers):
        given = (apsw.carray(numbers),)
        connection.execute(f"INSERT INTO temp.{table} SELECT {values} FROM carray(?)", given)
