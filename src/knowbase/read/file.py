"""A file as a reader gets it."""

import re
from functools import cached_property
from pathlib import PurePath

from knowbase.errors import ReadError
from knowbase.read.decode import Decoded, decoded

_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}")
# "event-hooks", "titles-for-QA"; not "Miller-Rabin" or "UTF-8".
_SLUG = re.compile(r"(?=.*[-_][a-z])(?:\d+[-_])?[A-Za-z]{2,}[A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)+")
_DAY = re.compile(r"(\d{4})_(\d{2})_(\d{2})")
# "Fast_R-CNN", "A_Neural_Algorithm"; not "__init__" or "IMG_1234".
_UNDERSCORED = re.compile(r"(?=.*[a-z])[^\W_][^_]*(?:_[^_]+)+")
_INDEX_PAGES = ("index", "_index")
_YEAR = re.compile(r"(?:19|20)\d\d(?!\d)")
_NUMBERED = re.compile(r"\d*[^\W\d_]*[-_. ]?\d*")  # "lecture3", "01"
_TELLING = 3  # letters, at least

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
        pure = PurePath(path)
        self.name, self.stem = pure.name, pure.stem
        self.extension = pure.suffix[1:].lower()  # without the dot

    @property
    def called(self) -> str:
        """What a page is called that has no title: its file's name, as a person would say it."""
        stem = self.stem
        if stem.lower() in _INDEX_PAGES:
            stem = PurePath(self.path).parent.name or stem
        if _ESCAPED.search(stem):
            from urllib.parse import unquote

            stem = unquote(stem, errors="ignore") or stem
        stem = stem.replace("___", "/")  # so Logseq writes pages below others
        if _SLUG.fullmatch(stem):
            words = re.sub("[-_]", " ", stem)
            return words[0].upper() + words[1:]
        stem = _DAY.sub(r"\1-\2-\3", stem)
        return stem.replace("_", " ") if _UNDERSCORED.fullmatch(stem) else stem

    @property
    def has_telling_name(self) -> bool:
        """Whether its name says what the page is about: not README, index, x or lecture3."""
        stem = self.stem
        if len(stem) < _TELLING or stem.isupper() or stem.lower() in (*_INDEX_PAGES, "readme"):
            return False
        return stem.isalpha() or not _NUMBERED.fullmatch(stem) or _YEAR.match(stem) is not None

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
