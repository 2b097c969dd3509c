"""Where a base lies, and where its relative paths start from."""

import os

from knowbase.errors import BaseMissing

FOLDER = ".kb"
FILE = "base.db"


def is_url(base: str) -> bool:
    """Whether a base lies in a PostgreSQL database."""
    return base.startswith(("postgresql://", "postgres://"))


def shown(base: str) -> str:
    """A base's place without a password."""
    if not is_url(base):
        return base
    from urllib.parse import urlsplit

    parts = urlsplit(base)
    place = parts.netloc.rpartition("@")
    user = place[0].partition(":")[0]
    query = "&".join(p for p in parts.query.split("&") if not p.startswith(("password", "sslpass")))
    return parts._replace(netloc=f"{user}{place[1]}{place[2]}", query=query).geturl()


def locate(base: str | None, start: str | None = None) -> str:
    """The base's file: as given, else KB_BASE, else .kb/base.db here or in a folder above."""
    given = base or os.environ.get("KB_BASE")
    if given and is_url(given):
        return given
    if given:
        path = os.path.abspath(os.path.expanduser(given))
        path = os.path.join(path, FOLDER, FILE) if os.path.isdir(path) else path
        if not os.path.exists(path):
            raise BaseMissing(f"there is no base at {given}", hint="make one with: kb init")
        return path
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


def new_place(given: str) -> str:
    """Where a new base is made: a URL, a file, or a folder that is to hold .kb/base.db."""
    given = os.path.expanduser(given)
    if is_url(given):
        return given
    target = os.path.abspath(given)
    if os.path.isdir(target) or given.endswith(("/", os.sep)):
        return os.path.join(target, FOLDER, FILE)
    return target


def home_of(path: str) -> str:
    """The folder that a base's relative paths start from, and where its kb.toml lies.

    A base in a database has the nearest folder above with a kb.toml, else the working folder.
    """
    if is_url(path):
        return _nearest_settings(os.getcwd())
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.dirname(folder) if os.path.basename(folder) == FOLDER else folder


def _nearest_settings(start: str) -> str:
    folder = start
    while not os.path.exists(os.path.join(folder, "kb.toml")):
        if os.path.dirname(folder) == folder:
            return start
        folder = os.path.dirname(folder)
    return folder
