"""Where a base lies, and where its relative paths start from."""

import os

from knowbase.errors import BaseMissing

FOLDER = ".kb"
FILE = "base.db"


def locate(base: str | None, start: str | None = None) -> str:
    """The base's file: as given, else KB_BASE, else .kb/base.db here or in a folder above."""
    given = base or os.environ.get("KB_BASE")
    if given:
        given = os.path.abspath(os.path.expanduser(given))
        return os.path.join(given, FOLDER, FILE) if os.path.isdir(given) else given
    folder = os.path.abspath(start or os.getcwd())
    while True:
        path = os.path.join(folder, FOLDER, FILE)
        if os.path.exists(path):
            return path
        if os.path.dirname(folder) == folder:
            raise BaseMissing(
                "there is no base here or in any folder above",
                hint="make one with: kb init",
            )
        folder = os.path.dirname(folder)


def home_of(path: str) -> str:
    """The folder that a base's relative paths start from, and where its kb.toml lies."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.dirname(folder) if os.path.basename(folder) == FOLDER else folder
