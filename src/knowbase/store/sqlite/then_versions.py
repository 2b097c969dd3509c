"""Which documents were replaced in a base, and when: a few numbers of each version, read once for
all moments that are asked of. What is there of a moment is then a choice among them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import apsw
import numpy as np

from knowbase.store.sqlite.then import FLAGS

if TYPE_CHECKING:
    from knowbase.store.sqlite.scan import Flags, Integers

_COLUMNS = ("document", "until", "since", "data IS NOT NULL")
_UNKNOWN = -1


class Standing(NamedTuple):
    """The documents that were replaced after a moment, rising, and the version of each that was
    the first to end: by whether it is kept and of then."""

    gone: "Integers"
    until: "Integers"
    is_there: "Flags"
    flags: "Integers"

    def is_there_by_number(self) -> "Flags":
        """Whether a version of each document is, by its number; the last one for all behind it."""
        found = np.zeros(int(self.gone.max(initial=0)) + 2, bool)
        found[self.gone] = self.is_there
        return found


class PastVersions:
    """The rows of `versions` that ended after a change, by document and end."""

    def __init__(self, connection: apsw.Connection, since: int) -> None:
        listed = ", ".join(f"group_concat({one})" for one in _COLUMNS)
        found: Any = connection.execute(
            f"SELECT {listed} FROM (SELECT * FROM main.versions WHERE until > ?"
            " ORDER BY document, until)",
            (since,),
        ).fetchone()
        columns = [np.fromstring(one or "", "i8", sep=",") for one in found]
        self._document, self._until, self._since, is_kept = columns
        self._is_kept = is_kept > 0
        self._flags = np.full(len(is_kept), _UNKNOWN)

    def at(self, connection: apsw.Connection, number: int) -> Standing:
        later = np.flatnonzero(self._until > number)
        first = later[firsts(self._document[later])]
        is_there = (self._since[first] <= number) & self._is_kept[first]
        self._look_at(connection, first[is_there])
        return Standing(
            self._document[first],
            self._until[first],
            is_there,
            self._flags[first],
        )

    def _look_at(self, connection: apsw.Connection, rows: "Integers") -> None:
        """Note the flags of those rows of which they are not known."""
        unknown = rows[self._flags[rows] == _UNKNOWN]
        if not len(unknown):
            return
        keys = apsw.carray(self._document[unknown] << 32 | self._until[unknown])
        listed: Any = connection.execute(
            f"SELECT group_concat({FLAGS}) FROM carray(?) k CROSS JOIN main.versions v"
            " ON v.document = k.value >> 32 AND v.until = k.value & 0xffffffff",
            (keys,),
        ).get
        self._flags[unknown] = np.fromstring(listed, "i8", sep=",")


def firsts(rising: "Integers") -> "Flags":
    """Which of some numbers are not the same as the one before."""
    found = np.ones(len(rising), bool)
    found[1:] = rising[1:] != rising[:-1]
    return found
