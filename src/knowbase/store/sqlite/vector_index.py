"""The index of vectors beside a base: codes choose what is compared, the base's vectors decide.

It may be older than the base: what has changed since (`change_log.py`) is left out of it and read
from the base. Both are read in the transaction of the search. One that cannot be used, whatever
the reason, costs nothing but time: then all vectors are compared.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from knowbase import deadline
from knowbase.store.sqlite.change_log import VECTORS
from knowbase.store.sqlite.codes import Query
from knowbase.store.sqlite.mapped import Loading
from knowbase.store.sqlite.scan import Compared, vectors_of
from knowbase.store.sqlite.segments import MAGIC, Current, Segment, open_segment, read_current

if TYPE_CHECKING:
    import apsw

    from knowbase.store.sqlite.scan import Among, Floats, Integers
    from knowbase.values.vectors import Vector

_ROWS = 65_536  # of a segment that are compared at once
_CHANGED = 8  # when more than an eighth has changed, all are compared
_READ = 25  # … and when more than this part would be read one by one
_LOWEST = float(np.finfo("f4").min)
_LEAST = 2_000  # so many are read in any case
_PICKED = 6  # codes are picked out if no more than a sixth pass
_LOOKED_UP = 64  # … by where each chunk lies, if these are far fewer


class Rows:
    """Where the chunks of a segment lie in it."""

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self._chunks, self._order = segment.chunks, None
        if not np.all(self._chunks[1:] > self._chunks[:-1]):
            self._order = np.argsort(segment.chunks, kind="stable")
            self._chunks = segment.chunks[self._order]
        self.dead = np.empty(0, "i8")  # later segments have them, or they are gone

    def of(self, chunks: "Integers") -> "Integers":
        """The rows of those chunks that are here, in order."""
        at = np.searchsorted(self._chunks, chunks)
        at[at == len(self._chunks)] = 0
        there = at[self._chunks[at] == chunks] if len(self._chunks) else at[:0]
        return np.sort(there if self._order is None else self._order[there])


class Loaded(NamedTuple):
    """An index, mapped and found to be sound."""

    current: Current
    parts: tuple[Rows, ...]

    @property
    def rows(self) -> int:
        return sum(one.rows for one in self.current.segments)


class InStep(NamedTuple):
    """An index, and what has changed since it was made."""

    loaded: Loaded
    changed: "Integers"


class VectorIndex(Loading[Loaded]):
    """The index of vectors in a folder."""

    magic = MAGIC

    def in_step(self, connection: "apsw.Connection", model: int) -> InStep | None:
        """The index as far as it goes for the state that this transaction sees."""
        loaded = self.loaded()
        if loaded is None or loaded.current.model != model:
            return None
        place, token = loaded.current.place, loaded.current.token
        if not VECTORS.has_checkpoint(connection, model, place, token):
            return None
        most = max(_LEAST, loaded.rows // _CHANGED)
        changed = VECTORS.changed_since(connection, model, place, most)
        return InStep(loaded, np.array(changed, "i8")) if len(changed) <= most else None

    def load(self) -> Loaded:
        current = read_current(self.folder)
        parts = tuple(
            Rows(open_segment(self.folder, one, current.dimensions)) for one in current.segments
        )
        later = np.empty(0, "i8")
        for part, following in zip(parts[-2::-1], parts[:0:-1], strict=True):
            more = following.segment
            later = np.unique(np.concatenate([later, more.chunks, more.gone]))
            part.dead = part.of(later)
        return Loaded(current, parts)


class Indexed:
    """The vectors of a model by their index, and which of their chunks pass."""

    def __init__(
        self,
        connection: "apsw.Connection",
        in_step: InStep,
        vector: "Vector",
        among: "Among | None" = None,
    ) -> None:
        self._connection = connection
        self._loaded, self._changed = in_step
        self._vector = vector
        self._query = np.frombuffer(vector, "<f4")
        self._among = among

    @property
    def _model(self) -> int:
        return self._loaded.current.model

    def nearest(self, most: int) -> "list[tuple[int, Vector]]":
        """The most similar ones that pass, by single-precision products, with their vectors."""
        few = max(_LEAST, self._loaded.rows // _READ)
        if len(self._query) != self._loaded.current.dimensions or most > few:
            return self._by_all(most)
        if self._among is not None and self._among.are_few(2 * most):
            every = vectors_of(self._connection, self._model, self._among.named)
            return _Exact(*every, self._query).found(most)
        new = self._changed
        if self._among is not None and len(new):
            new = new[self._among.passing(new)]
        best = _Exact(*vectors_of(self._connection, self._model, new), self._query)
        chosen = self._chosen(most)
        first = chosen.first(most)
        if not self._read(chosen.chunks[first], best):
            return self._by_all(most)
        more = np.setdiff1d(np.flatnonzero(chosen.most > best.floor(most)), first)
        if len(more) > few or not self._read(chosen.chunks[more], best):
            return self._by_all(most)
        return best.found(most)

    def _read(self, chunks: "Integers", best: "_Exact") -> bool:
        """Whether the base has all that the index says it has."""
        found, matrix = vectors_of(self._connection, self._model, chunks)
        best.add(found, matrix)
        return len(found) == len(chunks)

    def _by_all(self, most: int) -> "list[tuple[int, Vector]]":
        return Compared(self._connection, self._model, self._vector, self._among).nearest(most)

    def _chosen(self, most: int) -> "_Chosen":
        """What may be among the nearest, by its codes."""
        query, chosen = Query(self._query), _Chosen(most)
        for part in self._loaded.parts:
            listed, coded = part.segment.listed, part.segment.coded
            chosen.slack = query.slack(listed.step, listed.length)
            left_out = np.union1d(part.dead, part.of(self._changed))
            rows = self._few(part, left_out)
            for start in range(0, listed.rows if rows is None else len(rows), _ROWS):
                deadline.check()
                some = slice(start, start + _ROWS) if rows is None else rows[start : start + _ROWS]
                about = query.products(coded.codes[some], coded.steps[some])
                chunks = part.segment.chunks[some]
                if rows is None:
                    first, end = np.searchsorted(left_out, (start, start + _ROWS))
                    about[left_out[first:end] - start] = -np.inf
                    if self._among is not None:
                        about[~self._among.passing(chunks)] = -np.inf
                chosen.take(chunks, about)
        return chosen.thinned()

    def _few(self, part: Rows, left_out: "Integers") -> "Integers | None":
        """The rows that pass, when it takes less to pick them out than to go over all."""
        among, rows = self._among, part.segment.listed.rows
        if among is None or among.is_open or _PICKED * among.number > rows:
            return None
        if _LOOKED_UP * among.number > rows:
            there: Integers = np.flatnonzero(among.passing(part.segment.chunks))
        else:
            there = part.of(among.named)
        return np.setdiff1d(there, left_out, assume_unique=True) if len(left_out) else there


class _Chosen:
    """What may be among the `most` nearest: about how near each is, and how near at most."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.slack = 0.0  # of what is taken
        self.chunks, self.about = np.empty(0, "i8"), np.empty(0, "f4")
        self.most = np.empty(0, "f4")
        self._waiting: list[tuple[Integers, Floats, Floats]] = []
        self._number = 0
        self._floor = -np.inf  # so near are enough of them at least

    def take(self, chunks: "Integers", about: "Floats") -> None:
        good = np.flatnonzero(about > np.float32(max(self._floor - self.slack, _LOWEST)))
        about = about[good]
        self._waiting.append((chunks[good], about, about + np.float32(self.slack)))
        self._number += len(good)
        if self._number > 4 * self._most:
            self.thinned()

    def thinned(self) -> "_Chosen":
        parts = [(self.chunks, self.about, self.most), *self._waiting]
        chunks, about, most = (np.concatenate(part) for part in zip(*parts, strict=True))
        if len(about) > self._most:
            least = about - (most - about)
            at = len(least) - self._most
            self._floor = max(self._floor, float(np.partition(least, at)[at]))
            kept = most >= self._floor
            chunks, about, most = chunks[kept], about[kept], most[kept]
        self.chunks, self.about, self.most = chunks, about, most
        self._waiting, self._number = [], 0
        return self

    def first(self, number: int) -> "Integers":
        """The places of those that are nearest by their codes."""
        if len(self.about) <= number:
            return np.arange(len(self.about))
        return np.argpartition(self.about, -number)[-number:]


class _Exact:
    """Vectors that were read, and how near they are."""

    def __init__(self, chunks: "Integers", matrix: "Floats", query: "Floats") -> None:
        self._query = query
        self._chunks, self._matrix = chunks, matrix
        self._scores = matrix @ query

    def add(self, chunks: "Integers", matrix: "Floats") -> None:
        self._chunks = np.concatenate([self._chunks, chunks])
        self._matrix = np.concatenate([self._matrix, matrix])
        self._scores = np.concatenate([self._scores, matrix @ self._query])

    def floor(self, most: int) -> float:
        """How near the last one of the nearest is at least."""
        if len(self._scores) < most:
            return -np.inf
        return float(np.partition(self._scores, -most)[-most])

    def found(self, most: int) -> "list[tuple[int, Vector]]":
        rows = np.flatnonzero(self._scores > -np.inf)  # one that is not a number is none
        if len(rows) > most:
            rows = rows[np.argpartition(self._scores[rows], -most)[-most:]]
        return [(int(self._chunks[row]), self._matrix[row].tobytes()) for row in rows]
