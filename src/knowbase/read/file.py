"""A file as a reader gets it."""

from functools import cached_property
from pathlib import PurePath

from knowbase.errors import ReadError
from knowbase.read.decode import Decoded, decoded

MOST_DATA = 1 << 20
DEEPEST = 3  # files in files in files: an attachment of a message that is attached


class File:
    """A file's name and content, and how much of it is to be read."""

    def __init__(
        self,
        path: str,
        data: bytes,
        most: int | None = None,
        most_data: int = MOST_DATA,
        depth: int = 0,
    ) -> None:
        self.path = path
        self.data = data
        self.most = most  # sections: what makes more of them may stop there
        self.most_data = most_data  # characters of what is data, not text: rows, records
        self.depth = depth  # in how many other files it lies
        self.name = PurePath(path).name
        self.stem = PurePath(path).stem
        self.extension = PurePath(path).suffix[1:].lower()  # without the dot

    @property
    def text(self) -> str:
        """Its content as text; BinaryFile when it is none."""
        return self._decoded.text

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is to be said of its encoding, once its text was asked for."""
        told = self._decoded.warning if "_decoded" in self.__dict__ else None
        return (told,) if told else ()

    @cached_property
    def _decoded(self) -> Decoded:
        return decoded(self.data)

    def inside(self, path: str, data: bytes) -> "File":
        """A file that lies in this one."""
        if self.depth >= DEEPEST:
            raise ReadError(f"files lie more than {DEEPEST} deep in each other")
        return File(path, data, self.most, self.most_data, self.depth + 1)
