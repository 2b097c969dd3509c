"""Files that other programs have written, opened with care: nobody knows who made them.

JSON is read entry by entry, archives member by member; both have their bounds.
"""

import codecs
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from knowbase.errors import NotFound, ReadError
from knowbase.ingest.foreign import Left
from knowbase.read.about import moment as iso_moment
from knowbase.read.archive import Archive
from knowbase.values.times import LATEST, timestamp

MOST_UNPACKED = 4 << 30  # bytes, over all that is read of an archive
MOST_ENTRY = 64 << 20  # characters of one conversation, memory …
_STEP = 1 << 16
_SPACE = " \t\r\n"
_MILLISECONDS = 100_000_000_000  # a number of seconds that is beyond all dates


def check_there(path: str) -> None:
    if not os.path.exists(path):
        raise NotFound(f"there is no file or folder {path!r}", hint="check the path")


@contextmanager
def reading_files(path: str) -> Iterator[None]:
    """Errors of the disk as knowbase errors; the path is named where the disk names none."""
    try:
        yield
    except BrokenPipeError:  # whoever was told of the progress is gone
        raise
    except OSError as error:
        raise ReadError(f"{error.filename or path}: {error.strerror or error}") from error


def is_zip(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    with reading_files(path), open(path, "rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


def pieces_of(path: str) -> Iterator[bytes]:
    """A file, piece by piece."""
    with reading_files(path), open(path, "rb") as file:
        while piece := file.read(_STEP):
            yield piece


def json_files(path: str, stem: str, what: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    """The JSON files of an export whose names begin so: in an archive or a folder, or the file
    itself that was named."""
    check_there(path)
    if is_zip(path):
        archive = Archive(path, what, MOST_UNPACKED)
        try:
            for name in sorted(archive.names):
                if _is_named(name, stem):
                    yield name, archive.pieces(name)
        finally:
            archive.close()
    elif os.path.isdir(path):
        for above in (path, os.path.join(path, stem)):
            for name in sorted(os.listdir(above)) if os.path.isdir(above) else ():
                if _is_named(os.path.join(os.path.relpath(above, path), name), stem):
                    yield name, pieces_of(os.path.join(above, name))
    elif stem == "conversations" or _is_named(path, stem):
        yield os.path.basename(path), pieces_of(path)


def _is_named(path: str, stem: str) -> bool:
    """By its own name, or by that of its folder: `projects/0196….json`."""
    above, _, name = path.replace("\\", "/").lower().rpartition("/")
    return name.endswith(".json") and (name.startswith(stem) or above.rpartition("/")[2] == stem)


def elements(pieces: Iterable[bytes], what: str) -> Iterator[Any]:
    """The entries of a JSON list, or of a file with one after the other. Where it is cut off or
    damaged, what stands before that is given, then a `Left`; ReadError when that is nothing."""
    number = 0
    try:
        for value in _entries(_Text(pieces, what)):
            yield value
            number += 1
    except ReadError as error:
        if not number:
            raise
        yield Left(f"entry {number + 1} and what follows", error.message)


def _entries(text: "_Text") -> Iterator[Any]:
    if text.is_over():
        raise text.damaged()
    if not text.next_is("["):
        while not text.is_over():
            yield text.value()
        return
    text.skip("[")
    while not text.next_is("]"):
        yield text.value()
        if text.next_is(","):
            text.skip(",")
        elif not text.next_is("]"):
            raise text.damaged()


class _Text:
    """JSON of any length, of which no more than an entry is kept."""

    def __init__(self, pieces: Iterable[bytes], what: str) -> None:
        decode = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._pieces = iter(pieces)
        self._decode = decode
        self._what = what
        self._text = ""
        self._at = 0
        self._ended = False
        self._decoder = json.JSONDecoder()

    def damaged(self) -> ReadError:
        return ReadError(f"The {self._what} is damaged or something else: it is not JSON.")

    def is_over(self) -> bool:
        self._skip_space()
        return self._at >= len(self._text)

    def next_is(self, char: str) -> bool:
        return not self.is_over() and self._text[self._at] == char

    def skip(self, char: str) -> None:
        self._at += len(char)

    def value(self) -> Any:
        self._skip_space()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except RecursionError as error:
                raise ReadError(f"The {self._what} is nested too deeply.") from error
            except ValueError as error:
                if len(self._text) - self._at > MOST_ENTRY:
                    raise ReadError(
                        f"An entry of the {self._what} is longer than {MOST_ENTRY >> 20} MB."
                    ) from error
                if not self._more():
                    raise self.damaged() from error
            else:
                self._at = end
                return value

    def _skip_space(self) -> None:
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text) or not self._more():
                return

    def _more(self) -> bool:
        """Read on: as much again as there is, so that a long entry is not tried too often."""
        if self._ended:
            return False
        kept = self._text[self._at :]
        wanted = max(_STEP, len(kept))
        found: list[str] = []
        while sum(map(len, found)) < wanted and not self._ended:
            piece = next(self._pieces, None)
            self._ended = piece is None
            found.append(self._decode.decode(piece or b"", final=self._ended))
        self._text, self._at = kept + "".join(found), 0
        return True


def moment(value: Any) -> str | None:
    """A time as programs write it, seconds, milliseconds or ISO 8601; none for what is not one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and value.strip().lstrip("-").isdecimal():
        value = int(value) if len(value) < 20 else None
    if isinstance(value, int | float):
        seconds = value / 1000 if value > _MILLISECONDS else float(value)
        return timestamp(seconds) if 0 < seconds <= LATEST else None
    return iso_moment(value) if isinstance(value, str) else None


def local_moment(parts: tuple[int, ...]) -> str | None:
    """A date as an archive has it."""
    try:
        return iso_moment(datetime(*parts).isoformat())  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return None


def text_in(value: Any) -> str:
    """The text that a value is; none is empty."""
    return value.strip() if isinstance(value, str) else ""


def objects_in(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, whatever else is in it."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
