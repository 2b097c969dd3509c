"""The hits of the last search of a base, so that `kb open 2` knows which one is meant."""

import os
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from knowbase.search.answer import Answer

_LONGEST = 120  # letters of a file's name


class LastHit(NamedTuple):
    """A hit as it is called, and where it stands."""

    section: str  # CODE:slug
    line: int
    page: int | None


def keep(base: object, answer: "Answer") -> None:
    """Write down the hits of a base; where that cannot be, a number is a document's number."""
    rows = [f"{hit.section}\t{hit.line}\t{hit.page or 0}\n" for hit in answer.hits]
    path = _file(_place(base))
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        new = f"{path}.{os.getpid()}"
        with open(new, "w", encoding="utf-8", opener=_private) as file:
            file.write(f"{answer.offset}\n" + "".join(rows))
        os.replace(new, path)
    except OSError:
        return


class LastSearch(NamedTuple):
    """What the last search of a base has found."""

    before: int  # hits of earlier pages
    hits: tuple[LastHit, ...]

    def hit(self, number: int) -> LastHit | None:
        """The hit of that number, as the terminal showed it."""
        place = number - self.before
        return self.hits[place - 1] if 0 < place <= len(self.hits) else None

    @property
    def told(self) -> str:
        """How many it found, and which numbers they have."""
        number = len(self.hits)
        found = f"the last search has {number} hit{'s' * (number != 1)}"
        first, last = self.before + 1, self.before + number
        return f"{found}, {first} to {last}" if number and self.before else found


def last_search(base: object) -> LastSearch | None:
    """The last search of a base; None when there was none."""
    try:
        with open(_file(_place(base)), encoding="utf-8") as file:
            first, *rows = file.read().splitlines()
        split = (row.split("\t") for row in rows)
        hits = (LastHit(section, int(line), int(page) or None) for section, line, page in split)
        return LastSearch(int(first), tuple(hits))
    except (OSError, ValueError):
        return None


def _place(base: object) -> str:
    return str(getattr(base, "shown", ""))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _file(place: str) -> str:
    name = "".join(letter if letter.isalnum() else "-" for letter in place)[-_LONGEST:]
    return os.path.join(_folder(), "last", name or "-")


def _folder() -> str:
    given = os.environ.get("XDG_CACHE_HOME")
    if given and os.path.isabs(given):
        return os.path.join(given, "knowbase")
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return os.path.join(os.environ["LOCALAPPDATA"], "knowbase", "cache")
    below = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return os.path.join(os.path.expanduser("~"), below, "knowbase")
