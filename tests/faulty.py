"""A disk that loses power or fails, for real SQLite connections: a VFS through apsw.

Everything goes through to real files. What was written and what was synced is written down, so
that the files can be had as a power cut would have left them: with all that was synced, and with
any part of the rest, by sectors, in any order. A disk can also fail at its n-th operation.
"""

import os
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

SECTOR = 512
NAMES = ("write", "truncate", "sync", "delete")


class Operation(NamedTuple):
    """Something that was done to a file, or a mark that a test put between."""

    kind: str  # of NAMES, or "mark"
    path: str = ""
    at: int = 0  # an offset, or a size
    data: bytes = b""
    mark: object = None


class Disk(apsw.VFS):
    """The files below one folder, as a disk of their own; others are left alone."""

    def __init__(
        self,
        folder: Path,
        *,
        fail_at: int | None = None,
        error: type[apsw.Error] = apsw.IOError,
        for_good: bool = False,
    ) -> None:
        self.folder = str(folder.resolve())
        self.operations: list[Operation] = []
        self.before: dict[str, bytes] = {}  # what the files held when they were first opened
        self.done = 0  # operations, reads and opened files left out
        self._fail_at, self._error, self._for_good = fail_at, error, for_good
        self.real: str = apsw.vfs_names()[0]  # the default comes first
        super().__init__(f"faulty-{id(self)}", self.real, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None or not path.startswith(self.folder + os.sep):
            return apsw.VFSFile(self.real, name, flags)
        if path not in self.before:
            self.before[path] = Path(path).read_bytes() if os.path.exists(path) else b""
        return _File(self, name, flags, path)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        if filename.startswith(self.folder + os.sep):
            self.note(Operation("delete", filename, int(syncdir)))
        super().xDelete(filename, syncdir)

    def note(self, operation: Operation) -> None:
        """Before it is done: what fails is not."""
        self.done += 1
        if self._fail_at is not None and (
            self.done == self._fail_at or (self._for_good and self.done > self._fail_at)
        ):
            raise self._error(f"injected at operation {self.done}")
        self.operations.append(operation)

    def mark(self, what: object) -> None:
        """Say that something was acknowledged here."""
        self.operations.append(Operation("mark", mark=what))

    def marks(self, cut: int) -> list[Any]:
        """What was acknowledged before the cut."""
        return [one.mark for one in self.operations[:cut] if one.kind == "mark"]

    def after_power_cut(self, cut: int, chance: random.Random) -> dict[str, bytes]:
        """The files when the power goes before operation number `cut`."""
        files = {path: _Surviving(data) for path, data in self.before.items()}
        for operation in self.operations[:cut]:
            if operation.kind != "mark":
                files[operation.path].take(operation)
        left = {path: one.content(chance) for path, one in files.items()}
        return {path: data for path, data in left.items() if data is not None}


class _File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int], path: str) -> None:
        self._disk, self._path = disk, path
        super().__init__(disk.real, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.note(Operation("write", self._path, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        self._disk.note(Operation("truncate", self._path, newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        self._disk.note(Operation("sync", self._path))
        super().xSync(flags)


class _Surviving:
    """One file: what is on the disk for certain, and what may be."""

    def __init__(self, data: bytes) -> None:
        self._certain: bytearray | None = bytearray(data)
        self._waiting: list[Operation] = []

    def take(self, operation: Operation) -> None:
        if operation.kind == "sync":
            self._certain = _written(self._certain, self._waiting)
            self._waiting = []
        elif operation.kind == "delete" and operation.at:
            self._certain, self._waiting = None, []
        else:
            self._waiting.append(operation)

    def content(self, chance: random.Random) -> bytes | None:
        share = chance.choice((0.0, 0.0, 0.5, 0.9, 1.0))
        pieces = [piece for one in self._waiting for piece in _pieces(one)]
        lucky = [piece for piece in pieces if chance.random() < share]
        found = _written(self._certain, lucky)
        return None if found is None else bytes(found)


def _pieces(operation: Operation) -> Iterator[Operation]:
    """A write by sectors: each reaches the disk for itself."""
    if operation.kind != "write":
        yield operation
        return
    start, end = operation.at, operation.at + len(operation.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        piece = operation.data[start - operation.at : stop - operation.at]
        yield operation._replace(at=start, data=piece)
        start = stop


def _written(content: bytearray | None, operations: Sequence[Operation]) -> bytearray | None:
    found = None if content is None else bytearray(content)
    for one in operations:
        if one.kind == "delete":
            found = None
            continue
        found = bytearray() if found is None else found
        if one.kind == "truncate":
            del found[one.at :]
        else:
            found.extend(b"\0" * (one.at - len(found)))
            found[one.at : one.at + len(one.data)] = one.data
    return found


@contextmanager
def disk(folder: Path, **failing: Any) -> Iterator[Disk]:
    """While it lasts, whatever opens a database below the folder works on this disk."""
    made = Disk(folder, **failing)
    try:
        yield made
    finally:
        made.unregister()
