"""How much of an add or a sync is done, and how much is left.

Files say nothing of that: one is a line, another a book. Nearly all of the time goes into vectors,
and those take as long as their text has tokens; so what is left is the tokens that wait, and those
that the files still to be read will have: by their bytes, as far as files of that kind have shown.
Pictures that are looked at have a pace of their own: they are counted in pages.
"""

import os
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Protocol

from knowbase.read.formats import IMAGE, has_name

IMAGES = frozenset(IMAGE.extensions)  # nothing comes of them unless they are looked at
BINARY = frozenset(("pdf", "docx", "pptx", "xlsx", "odt", "ods", "odp", "epub", "ipynb", "svg"))
DENSITY = 0.25  # tokens of a byte, of a kind that was not seen yet
BINARY_DENSITY = 0.03
DOUBT = 20_000  # bytes of a kind that count as much as what was expected of it
SCAN = 10_000  # tokens that take as long as a page, before either was seen
MOST_OF_ONE = 4_000_000  # bytes of a file: what is longer is cut, or most of it is no text


class Advancing(Protocol):
    """How far something is, in whatever takes its time."""

    @property
    def work(self) -> float: ...

    @property
    def left(self) -> float: ...

    @property
    def stored(self) -> float: ...

    @property
    def pages(self) -> int: ...

    @property
    def pages_left(self) -> float: ...


class Workload:
    """What waits, and what it is expected to become."""

    def __init__(self, files: Iterable[tuple[str, int]], *, sees: bool = False) -> None:
        """Of files by path, and how many bytes each has; `sees`: pictures are looked at."""
        self._images = 0  # that are still to be looked at
        self._looking = (0, 0)  # the page that is looked at, and how many its file has
        self._sizes: dict[str, int] = {}  # of files whose pages may be looked at
        self._scanned: Counter[str] = Counter()
        self.pages = 0  # that were looked at
        self._left: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._waiting = 0
        self._part = 0.0  # of what waits that is done
        self.done = 0.0
        for path, size in files:
            self._left[_kind(path)] += _counting(size)
            self._images += sees and _kind(path) in IMAGES
            if sees:
                self._sizes[path] = size

    def look(self, path: str, page: int, pages: int) -> None:
        """From now on, this page of a file that is being read is looked at."""
        if page == 1:
            kind = _kind(path)
            self._scanned[kind] += pages
            self._images -= self._images > 0 and kind in IMAGES
            self._begun(kind, _counting(self._sizes.get(path, 0)))
        self.pages += page - max(1, self._looking[0])
        self._looking = (page, pages)

    def _begun(self, kind: str, counting: int) -> None:
        self._left[kind] = max(0, self._left[kind] - counting)
        self._seen[kind] += counting

    def read(self, path: str, size: int) -> None:
        """A file was read, whatever came of it."""
        kind, counting = _kind(path), _counting(size)
        page, pages = self._looking
        self._looking = (0, 0)
        if pages:
            self.pages += pages - page + 1
        else:
            self._images -= self._images > 0 and kind in IMAGES
            self._begun(kind, counting)

    def drafted(self, path: str, tokens: int) -> None:
        """Text that waits to be embedded and stored."""
        self._tokens[_kind(path)] += tokens
        self._waiting += tokens

    def embedded(self, share: float) -> None:
        """How much of what waits has its vectors."""
        self._part = min(1.0, share)

    def stored(self) -> None:
        """What waited is done."""
        self.done += self._waiting
        self._waiting, self._part = 0, 0.0

    @property
    def work(self) -> float:
        """Tokens that are done."""
        return self.done + self._part * self._waiting

    @property
    def left(self) -> float:
        """Tokens that wait, and that are expected."""
        coming = sum(number * self._density(kind) for kind, number in self._left.items() if number)
        return (1 - self._part) * self._waiting + coming

    @property
    def pages_left(self) -> float:
        """Pages that are expected: of each image one, and of other files as many as their kind has
        shown; of the file that is looked at, those that it has."""
        page, pages = self._looking
        begun = pages - page + 1 if pages else 0
        kinds = (kind for kind in self._left if kind not in IMAGES)
        others = sum(
            self._left[kind] * self._scanned[kind] / (self._seen[kind] + DOUBT) for kind in kinds
        )
        return begun + self._images + others

    def _density(self, kind: str) -> float:
        return (self._tokens[kind] + DOUBT * _expected(kind)) / (self._seen[kind] + DOUBT)


@cache
def _expected(kind: str) -> float:
    """Tokens a byte, before any file of the kind was read: of images none, nor of most fonts and
    archives."""
    if kind in IMAGES or not has_name(f"x.{kind}"):
        return 0.0
    return BINARY_DENSITY if kind in BINARY else DENSITY


def _kind(path: str) -> str:
    return os.path.splitext(path)[1][1:].lower()


def _counting(size: int) -> int:
    return min(size, MOST_OF_ONE)


def share_of(progress: Advancing) -> float:
    """How much of the whole is done, from 0 to 1."""
    done = progress.work + SCAN * progress.pages
    whole = done + progress.left + SCAN * progress.pages_left
    return done / whole if whole else 0.0


class Pace:
    """The time that is left, from what was done in the time that has passed.

    Vectors of a batch come when the slowest of it are made, so only what is stored is counted; in
    between, the clock runs. What is loaded before the first of them counts for nothing. The time
    in which pages were looked at is counted apart.
    """

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None  # when, and how much was done
        self._stored: tuple[float, float] | None = None  # … when something was stored last
        self._pages = 0
        self._paged = 0.0  # seconds in which pages were looked at
        self._before: float | None = None

    def left(self, now: float, progress: Advancing) -> float | None:
        """Seconds; None while nobody can say."""
        if self._before is not None and progress.pages > self._pages:
            self._paged += now - self._before
        self._before, self._pages = now, progress.pages
        a_token = self._of_a_token(now - self._paged, progress)
        a_page = self._paged / self._pages if self._pages and self._paged else None
        if a_page is None:
            a_page = None if a_token is None else a_token[0] * SCAN
        if a_page is None:
            return None
        seconds, tokens, passed = a_token or (a_page / SCAN, progress.left, 0.0)
        return max(0.0, seconds * tokens - passed) + a_page * progress.pages_left

    def _of_a_token(self, now: float, progress: Advancing) -> tuple[float, float, float] | None:
        """How long one takes, how many are left since something was stored, and how long ago that
        is."""
        if progress.work <= 0:
            return None
        if self._start is None:
            self._start = (now, progress.work)
        if self._stored is None or progress.stored > self._stored[1]:
            self._stored = (now, progress.stored)
        at, done = self._stored
        if done <= self._start[1]:  # the first batch: as much as can be told
            at, done = now, progress.work
        passed, made = at - self._start[0], done - self._start[1]
        if made <= 0 or passed <= 0:
            return None
        return passed / made, progress.work + progress.left - done, now - at
