"""The folder of an export: written beside what is there, then put in its place file by file.

A stop before everything is written leaves the folder as it was; one after that is gone on with by
the next command that looks at the folder.
"""

import hashlib
import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping

from knowbase.errors import Conflict, InvalidInput
from knowbase.exchange.exported import NAME, Exported, is_export
from knowbase.exchange.lines import Page

PART = ".kb-export.part"
MOST_NAMED = 3


def checked(folder: str) -> None:
    """Refuse a place that holds anything but an export."""
    if not os.path.lexists(folder):
        return
    if not os.path.isdir(folder):
        raise InvalidInput(f"{folder} is not a folder", field="folder", hint="name another place")
    if set(os.listdir(folder)) <= {PART} or is_export(folder):
        return
    raise Conflict(
        f"{folder} holds something else than an export",
        field="folder",
        hint="name a folder that is empty or not there yet; nothing was written",
    )


class Staged:
    """What is to become the export: files are written here first."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._place = os.path.join(folder, PART)
        self._made = not os.path.isdir(folder)
        finish(folder)
        os.makedirs(self._place, exist_ok=True)

    def path(self, name: str) -> str:
        """Where to write a file of this name."""
        found = os.path.join(self._place, *name.split("/"))
        os.makedirs(os.path.dirname(found), exist_ok=True)
        return found

    def put(self, page: Page, text: str) -> bool:
        """Write a page, unless it is there already; whether it was."""
        if digest_of(self.folder, page.name) == page.sha256:
            return False
        with open(self.path(page.name), "w", encoding="utf-8", newline="") as file:
            file.write(text)
        return True

    def drop(self) -> None:
        """Leave the folder as it was."""
        shutil.rmtree(self._place, ignore_errors=True)
        if self._made and os.path.isdir(self.folder) and not os.listdir(self.folder):
            os.rmdir(self.folder)

    def take_over(self, changed: Mapping[str, str | None]) -> None:
        """Put everything in its place, unless that would overwrite what somebody has changed: files
        of the export, each with the file that it was made of."""
        if changed:
            self.drop()
            raise Conflict(
                f"changed since they were exported: {_some(changed)}",
                field="folder",
                hint=_way_out(changed),
            )
        finish(self.folder)


def _way_out(changed: Mapping[str, str | None]) -> str:
    """An import takes in what was written here; what a file says, it says itself."""
    files = [one for one in changed.values() if one is not None]
    if not files:
        return "kb import them first, or overwrite them with --discard"
    told = f"put the change into {_some(files)} and kb sync, or overwrite it with --discard"
    return told if len(files) == len(changed) else f"kb import the others first; {told}"


def _some(names: Iterable[str]) -> str:
    listed = list(dict.fromkeys(names))
    return ", ".join(listed[:MOST_NAMED]) + (" …" if len(listed) > MOST_NAMED else "")


def finish(folder: str) -> None:
    """Go on with what an earlier run had written whole; drop what it had not."""
    part = os.path.join(folder, PART)
    if not os.path.isdir(part):
        return
    if is_whole(part):
        for name in sorted(_files(part), key=lambda name: name == NAME):  # the lines come last
            target = os.path.join(folder, *name.split("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.replace(os.path.join(part, *name.split("/")), target)
    shutil.rmtree(part, ignore_errors=True)


def is_whole(folder: str) -> bool:
    """Whether the lines of an export in this folder go to their end."""
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            file.seek(max(0, os.path.getsize(file.name) - (1 << 16)))
            return b'\n{"kind":"end",' in file.read()
    except OSError:
        return False


def pages_before(folder: str) -> dict[str, str]:
    """The pages of the export that is there, and their digests."""
    if not is_export(folder):
        return {}
    with Exported(folder) as export:
        found = {page.name: page.sha256 for _, page in export.pages()}
        return found | export.originals_by_name()


def stale_edits(folder: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Pages that are to be there no more, and that somebody has changed."""
    return [
        name
        for name, digest in before.items()
        if name not in now and digest_of(folder, name) not in (None, digest)
    ]


def remove_stale(
    folder: str, before: Mapping[str, str], now: Mapping[str, str], kept: Collection[str]
) -> list[str]:
    """Take away pages of documents that are gone, or called otherwise by now."""
    removed = []
    for name in before:
        if name in now or name in kept or within(folder, name) is None:
            continue
        path = os.path.join(folder, *name.split("/"))
        os.unlink(path)
        removed.append(name)
        above = os.path.dirname(path)
        while above != folder and not os.listdir(above):
            os.rmdir(above)
            above = os.path.dirname(above)
    return removed


def within(folder: str, name: str) -> str | None:
    """The file of that name, if it is one of the folder's own: an export says what it likes."""
    path = os.path.realpath(os.path.join(folder, *name.split("/")))
    inside = os.path.join(os.path.realpath(folder), "")
    return path if path.startswith(inside) and os.path.isfile(path) else None


def digest_of(folder: str, name: str) -> str | None:
    """Of a file in the folder; none when there is no such file."""
    path = within(folder, name)
    if path is None:
        return None
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _files(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(folder):
        for name in names:
            yield os.path.relpath(os.path.join(above, name), folder).replace(os.sep, "/")
