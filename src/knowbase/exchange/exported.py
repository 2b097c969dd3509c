"""An export as a base that can be copied: its documents are read when they are asked for."""

import os
import re
from collections.abc import Collection, Iterator
from typing import BinaryIO, NamedTuple

from knowbase.errors import NotFound, ReadError
from knowbase.exchange import lines
from knowbase.exchange.lines import Line, Page
from knowbase.ingest.noise import EXPORT
from knowbase.upkeep.digests import Part
from knowbase.values.copies import Copy, Frame, SharedParts
from knowbase.values.history import HistoryPart

NAME = EXPORT
VERSION = 2
"""2: the sums of its parts are of texts and vectors as they are."""
LONGEST_LINE = 512 << 20  # bytes: a document of as many chunks as one may have, with its vectors
_DOCUMENT = re.compile(rb'\{"kind":"document","seq":(\d{1,18}),')
_CHANGE = re.compile(rb'\{"kind":"change","number":(\d{1,18}),"ended":(\d{1,18}),')


class Header(NamedTuple):
    """What an export says of itself, and of the base that it was made of."""

    version: int
    format: str  # markdown or jsonl
    made_at: str
    base: str
    home: str
    has_home: bool  # False: a database, whose relative paths start wherever a checkout is
    copies: bool  # the files themselves lie beside it
    documents: int

    @property
    def path(self) -> str:
        """As a base is called: whether it has a home follows from it."""
        return os.path.join(self.home, "base.db") if self.has_home else "postgresql://export"


class Exported:
    """One export, opened: a `knowbase.store.contract.CopySource`."""

    def __init__(self, path: str) -> None:
        self.file = os.path.join(path, NAME) if os.path.isdir(path) else path
        self.folder = os.path.dirname(os.path.abspath(self.file))
        try:
            self._stream: BinaryIO = open(self.file, "rb")  # noqa: SIM115 - closed by `close`
        except FileNotFoundError:
            raise NotFound(
                f"there is no export in {path!r}",
                hint=f"a folder with {NAME}, or that file; for others' data, kb import --from",
            ) from None
        except OSError as error:
            raise ReadError(f"{path}: {error.strerror or error}") from error
        try:
            self._look_through()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._stream.close()

    def __enter__(self) -> "Exported":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look_through(self) -> None:
        """Note where each document and change stands, and read everything else."""
        self.header = header_of(self._line())
        self._places: dict[int, int] = {}
        self._changes: dict[int, int] = {}
        self.versions = 0  # of documents, that are no more
        rest: list[Line] = []
        end: Line | None = None
        while True:
            at = self._stream.tell()
            raw = self._line()
            if not raw:
                break
            found = _DOCUMENT.match(raw)
            if found is not None:
                self._places[int(found[1])] = at
            elif (change := _CHANGE.match(raw)) is not None:
                self._changes[int(change[1])] = at
                self.versions += int(change[2])
            elif raw.startswith(b'{"kind":"end",'):
                end = lines.parsed(raw)
            else:
                rest.append(lines.parsed(raw))
        if end is None:
            raise ReadError(
                "this export is not whole: its end is missing", hint="export the base again"
            )
        frames = [line for line in rest if line["kind"] == "frame"]
        if len(frames) != 1 or len(self._places) != self.header.documents:
            raise ReadError("this export is not whole", hint="export the base again")
        self._frame = lines.frame_of(frames[0])
        self._models = [one.model for one in self._frame.models]
        self._shared = lines.shared_of(rest)
        self.originals = {
            str(line.get("path")): lines.named(Page, line)
            for line in rest
            if line["kind"] == "original"
        }
        self.parts = tuple(
            Part(str(one[0]), int(one[1]), str(one[2])) for one in end.get("parts", ())
        )

    def _line(self) -> bytes:
        raw = self._stream.readline(LONGEST_LINE + 1)
        if len(raw) > LONGEST_LINE:
            raise ReadError(f"a line of the export is longer than {LONGEST_LINE >> 20} MB")
        return raw

    def frame(self) -> Frame:
        return self._frame

    @property
    def has_history(self) -> bool:
        """Exports of earlier versions have none."""
        return bool(self._changes)

    def history(self) -> Iterator[HistoryPart]:
        """What the base was."""
        for number, at in sorted(self._changes.items()):
            self._stream.seek(at)
            line = lines.parsed(self._line())
            if line.get("number") != number:
                raise _changed_meanwhile()
            yield lines.change_of(line, self._models)

    def seqs(self) -> list[int]:
        return sorted(self._places)

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        wanted = sorted(seq for seq in seqs if seq in self._places)
        return [lines.copy_of(self._document(seq), self._models) for seq in wanted]

    def pages(self) -> Iterator[tuple[int, Page]]:
        """The Markdown files that it says it has written, by the number of their document."""
        for seq in self.seqs():
            page = lines.page_of(self._document(seq))
            if page is not None:
                yield seq, page

    def originals_by_name(self) -> dict[str, str]:
        """The copies of files beside it, and their digests."""
        return {one.name: one.sha256 for one in self.originals.values()}

    def shared(self) -> SharedParts:
        return self._shared

    def _document(self, seq: int) -> Line:
        self._stream.seek(self._places[seq])
        line = lines.parsed(self._line())
        if line.get("seq") != seq:
            raise _changed_meanwhile()
        return line


def _changed_meanwhile() -> ReadError:
    return ReadError("the export was changed while it was read", hint="run it again")


def header_of(raw: bytes) -> Header:
    line = lines.parsed(raw) if raw else {"kind": ""}
    if line["kind"] != "export":
        raise ReadError("this file is not an export of a base", hint=f"look for a {NAME}")
    version = line.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ReadError(
            f"this export is of a newer version ({version})", hint="upgrade knowbase to import it"
        )
    return lines.named(Header, line)


def is_export(folder: str) -> bool:
    """Whether a folder holds what `kb export` has written."""
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            header_of(file.readline(1 << 20))
    except (OSError, ReadError):
        return False
    return True
