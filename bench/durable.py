"""What it costs that a note is on the disk when it is acknowledged.

`Base.note` in an open base, the embedding left out: as it is, and on a connection that leaves
the syncing to the operating system (`PRAGMA synchronous = NORMAL`), in turns. Beside it, the
bare call: fsync of a file that has grown by a page. It depends on the disk; TMPDIR says which.
"""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw

import corpus
from corpus import Clustered
from knowbase import Note
from knowbase.base import Base
from knowbase.embed.granite import Granite
from measure import Row, arguments, differences, interleaved, milliseconds, ratios, report, seconds

NOTES = 20  # a round


class Counting(apsw.VFS):
    """Counts what is synced."""

    def __init__(self) -> None:
        self.real: str = apsw.vfs_names()[0]
        self.syncs = 0
        super().__init__("counting", self.real, makedefault=True)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's
        return _File(self, name, flags)


class _File(apsw.VFSFile):
    def __init__(self, vfs: Counting, name: Any, flags: list[int]) -> None:
        self._vfs = vfs
        super().__init__(vfs.real, name, flags)

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's
        self._vfs.syncs += 1
        super().xSync(flags)


def notes(base: Base, numbers: "count[int]", synchronous: str) -> Callable[[], float]:
    """How long a note takes, on average of a few."""

    def write() -> None:
        connection = base.store._connections.get()  # type: ignore[attr-defined]
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        for _ in range(NOTES):
            number = next(numbers)
            base.note(Note(f"Note {number}: the harbour office opens at {number} o'clock"))

    return lambda: seconds(write) / NOTES


def bare(path: Path) -> None:
    with open(path, "ab") as file:
        for _ in range(NOTES):
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())


def syncs(folder: Path, embedder: Clustered) -> float:
    """How many a note, once the base is open; a checkpoint now and then included."""
    vfs = Counting()
    with corpus.new_base(folder, embedder) as base:
        write = notes(base, count(), "FULL")
        write()
        before = vfs.syncs
        write()
        made = (vfs.syncs - before) / NOTES
    vfs.unregister()
    return made


def main() -> None:
    given = arguments(__doc__, rounds=15)
    embedder = Clustered(Granite())
    with TemporaryDirectory() as name:
        folder = Path(name)
        number = syncs(folder / "counted", embedder)
        with corpus.new_base(folder / "base", embedder) as base:
            numbers = count()
            notes(base, numbers, "FULL")()
            taken = interleaved(
                given.rounds,
                {
                    "durable": notes(base, numbers, "FULL"),
                    "left": notes(base, numbers, "NORMAL"),
                    "fsync": lambda: seconds(lambda: bare(folder / "file")) / NOTES,
                },
            )
    rows = [
        Row("a note", milliseconds(taken["durable"]), "ms"),
        Row("a note, the disk left to the system", milliseconds(taken["left"]), "ms"),
        Row("ratio", ratios(taken["durable"], taken["left"])),
        Row("more", milliseconds(differences(taken["durable"], taken["left"])), "ms"),
        Row("one fsync", milliseconds(taken["fsync"]), "ms"),
        Row("syncs a note", [number]),
    ]
    report("durable", rows, as_json=given.json)


if __name__ == "__main__":
    main()
