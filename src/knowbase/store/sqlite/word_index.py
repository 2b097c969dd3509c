"""The index of words beside a base: the same scores as FTS5's, to the last bit, in less time.

It may be older than the base: what has changed since (`change_log.py`) is left out of it, and read
and counted from the base. How many rows there are and how long they are together, FTS5 says. What
cannot be answered exactly is left to FTS5.
"""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from knowbase.store.bm25 import K1, B, Population
from knowbase.store.sqlite.change_log import WORDS
from knowbase.store.sqlite.mapped import Loading
from knowbase.store.sqlite.packing import plain
from knowbase.store.sqlite.scan import Among
from knowbase.store.sqlite.scoring import population
from knowbase.store.sqlite.word_segments import (
    FIELDS,
    MAGIC,
    Current,
    Row,
    Words,
    open_words,
    read_current,
)
from knowbase.store.tokenizer import stems_alone
from knowbase.text.analysis import Word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from knowbase.query.words import FieldWeights
    from knowbase.store.sqlite.scan import Flags, Floats, Integers

_LEAST = 2_000  # so many that changed are read in any case
_CHANGED = 8  # but no more than an eighth of all
_TOKENIZED = 4_096  # rows that are kept in memory as they were counted
LISTED = "WHERE id IN (SELECT value FROM json_each(?))"
_KEPT = (
    "SELECT id, document, title, coalesce(heading, ''), text, terms,"
    " (SELECT terms FROM documents WHERE seq = c.document) FROM chunks c"
)


def indexed(
    connection: "apsw.Connection", which: str = "", values: tuple[str, ...] = ()
) -> "Iterator[Row]":
    """What is indexed of chunks, by their numbers: unpacked here, since what SQL unpacks is made
    a text twice; and what all chunks of a document begin with once for those that come together.
    """
    last, shared = None, ""
    kept: Any = connection.execute(f"{_KEPT} {which} ORDER BY id", values)
    for chunk, document, title, heading, text, terms, of_all in kept:
        if document != last:
            last, shared = document, plain(of_all) or ""
        yield chunk, document, title, heading, plain(text), f"{shared}{plain(terms)}"


class Postings(NamedTuple):
    """The rows of a part that have a word, rising, and how often: weighed by field, as the table
    has it for the code of each."""

    rows: "Integers"
    codes: "Integers"
    table: "Floats"

    @classmethod
    def of(cls, rows: "Integers", frequencies: "Floats") -> "Postings":
        return cls(rows, np.arange(len(rows)), frequencies)


class Part:
    """Chunks whose words can be asked for: a segment, or what is newer than all of them."""

    chunks: "Integers"  # rising
    documents: "Integers"
    lengths: "Integers"
    alive: "Flags | None" = None  # None: all

    def __init__(self) -> None:
        self._norms: tuple[float, Floats | None] = (0.0, None)

    def of(self, chunks: "Integers") -> "Integers":
        """The rows of those chunks that count here; they must rise."""
        first, last = np.searchsorted(chunks, (self.chunks[0], self.chunks[-1] + 1))
        some = chunks[first:last]
        at = np.searchsorted(self.chunks, some)
        there: Integers = at[self.chunks[at] == some].astype("u2")
        return there if self.alive is None else there[self.alive[there]]

    def passing(self, among: "Among") -> "Integers":
        """The rows that pass."""
        flags = among.passing(self.chunks)
        return np.flatnonzero(flags if self.alive is None else flags & self.alive).astype("u2")

    def norms(self, average: float) -> "Floats":
        """What BM25 adds below the line for each row."""
        known, found = self._norms
        if found is None or known != average:
            found = K1 * (1 - B + B * self.lengths.astype("f8") / average)
            self._norms = average, found
        return found

    def having(self, stem: str) -> int:
        """How many rows have a stem."""
        return len(self.postings(stem, (1.0,) * FIELDS, prefix=False).rows)

    def postings(self, stem: str, weights: "Sequence[float]", *, prefix: bool) -> Postings:
        raise NotImplementedError

    def matching(self, word: Word, weights: "FieldWeights") -> Postings | None:  # noqa: ARG002
        """The rows that have a word, or several in a row, where FTS5 has to be asked for them in
        any case; None: where it has not."""
        return None


class Shard(Part):
    """A segment, and which of its rows still count."""

    def __init__(self, words: Words) -> None:
        super().__init__()
        self.words = words
        self.chunks, self.documents, self.lengths = words.chunks, words.documents, words.lengths
        self._weighed: tuple[Any, Floats] = (None, np.empty(0))

    def without(self, chunks: "Integers") -> None:
        """Later segments have these, or they are gone."""
        rows = self.of(chunks) if len(self.chunks) else chunks
        if len(rows):
            alive = np.ones(len(self.chunks), bool) if self.alive is None else self.alive
            alive[rows] = False
            self.alive = alive

    def up_to(self, chunk: int) -> None:
        """Leave out that one and all behind it."""
        end = int(np.searchsorted(self.chunks, chunk))
        if end < len(self.chunks):
            alive = np.ones(len(self.chunks), bool) if self.alive is None else self.alive
            alive[end:] = False
            self.alive = alive

    def having(self, stem: str) -> int:
        first, last = self._terms(stem, prefix=False)
        start, end = int(self.words.starts[first]), int(self.words.starts[last])
        if self.alive is None:
            return end - start
        return int(np.count_nonzero(self.alive[self.words.rows[start:end]]))

    def postings(self, stem: str, weights: "Sequence[float]", *, prefix: bool) -> Postings:
        first, last = self._terms(stem, prefix=prefix)
        start, end = int(self.words.starts[first]), int(self.words.starts[last])
        rows, codes = self.words.rows[start:end], self.words.codes[start:end]
        if self.alive is not None:
            there = self.alive[rows]
            rows, codes = rows[there], codes[there]
        table = self._frequencies(weights)
        if last <= first + 1:
            return Postings(rows, codes, table)
        sums: Floats = np.bincount(rows, table[codes]).astype("f8")
        some = np.flatnonzero(sums)
        return Postings.of(some.astype("u2"), sums[some])

    def _frequencies(self, weights: "Sequence[float]") -> "Floats":
        """What each code counts."""
        known, found = self._weighed
        if known != weights:
            found = self.words.counts @ np.array(weights, "f8")
            self._weighed = weights, found
        return found

    def _terms(self, stem: str, *, prefix: bool) -> tuple[int, int]:
        """Where the stems lie that are meant: from one on, up to another."""
        name = stem.encode()
        first = self._before(name)
        if prefix:
            return first, self._before(name + b"\xff")
        is_there = first < len(self.words.places) - 1 and self._name(first) == name
        return first, first + is_there

    def _before(self, name: bytes) -> int:
        """How many stems come before it."""
        low, high = 0, len(self.words.places) - 1
        while low < high:
            middle = (low + high) // 2
            if self._name(middle) < name:
                low = middle + 1
            else:
                high = middle
        return low

    def _name(self, term: int) -> bytes:
        start, end = self.words.places[term : term + 2].tolist()
        found: bytes = self.words.letters[start:end]
        return found


class Fresh(Part):
    """What is newer than the index, as the base has it."""

    def __init__(self, rows: "Sequence[tuple[Any, ...]]") -> None:
        super().__init__()
        self.chunks = np.array([row[0] for row in rows], "i8")
        self.documents = np.array([row[1] for row in rows], "i8")
        self._counted = [_counted(*row[2:]) for row in rows]
        self.lengths = np.array([length for length, _ in self._counted], "u4")

    def postings(self, stem: str, weights: "Sequence[float]", *, prefix: bool) -> Postings:
        found = {}
        for row, (_, counts) in enumerate(self._counted):
            names = [one for one in counts if one.startswith(stem)] if prefix else [stem]
            fields = [counts[one] for one in names if one in counts]
            if fields:
                found[row] = sum(w * n for one in fields for w, n in zip(weights, one, strict=True))
        return Postings.of(np.array([*found], "u2"), np.array([*found.values()], "f8"))


@lru_cache(_TOKENIZED)
def _counted(*fields: str) -> tuple[int, dict[str, list[int]]]:
    """How many words a row has, and how often each stem is in each field."""
    counts: dict[str, list[int]] = {}
    length = 0
    for field, text in enumerate(fields):
        found = stems_alone(text)
        length += len(found)
        for stem in found:
            counts.setdefault(stem, [0] * FIELDS)[field] += 1
    return length, counts


class Loaded(NamedTuple):
    """An index, mapped and found to be sound."""

    current: Current
    shards: tuple[Words, ...]
    dead: tuple["Integers", ...]  # of each: chunks that later ones have, or that are gone
    rows: int


def _in_any(chunks: "Integers", lists: "Sequence[Integers]") -> "Integers":
    """Those of the chunks that are in one of the lists; all of them rise, and most lie apart."""
    found = [chunks[:0]]
    for one in lists if len(chunks) else ():
        first, last = np.searchsorted(one, (chunks[0], chunks[-1] + 1))
        some = one[first:last]
        found.append(some[chunks[np.searchsorted(chunks, some)] == some])
    return np.unique(np.concatenate(found))


class InStep(NamedTuple):
    """An index for the state of a transaction: its parts, and what is newer."""

    parts: tuple[Part, ...]
    population: Population

    def having(self, stem: str, among: "Among | None") -> "tuple[Integers, Integers]":
        """The chunks that pass and have a stem, and the document of each."""
        chunks, documents = [np.empty(0, "i8")], [np.empty(0, "i8")]
        for part in self.parts:
            rows = part.postings(stem, (1.0,) * FIELDS, prefix=False).rows
            if among is not None:
                rows = rows[among.passing(part.chunks[rows])]
            chunks.append(part.chunks[rows])
            documents.append(part.documents[rows])
        return np.concatenate(chunks), np.concatenate(documents)

    def among(self, documents: "Integers") -> "Among":
        """The chunks of some documents."""
        last = max((int(part.chunks[-1]) for part in self.parts), default=0)
        flags = np.zeros(last + 2, bool)
        for part in self.parts:
            wanted = np.zeros(int(part.documents.max()) + 1, bool)
            wanted[documents[documents < len(wanted)]] = True
            there = wanted[part.documents]
            if part.alive is not None:
                there &= part.alive
            flags[part.chunks[there]] = True
        return Among(flags)


class WordIndex(Loading[Loaded]):
    """The index of words in a folder."""

    magic = MAGIC

    def load(self) -> Loaded:
        current = read_current(self.folder)
        shards = tuple(open_words(self.folder, one) for one in current.segments)
        later: list[Integers] = []
        dead = []
        for words in reversed(shards):
            dead.append(_in_any(words.chunks, later))
            later += [words.chunks, words.gone]
        rows = sum(len(one.chunks) for one in shards) - sum(map(len, dead))
        return Loaded(current, shards, tuple(reversed(dead)), rows)

    def changed(self, connection: "apsw.Connection", loaded: Loaded) -> list[int] | None:
        """What changed since it was written; None: it is not one of this state."""
        place, token = loaded.current[:2]
        if not WORDS.has_checkpoint(connection, 0, place, token):
            return None
        most = max(_LEAST, loaded.rows // _CHANGED)
        changed = WORDS.changed_since(connection, 0, place, most)
        return changed if len(changed) <= most else None

    def in_step(
        self,
        connection: "apsw.Connection",
        loaded: Loaded,
        gone: "Integers | None" = None,
        before: int | None = None,
    ) -> InStep | None:
        """The index for the state that this transaction sees, but for chunks that are to be left
        out, and those from a number on."""
        changed = self.changed(connection, loaded)
        if changed is None:
            return None
        numbers = fresh = np.array(sorted(changed), "i8")
        if gone is not None:
            fresh = np.setdiff1d(numbers, gone) if changed else numbers
            numbers = np.union1d(numbers, gone) if changed else gone
        parts: list[Part] = []
        for words, dead in zip(loaded.shards, loaded.dead, strict=True):
            if len(words.chunks):
                shard = Shard(words)
                shard.without(dead)
                shard.without(numbers)
                if before is not None:
                    shard.up_to(before)
                parts.append(shard)
        if before is not None:
            fresh = fresh[: np.searchsorted(fresh, before)]
        listed = "[" + ",".join(map(str, fresh.tolist())) + "]"
        rows = [*indexed(connection, LISTED, (listed,))]
        for start in range(0, len(rows), _TOKENIZED):
            parts.append(Fresh(rows[start : start + _TOKENIZED]))
        return InStep(tuple(parts), population(connection))
