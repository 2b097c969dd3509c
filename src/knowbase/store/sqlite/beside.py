"""A base's file, and the files that stand beside it."""

import os
from contextlib import suppress

JOURNALS = ("-wal", "-shm", "-journal", "-seen")
"""How their names end. SQLite knows a journal by its name alone: one that stayed would be read as
the next file's."""


def files_of(path: str) -> tuple[str, ...]:
    """The file, and all that may stand beside it."""
    return (path, *(path + end for end in JOURNALS))


def index_of(path: str) -> str:
    """The folder of what is derived from the base, and can be removed at any time."""
    return os.path.realpath(path) + ".index"


def words_of(path: str) -> str:
    """The part of it that is of words."""
    return os.path.join(index_of(path), "words")


def remove_journals(path: str) -> None:
    """Remove what stands beside a file that is gone, or goes."""
    for name in files_of(path)[1:]:
        with suppress(FileNotFoundError):
            os.remove(name)


def remove_all(path: str) -> None:
    """Remove a file with whatever stands beside it, as far as that can be done."""
    for name in files_of(path):
        with suppress(OSError):
            os.remove(name)
