"""Zip archives whose content nobody trusts: what they unpack to is bounded."""

import io
import zipfile
import zlib
from collections.abc import Iterator

from knowbase.errors import ReadError

MOST_UNPACKED = 128 << 20  # bytes, over all that is read of an archive
MOST_MEMBERS = 100_000
_STEP = 1 << 16
_PICTURE = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".gif", ".bmp")
_ICON = 4096  # bytes: a picture of fewer is decoration
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError)


def pictures_in(data: bytes) -> int:
    """How many pictures lie in an archive that may have text in them; in anything else, none."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as found:
            members = found.infolist()
    except _DAMAGED:
        return 0
    names = [one.filename.lower() for one in members if one.file_size >= _ICON]
    return sum(name.endswith(_PICTURE) and "thumbnail" not in name for name in names)


class Allowance:
    """What may be unpacked in all, of one archive or of several."""

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def take(self, size: int, what: str) -> None:
        self._left -= size
        if self._left < 0:
            raise ReadError(f"The {what} unpacks to more than {self._most >> 20} MB.")


class Archive:
    """The files in a zip archive, by name; each read is taken off what may be unpacked in all."""

    def __init__(self, data: bytes | str, what: str, most: int | Allowance = MOST_UNPACKED) -> None:
        """From bytes, or from a file by its path; `most` bytes are unpacked of it in all."""
        self._what = what
        self._allowance = most if isinstance(most, Allowance) else Allowance(most)
        try:
            self._zip = zipfile.ZipFile(data if isinstance(data, str) else io.BytesIO(data))
        except _DAMAGED as error:
            raise _refused(b"" if isinstance(data, str) else data, what) from error
        self.names = frozenset(self._zip.namelist())
        if len(self.names) > MOST_MEMBERS:
            raise ReadError(f"The {what} holds more than {MOST_MEMBERS:,} files.")
        if any(info.flag_bits & 1 for info in self._zip.infolist()):
            raise _encrypted(what)

    def close(self) -> None:
        self._zip.close()

    def written(self, name: str) -> tuple[int, ...]:
        """When a file in it was written, as its maker's clock had it: year, month, day …"""
        return self._zip.getinfo(name).date_time

    def size(self, name: str) -> int:
        """What a file in it says that it unpacks to."""
        return self._zip.getinfo(name).file_size

    def read(self, name: str) -> bytes:
        """A file in it; nothing when there is none."""
        return b"".join(self.pieces(name))

    def pieces(self, name: str) -> Iterator[bytes]:
        """The same, piece by piece."""
        if name not in self.names:
            return
        try:
            with self._zip.open(name) as member:
                while piece := member.read(_STEP):
                    self._allowance.take(len(piece), self._what)
                    yield piece
        except RuntimeError as error:  # what zipfile raises when it wants a password
            raise _encrypted(self._what) from error
        except _DAMAGED as error:
            raise ReadError(f"The {self._what} is damaged and cannot be read.") from error


def _refused(data: bytes, what: str) -> ReadError:
    if data.startswith(_OLE):
        if _ENCRYPTED in data:
            return _encrypted(what)
        return ReadError(
            f"The {what} is of before 2007, whatever its name says",
            hint="save it in today's format to have it read",
        )
    return ReadError(f"The {what} is damaged or something else, and cannot be read.")


def _encrypted(what: str) -> ReadError:
    return ReadError(f"The {what} is encrypted; remove its password to have it read.")
