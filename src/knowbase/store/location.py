"""Where a base lies, and where its relative paths start from."""

import os
from collections.abc import Sequence

from knowbase.errors import BaseMissing, InvalidInput

FOLDER = ".kb"
FILE = "base.db"


SCHEMES = ("postgresql", "postgres")


def is_url(base: str) -> bool:
    """Whether a base lies in a PostgreSQL database."""
    scheme, mark, _ = base.partition("://")
    return bool(mark) and scheme.lower() in SCHEMES


def split_url(url: str) -> tuple[str, str]:
    """The database, and what stands behind #: the name of the base in it.

    As PostgreSQL reads it, a user and a password come first, and can have a # themselves.
    """
    start = url.index("://") + 3
    slash, at = url.find("/", start), url.find("@", start)
    is_login = at >= 0 and (slash < 0 or at < slash)
    place = url.find("#", at if is_login else start)
    return (url, "") if place < 0 else (url[:place], url[place + 1 :])


def replica_urls(given: Sequence[str]) -> list[str]:
    """Databases to read from, by URLs with commas or blanks between: one URL can name several
    hosts itself, with commas."""
    from re import split

    found = split(r"[,\s]+(?=postgres(?:ql)?://)", ",".join(given).strip(), flags=2)  # any case
    for one in found:
        if not is_url(one):
            raise InvalidInput(
                "base.read is not a list of PostgreSQL URLs",
                field="base.read",
                hint="postgresql://user@host/database, several with commas",
            )
    return found


def shown(base: str) -> str:
    """A base's place without a password, however oddly that is written."""
    if not is_url(base):
        return base
    scheme, _, rest = base.partition("://")
    database, name = split_url(base)
    front, mark, query = database.partition("://")[2].rpartition("?")
    if not mark or not all("=" in one for one in query.split("&")):
        front, query = front + mark + query, ""
    if "@" in name and ":" in rest.rpartition("@")[0]:  # a password could reach as far as that
        front, query, name = rest, "", ""
    login, at, place = front.rpartition("@")
    kept = "&".join(one for one in query.split("&") if not _is_secret(one))
    ends = f"{'?' if kept else ''}{kept}{'#' if name else ''}{name}"
    return f"{scheme}://{login.partition(':')[0]}{at}{place}{ends}"


def _is_secret(parameter: str) -> bool:
    """PostgreSQL decodes the names of parameters, too."""
    from urllib.parse import unquote

    name = unquote(parameter.partition("=")[0]).strip().lower()
    return "pass" in name and name != "passfile"


def _known_url(given: str) -> str | None:
    """The URL as PostgreSQL wants it; None for a path. What is neither is not repeated:
    there could be a password in it."""
    scheme, mark, rest = given.partition("://")
    if not mark:
        return None
    if scheme.lower() in ("http", "https"):
        raise InvalidInput(
            "a server's base is not opened as one of this machine",
            field="base",
            hint="in Python: knowbase.connect(address, token)",
        )
    if scheme.lower() not in SCHEMES:
        raise InvalidInput(
            "a base is a file, a folder or a PostgreSQL URL",
            field="base",
            hint="postgresql://user@host/database",
        )
    return f"{scheme.lower()}://{rest}"


def locate(base: str | None, start: str | None = None) -> str:
    """The base's file: as given, else KB_BASE, else .kb/base.db here or in a folder above."""
    given = base or os.environ.get("KB_BASE")
    url = _known_url(given) if given else None
    if url is not None:
        return url
    if given:
        path = os.path.abspath(os.path.expanduser(given))
        if os.path.isdir(path):
            inside = FILE if os.path.basename(path) == FOLDER else os.path.join(FOLDER, FILE)
            path = os.path.join(path, inside)
        if not os.path.exists(path):
            raise BaseMissing(f"there is no base at {given}", hint="make one with: kb init")
        return _where_files_are(path)
    folder = os.path.abspath(start or os.getcwd())
    while True:
        path = os.path.join(folder, FOLDER, FILE)
        if os.path.exists(path):
            return _where_files_are(path)
        if os.path.dirname(folder) == folder:
            raise BaseMissing(
                "there is no base here or in any folder above",
                hint="make one with: kb init",
            )
        folder = os.path.dirname(folder)


def _where_files_are(path: str) -> str:
    """The base that a link leads to, for its paths start there. A link of ours may also only keep
    the file, or all of .kb, on another disk."""
    folder = os.path.dirname(path)
    is_ours = os.path.basename(folder) == FOLDER
    if not os.path.islink(path) and not (is_ours and os.path.islink(folder)):
        return path
    real = os.path.realpath(path)
    return real if not is_ours or os.path.basename(os.path.dirname(real)) == FOLDER else path


def new_place(given: str) -> str:
    """Where a new base is made: a URL, a file, or a folder that is to hold .kb/base.db."""
    url = _known_url(given)
    if url is not None:
        return url
    given = os.path.expanduser(given)
    target = os.path.abspath(given)
    if os.path.isdir(target) or given.endswith(("/", os.sep)):
        return os.path.join(target, FOLDER, FILE)
    return target


def itself(base: str) -> str:
    """The file that a link leads to, for whoever puts another one in its place."""
    return base if is_url(base) else os.path.realpath(base)


def place_of(base: str | None) -> str:
    """Where a base is; where one would be made when there is none."""
    try:
        return locate(base)
    except BaseMissing:
        return new_place(base or os.environ.get("KB_BASE") or os.getcwd())


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
