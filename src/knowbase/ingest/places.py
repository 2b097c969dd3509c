"""Paths as a base keeps them, so that a folder can be moved together with its base."""

import os
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple


class Home(NamedTuple):
    """The folder that relative paths start from; none for a base that has no folder."""

    folder: str | None
    below: str = ""  # where a copy of the disk begins, whose files are looked at instead

    def stored(self, path: str) -> str:
        """Relative to the home when inside it, else absolute."""
        path = os.path.abspath(path)
        if self.below:
            drive = os.path.splitdrive(self.folder or "")[0]
            path = drive + (path.removeprefix(self.below) or os.sep)
        if self.folder and inside(path, self.folder):
            return path[len(self.folder.rstrip(os.sep)) + 1 :] or os.curdir
        return path

    def absolute(self, stored: str) -> str:
        """Where the file is on this machine."""
        return self.elsewhere(os.path.normpath(os.path.join(self.folder or "", stored)))

    def elsewhere(self, path: str) -> str:
        """Where a file of the disk is to be looked for."""
        return self.below + os.path.splitdrive(path)[1] if self.below else path


def inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or something in it; '.' holds every relative path."""
    if folder == ".":
        return not os.path.isabs(path)
    return path == folder or path.startswith(_beginning(folder))


def closest(path: str, folders: Iterable[str]) -> str | None:
    """The innermost of these folders that holds it."""
    holders = [folder for folder in folders if inside(path, folder)]
    return max(holders, key=lambda folder: (folder != ".", len(folder)), default=None)


def around(paths: Iterable[str]) -> tuple[str, ...]:
    """What to add so that all of these files lie in it: the folder that they have in common, else
    the first folder of each."""
    relative, absolute = set[str](), set[str]()
    for path in paths:
        (absolute if os.path.isabs(path) else relative).add(path)
    common = os.path.commonpath(relative) if relative else ""
    tops = {path.split(os.sep)[0] for path in relative}
    if not common and tops & relative:  # a file that lies in the home itself
        common = os.curdir
    folders = {os.path.dirname(path) for path in absolute}
    outer = {one for one in folders if not any(one != it and inside(one, it) for it in folders)}
    return (*([common] if common else sorted(tops)), *sorted(outer))


@lru_cache(maxsize=64)
def _beginning(folder: str) -> str:
    return folder.rstrip(os.sep) + os.sep


def is_address(path: str) -> bool:
    """Whether what was named is a page of the web."""
    return path[:8].lower().startswith(("http://", "https://"))
