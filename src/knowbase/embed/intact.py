"""Whether files of the package are as they were made: each is looked through once.

What was found right is noted in the user's cache, with the file's size and times. Whoever
changes a file changes those; without a folder to note it in, every process looks again.
"""

import os
from collections.abc import Mapping
from contextlib import suppress

from knowbase.errors import ModelUnavailable

FILE = "intact"
MOST_LINES = 64  # of files that are long gone, too


def check(sums: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """Refuse files that are missing, or have another SHA-256 than they should."""
    from knowbase.embed.cache import folder

    noted = os.path.join(folder(environment), FILE)
    known = _lines(noted)
    wanted = [_line(path, expected) for path, expected in sums.items()]
    unknown = [line for line in wanted if line not in known]
    if not unknown:
        return
    for path, expected in sums.items():
        if _sha256(path) != expected:
            raise ModelUnavailable(
                "the packaged embedding model is damaged: its checksum is wrong",
                hint="reinstall knowbase",
            )
    _note(noted, [*unknown, *known][:MOST_LINES])


def _line(path: str, expected: str) -> str:
    try:
        found = os.stat(path)
    except OSError as error:
        raise _missing() from error
    times = f"{found.st_mtime_ns} {found.st_ctime_ns}"
    return f"{expected} {found.st_size} {times} {os.path.abspath(path)!a}"


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def _note(path: str, lines: list[str]) -> None:
    """Replaced as a whole: another process reads the old lines, or the new ones."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        new = f"{path}.{os.getpid()}"
        with open(os.open(new, flags, 0o600), "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
        os.replace(new, path)


def _sha256(path: str) -> str:
    import hashlib

    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _missing() from error


def _missing() -> ModelUnavailable:
    return ModelUnavailable("the packaged embedding model is missing", hint="reinstall knowbase")
