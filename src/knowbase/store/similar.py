"""SIMILAR_TO: each document is linked with those nearest to it, and with those to whom it is near.

A pair is linked when either is among the `most` nearest of the other above the threshold. So the
nearest of a document are the first of its links, and what is new can be put among them: only what
is new, and whoever lost one of his nearest, is compared with everything. When much is new, all is.
"""

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias
from weakref import WeakValueDictionary

from knowbase import deadline
from knowbase.errors import TookTooLong
from knowbase.values.edges import MOST_SIMILAR

if TYPE_CHECKING:
    from numpy import floating, integer
    from numpy.typing import NDArray

    from knowbase.store.neighbours import Vectors

    Floats = NDArray[floating]
    Integers = NDArray[integer]

__all__ = ("MOST_SIMILAR", "Block", "Due", "Found", "Links", "Moment", "Rule", "link")

_TRIES = 3
_MANY = 4  # a quarter of all documents, or more: then all of them are compared anew
_PRODUCTS = 50_000_000  # of new vectors with all, in one pass: bounds the pairs in memory
_ORDERED = 8192  # vectors that are put in order at once
_comparing: WeakValueDictionary[str, threading.Lock] = WeakValueDictionary()  # by base

Links: TypeAlias = dict[int, dict[int, float]]
"""For a document those it is linked with, and the cosine similarity."""

Pair: TypeAlias = tuple[int, int]
"""Two documents, the lower number first."""


class Rule(NamedTuple):
    """Which documents are linked."""

    threshold: float
    most: int


class Due(NamedTuple):
    """What is to be compared."""

    version: int  # another one when a vector or a link has changed
    documents: list[int]  # whose vectors changed, or who lost one of the nearest
    all_documents: int
    vectors: int
    is_whole: bool  # everything, since the rule is another one


class Block(NamedTuple):
    """Some vectors of the base, one behind the other, and the chunks that they belong to."""

    chunks: "Integers"
    matrix: "Floats"


class Moment(Protocol):
    """A base as it is at one moment."""

    def due(self, rule: Rule) -> Due: ...

    def chunks_of(self, documents: Sequence[int]) -> Mapping[int, int]:
        """The chunks of these documents, unless they are forgotten, and whose they are."""

    def owners(self, chunks: Collection[int] | None) -> Mapping[int, int]:
        """Whose these chunks are, or all; those of forgotten documents are left out."""

    def vectors(self, chunks: Sequence[int]) -> Block:
        """The vectors of these chunks."""

    def blocks(self) -> Iterator[Block]:
        """Every vector of the active model."""

    def links(self, documents: Collection[int]) -> Links:
        """The documents that these are linked with by similarity."""

    def marks(self, documents: Collection[int] | None) -> Mapping[int, object]:
        """For these documents, or all, that are there: another mark when their vectors are others,
        or when they were forgotten."""


class Found(NamedTuple):
    """What is to be written."""

    version: int
    is_whole: bool
    documents: list[int]  # that were compared: their links are those added
    added: dict[Pair, float]
    dropped: list[Pair]  # links of others that are not among the nearest any more
    again: list[int]  # others that are to be compared, having lost one of their nearest
    marks: Mapping[int, object]  # of those compared, as they were
    similar: Links  # of those compared, all above the threshold; unless everything was


class Linking(Protocol):
    """What an engine lends."""

    def is_due(self) -> bool: ...

    def read(self, work: "Callable[[Moment], Found]") -> Found:
        """Do the work on one state of the base."""

    def write(self, found: Found) -> Found | None:
        """What was written: less when vectors or links have changed since it was read."""


def link(engine: Linking, rule: Rule, base: str) -> int:
    """Compare what is due while nobody has to wait, then write the links; how many documents.

    When others have changed vectors meanwhile, what still holds is written, and the rest is
    compared again, but not for ever: what is left is due for whoever comes next. The threads of a
    base do so one at a time: the first one does the work of those who wait, as long as they can.
    """
    if not engine.is_due():
        return 0
    comparing = _comparing.setdefault(base, threading.Lock())
    left = deadline.seconds_left()
    if not comparing.acquire(timeout=-1 if left is None else left):
        raise TookTooLong("similar documents are being linked", hint="ask again later")
    try:
        return _link(engine, rule)
    finally:
        comparing.release()


def _link(engine: Linking, rule: Rule) -> int:
    looked_at, disturbed = 0, 0
    while disturbed < _TRIES and engine.is_due():
        found = engine.read(lambda moment: compare(moment, rule))
        written = engine.write(found)
        looked_at += len(written.documents) if written else 0
        disturbed += written is not found
    return looked_at


def compare(moment: Moment, rule: Rule) -> Found:
    """The links of what is due, or of as much of it as one pass can take."""
    due = moment.due(rule)
    if due.is_whole or len(due.documents) * _MANY > due.all_documents:
        return _all_anew(moment, due, rule)
    return _some(moment, due, rule)


def _all_anew(moment: Moment, due: Due, rule: Rule) -> Found:
    from knowbase.store.neighbours import nearest

    marks = moment.marks(None)
    near = nearest(_every_vector(moment), *rule)
    added = {
        (document, other) if document < other else (other, document): cosine
        for document, other, cosine in zip(
            near.documents.tolist(), near.others.tolist(), near.cosines.tolist(), strict=True
        )
    }
    return Found(due.version, True, due.documents, added, [], [], marks, {})


def _every_vector(moment: Moment) -> "Vectors":
    """All vectors in the order of their chunks; many in a file, not in memory."""
    import numpy as np

    from knowbase.store.neighbours import COMPARED_WITH_ALL, Vectors

    owners = moment.owners(None)
    chunks, matrix = _gathered(_owned(moment.blocks(), owners), COMPARED_WITH_ALL)
    order = np.argsort(chunks, kind="stable")
    if (np.diff(order) < 0).any():
        chunks, matrix = _gathered(_ordered(chunks, matrix, order), COMPARED_WITH_ALL)
    known = np.fromiter((owners[chunk] for chunk in chunks.tolist()), "i8", len(chunks))
    return Vectors(known, matrix)


def _owned(blocks: "Iterable[Block]", owners: Mapping[int, int]) -> "Iterator[Block]":
    import numpy as np

    for block in blocks:
        known = np.fromiter((one in owners for one in block.chunks.tolist()), "?")
        yield block if known.all() else Block(block.chunks[known], block.matrix[known])


def _ordered(chunks: "Integers", matrix: "Floats", order: "Integers") -> "Iterator[Block]":
    for start in range(0, len(order), _ORDERED):
        some = order[start : start + _ORDERED]
        yield Block(chunks[some], matrix[some])


def _gathered(blocks: "Iterable[Block]", in_memory: int) -> "tuple[Integers, Floats]":
    import tempfile

    import numpy as np

    chunks, kept, number = [np.empty(0, dtype="i8")], [], 0
    file = None
    for block in blocks:
        deadline.check()
        chunks.append(block.chunks)
        number += len(block.chunks)
        kept.append(block.matrix)
        if number > in_memory:
            file = file or tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as its map
            for one in kept:
                file.write(one.tobytes())
            kept = []
    if file is None:
        return np.concatenate(chunks), np.concatenate(kept) if kept else np.empty((0, 1), "f4")
    file.flush()
    return np.concatenate(chunks), np.memmap(file, dtype="<f4", mode="r").reshape(number, -1)


def _some(moment: Moment, due: Due, rule: Rule) -> Found:
    """Those that are due, as many as one pass takes, compared with everything."""
    documents, own = _as_many_as_fit(moment, due)
    similar = _similar(moment, own, rule)
    marks = moment.marks(documents)
    return _settled(moment, Found(due.version, False, documents, {}, [], [], marks, similar), rule)


def _settled(moment: Moment, found: Found, rule: Rule) -> Found:
    """With what becomes of links, by what is similar to those that were compared."""
    documents, similar = found.documents, found.similar
    near = {one: dict(_first(similar.get(one, {}), rule.most)) for one in documents}
    added = {_pair(one, other): value for one in documents for other, value in near[one].items()}
    changes = _Settling(moment, documents, similar, rule).run()
    added.update(changes.added)
    return found._replace(added=added, dropped=changes.dropped, again=changes.again)


def still_valid(moment: Moment, found: Found, rule: Rule) -> Found | None:
    """What holds of it in a base that has changed since; what has changed stays due."""
    if found.is_whole:
        return _unchanged_of_all(moment.marks(None), found, rule)
    due = moment.due(rule)
    if due.is_whole:
        return None
    others = {other for near in found.similar.values() for other in near}
    marks = moment.marks(others.union(found.documents))
    same = {one for one, mark in found.marks.items() if marks.get(one) == mark}
    documents = [one for one in found.documents if one in same]
    there = marks.keys() - (set(due.documents) - set(documents))  # compared when it is their turn
    similar = {
        one: {other: cosine for other, cosine in found.similar[one].items() if other in there}
        for one in documents
        if one in found.similar
    }
    if not documents:
        return None
    return _settled(moment, found._replace(documents=documents, similar=similar), rule)


def _unchanged_of_all(marks: Mapping[int, object], found: Found, rule: Rule) -> Found | None:
    """Whoever is linked with as many as may be, one of which has changed, is due as well: who
    takes its place is not known."""
    changed = {one for one, mark in found.marks.items() if marks.get(one) != mark}
    changed |= marks.keys() - found.marks.keys()
    numbers = Counter(one for pair in found.added for one in pair)
    lost = {one for pair in found.added if changed.intersection(pair) for one in pair}
    again = {one for one in lost if numbers[one] >= rule.most} | changed
    documents = [one for one in found.documents if one not in again]
    if not documents:
        return None
    kept = {pair: cosine for pair, cosine in found.added.items() if changed.isdisjoint(pair)}
    return found._replace(documents=documents, added=kept, again=sorted(again & marks.keys()))


def _as_many_as_fit(moment: Moment, due: Due) -> tuple[list[int], Mapping[int, int]]:
    """Documents, and whose each of their chunks is."""
    rows = max(1, _PRODUCTS // max(1, due.vectors))
    documents: list[int] = []
    own: dict[int, int] = {}
    for start in range(0, len(due.documents), 50):
        some = due.documents[start : start + 50]
        own.update(moment.chunks_of(some))
        documents += some
        if len(own) >= rows:
            break
    return documents, own


def _similar(moment: Moment, own: Mapping[int, int], rule: Rule) -> Links:
    """For the owners of these chunks every document above the threshold."""
    import numpy as np

    from knowbase.store.neighbours import above, best_of, exact

    if not own:
        return {}
    numbers, matrix = moment.vectors(list(own))
    if not len(numbers):
        return {}
    mine = np.array([own[chunk] for chunk in numbers.tolist()])
    parts = []
    for block in moment.blocks():
        deadline.check()
        left, right = above(matrix, block.matrix, rule.threshold)
        parts.append((left, block.chunks[right], exact(matrix, left, block.matrix, right)))
    left, chunks, cosines = (np.concatenate(part) for part in zip(*parts, strict=True))
    found = np.unique(chunks)
    owners = moment.owners(found.tolist())
    theirs = np.fromiter((owners.get(one, -1) for one in found.tolist()), "i8", len(found))
    others = theirs[np.searchsorted(found, chunks)]
    apart = (others >= 0) & (others != mine[left])
    near = best_of(mine[left][apart], others[apart], cosines[apart], rule.threshold)
    links: Links = {}
    for document, other, cosine in zip(
        near.documents.tolist(), near.others.tolist(), near.cosines.tolist(), strict=True
    ):
        links.setdefault(document, {})[other] = cosine
    return links


class _Settling:
    """What becomes of the links of others, once some documents have been compared."""

    def __init__(
        self, moment: Moment, documents: Sequence[int], similar: Links, rule: Rule
    ) -> None:
        self._moment = moment
        self._most = rule.most
        self._compared = set(documents)
        self._nearby: Links = {}  # of others, among those compared
        for document, others in similar.items():
            for other, cosine in others.items():
                if other not in self._compared:
                    self._nearby.setdefault(other, {})[document] = cosine
        self._before = moment.links(documents)
        self.added: dict[Pair, float] = {}
        self.dropped: list[Pair] = []
        self.again: list[int] = []

    def run(self) -> "_Settling":
        linked = {other for one in self._before.values() for other in one} - self._compared
        known = self._moment.links(linked | self._nearby.keys())
        displaced: list[Pair] = []
        for other in linked | self._nearby.keys():
            displaced += self._settle(other, known.get(other, {}))
        self._drop(displaced, known)
        return self

    def _settle(self, other: int, links: dict[int, float]) -> list[Pair]:
        """Put what was compared among the nearest of another one; what that displaces."""
        before = _first(links, self._most)
        new = self._nearby.get(other, {})
        last = before[-1][1] if len(before) == self._most else -2.0
        lost = [one for one, _ in before if one in self._compared]
        if last > -2.0 and any(_fell(links[one], new.get(one, -2.0), last) for one in lost):
            self.again.append(other)  # what was farther than them all may now be among them
        stayed = {one: cosine for one, cosine in links.items() if one not in self._compared}
        after = dict(_first({**stayed, **new}, self._most))
        self.added.update(
            {_pair(one, other): cosine for one, cosine in after.items() if one in new}
        )
        return [(other, one) for one, _ in before if one not in after and one not in self._compared]

    def _drop(self, displaced: list[Pair], known: Links) -> None:
        """Drop the link with what was displaced, unless it is the other's wish, too."""
        missing = {one for _, one in displaced} - known.keys()
        known = {**known, **(self._moment.links(missing) if missing else {})}
        for other, one in displaced:
            stayed = {n: c for n, c in known.get(one, {}).items() if n not in self._compared}
            after = dict(_first({**stayed, **self._nearby.get(one, {})}, self._most))
            if other not in after:
                self.dropped.append(_pair(other, one))


def _fell(before: float, now: float, last: float) -> bool:
    """Whether one of the nearest is now as far as others may be that are not known."""
    return now < last or (now == last and now != before)


def _first(links: Mapping[int, float], most: int) -> list[tuple[int, float]]:
    """The nearest; of equal ones, those with the lowest numbers."""
    return sorted(links.items(), key=lambda one: (-one[1], one[0]))[:most]


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
