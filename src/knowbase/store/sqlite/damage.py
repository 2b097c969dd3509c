"""Which errors of the driver say that the file is damaged."""

import apsw

_ALWAYS = (
    apsw.CorruptError,
    apsw.FormatError,
    UnicodeDecodeError,
)
_CODES = (
    apsw.SQLITE_IOERR_SHORT_READ,  # the file is shorter than it says
    apsw.SQLITE_IOERR_CORRUPTFS,
    apsw.SQLITE_IOERR_DATA,
)
_WORDS = (
    "no such table", "no such column", "no such index", "malformed", "vtable constructor",
    "unsupported file format", "duplicate column name", "already exists", "fts5 file format",
)  # fmt: skip
"""Of errors in SQL that is ours: what it names is always there in a sound base."""


def is_damage(error: Exception) -> bool:
    if isinstance(error, _ALWAYS):
        return True
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", None) in _CODES
    return isinstance(error, apsw.SQLError) and any(word in str(error).lower() for word in _WORDS)
