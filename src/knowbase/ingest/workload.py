"""How much of an add or a sync is done, and how much is left.

Files say nothing of that: one is a line, another a book. Nearly all of the time goes into vectors,
and those take as long as their text has tokens; so what is left is the tokens that wait, and those
that the files still to be read will have: by their bytes, as far as files of that kind have shown.
"""

import os
from collections import Counter
from collections.abc import Iterable
from typing import Protocol

from knowbase.read.formats import IMAGE, has_name

IMAGES = frozenset(IMAGE.extensions)  # nothing comes of them unless they are looked at
BINARY = frozenset(("pdf", "docx", "pptx", "xlsx", "odt", "ods", "odp", "epub", "ipynb", "svg"))
DENSITY = 0.25  # tokens of a byte, of a kind that was not seen yet
BINARY_DENSITY = 0.03
DOUBT = 20_000  # bytes of a kind that count as much as what was expected of it
MOST_OF_ONE = 4_000_000  # bytes of a file: what is longer is cut, or most of it is no text


class Advancing(Protocol):
    """How far something is, in whatever takes its time."""

    @property
    def work(self) -> float: ...

    @property
    def left(self) -> float: ...

    @property
    def stored(self) -> float: ...


class Workload:
    """What waits, and what it is expected to become."""

    def __init__(self, files: Iterable[tuple[str, int]]) -> None:
        """Of files by path, and how many bytes each has."""
        self._left: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._tokens: Counter[str] = Counter()
        self._waiting = 0
        self._part = 0.0  # of what waits that is done
        self.done = 0.0
        for path, size in files:
            self._left[_kind(path)] += _counting(size)

    def read(self, path: str, size: int) -> None:
        """A file was read, whatever came of it."""
        kind, counting = _kind(path), _counting(size)
        self._left[kind] = max(0, self._left[kind] - counting)
        self._seen[kind] += counting

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

    def _density(self, kind: str) -> float:
        expected = BINARY_DENSITY if kind in BINARY else DENSITY
        if kind in IMAGES or not has_name(f"x.{kind}"):  # nor of most fonts, archives
            expected = 0.0
        return (self._tokens[kind] + DOUBT * expected) / (self._seen[kind] + DOUBT)


def _kind(path: str) -> str:
    return os.path.splitext(path)[1][1:].lower()


def _counting(size: int) -> int:
    return min(size, MOST_OF_ONE)


class Pace:
    """The time that is left, from what was done in the time that has passed.

    Vectors of a batch come when the slowest of it are made, so only what is stored is counted; in
    between, the clock runs. What is loaded before the first of them counts for nothing.
    """

    def __init__(self) -> None:
        self._start: tuple[float, float] | None = None  # when, and how much was done
        self._stored: tuple[float, float] | None = None  # … when something was stored last

    def left(self, now: float, progress: Advancing) -> float | None:
        """Seconds; None while nobody can say."""
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
        total = progress.work + progress.left
        return max(0.0, passed / made * (total - done) - (now - at))
