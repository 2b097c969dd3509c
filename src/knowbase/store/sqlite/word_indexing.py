"""Writing the index of words."""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from knowbase.store.sqlite.change_log import WORDS
from knowbase.store.sqlite.connection import Connections
from knowbase.store.sqlite.renewing import LARGER, Renewing
from knowbase.store.sqlite.scoring import population
from knowbase.store.sqlite.word_index import LISTED, Loaded, WordIndex, indexed
from knowbase.store.sqlite.word_segments import (
    MOST_ROWS,
    Current,
    Listed,
    made_of,
    write_current,
    write_words,
)

if TYPE_CHECKING:
    import apsw

    from knowbase.store.sqlite.scan import Integers

_PART = 4  # when a quarter of all rows is dead, all is written anew


class WordIndexing(Renewing):
    """Keeps the index of all chunks in step."""

    log = WORDS

    def __init__(self, connections: Connections, index: WordIndex, least: int) -> None:
        super().__init__(connections, index.folder, least)
        self._index = index

    def connection(self) -> "apsw.Connection":
        return self._connections.get()

    def model(self, connection: "apsw.Connection") -> int:  # noqa: ARG002 - there is one index
        return 0

    def number(self, connection: "apsw.Connection", model: int) -> int:  # noqa: ARG002 - the same
        return population(connection).rows

    def behind(self, connection: "apsw.Connection", model: int) -> int | None:  # noqa: ARG002
        changed = self._changed(connection)[1]
        return None if changed is None else len(changed)

    def write(
        self,
        connection: "apsw.Connection",
        model: int,  # noqa: ARG002 - the same
        checkpoint: tuple[int, str],
    ) -> tuple[str, ...]:
        segments = self._made(connection, *self._changed(connection))
        write_current(self._folder, Current(*checkpoint, segments))
        return tuple(one.name for one in segments)

    def _changed(self, connection: "apsw.Connection") -> tuple[Loaded | None, list[int] | None]:
        loaded = self._index.loaded()
        return loaded, self._index.changed(connection, loaded) if loaded else None

    def _made(
        self, connection: "apsw.Connection", loaded: Loaded | None, changed: list[int] | None
    ) -> tuple[Listed, ...]:
        kept, chunks = 0, None
        if loaded and changed is not None:
            kept, chunks = _absorbing(loaded, np.array(sorted(changed), "i8"))
        if loaded is None or chunks is None:
            return tuple(self._all(connection))
        listed = "[" + ",".join(map(str, chunks.tolist())) + "]"
        rows = [*indexed(connection, LISTED, (listed,))]
        gone = np.setdiff1d(chunks, np.array([row[0] for row in rows], "i8")).tolist()
        new = write_words(self._folder, made_of(rows, gone))
        return (*loaded.current.segments[:kept], new)

    def _all(self, connection: "apsw.Connection") -> Iterator[Listed]:
        rows = indexed(connection)
        while len((words := made_of(islice(rows, MOST_ROWS))).chunks):
            yield write_words(self._folder, words)


def _absorbing(loaded: Loaded, chunks: "Integers") -> "tuple[int, Integers | None]":
    """How many segments stay as they are, and the chunks of a new one; None: all of them."""
    kept = len(loaded.shards)
    for words in reversed(loaded.shards):
        more = np.union1d(chunks, np.union1d(words.chunks, words.gone))
        if len(words.chunks) > LARGER * len(chunks) or len(more) > MOST_ROWS:
            break
        chunks = more
        kept -= 1
    dead = sum(map(len, loaded.dead)) + len(chunks)
    is_much = dead * _PART > loaded.rows or len(chunks) > MOST_ROWS
    return (0, None) if kept == 0 or is_much else (kept, chunks)
