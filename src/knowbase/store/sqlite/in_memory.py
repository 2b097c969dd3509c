"""The vectors of a small base in memory: after a write only what has changed is read again.

Seals say what has (`store/seals.py`): they lie beside the vectors, and are a hundredth of them.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from knowbase.store.sqlite.scan import SMALL, blocks, halves_of, vectors_of
from knowbase.store.sqlite.vector_tables import vector_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from knowbase.store.sqlite.connection import Found
    from knowbase.store.sqlite.scan import Blocks, Flags, Floats, Integers

_SMALLEST = 10_000  # chunks: of fewer as they are compared, in the same 15 MB as `SMALL`
_FEW = 500  # vectors that have changed: more are not read one by one


class Block(NamedTuple):
    """Some chunks, and of each the seal and the vector."""

    chunks: "Integers"
    seals: "Integers"  # none where one is missing
    vectors: "Floats"

    def only(self, flags: "Flags") -> "Block":
        if flags.all():
            return self
        return Block(self.chunks[flags], self.seals[flags], self.vectors[flags])


class InMemory:
    """The vectors of a model, for whoever compares them. To be asked within a transaction."""

    def __init__(self, connection: "apsw.Connection", model: int, kept: "Found") -> None:
        self._connection = connection
        self._model = model
        self._kept = kept

    def __call__(self, is_worth_it: bool) -> "Blocks | None":
        """All of a small base are kept until somebody writes: to read them takes most of a
        search, and of what is left most is to make floats of them."""
        key = ("vectors", self._model)
        found: Blocks | None = self._kept.get(key)
        if found is None and is_worth_it:
            sql = f"SELECT coalesce(max(chunk_id), 0) FROM {vector_table(self._model)}"
            last: Any = self._connection.execute(sql).get
            if last <= SMALL:
                kind = np.dtype("<f4" if last <= _SMALLEST else "<f2")
                made = self._renewed(self._kept.before.get(key, ()), kind) or self._anew(kind)
                self._kept.before[key] = made
                found = self._kept.keep(key, [(one.chunks, one.vectors) for one in made])
        return found

    def _renewed(self, former: "Sequence[Block]", kind: "np.dtype[Any]") -> list[Block]:
        """What still holds of an earlier state, and what has come since; nothing where to read
        all is simpler."""
        if any(one.vectors.dtype != kind or len(one.seals) < len(one.chunks) for one in former):
            return []
        sealed = self._seals() if former else None
        if sealed is None:
            return []
        chunks, seals = sealed
        is_new = np.ones(len(chunks), bool)
        held = []
        for block in former:
            at = np.minimum(np.searchsorted(chunks, block.chunks), len(chunks) - 1)
            same = (chunks[at] == block.chunks) & (seals[at] == block.seals)
            is_new[at[same]] = False
            held.append(block.only(same))
        if np.count_nonzero(is_new) > _FEW:
            return []
        numbers, vectors = vectors_of(self._connection, self._model, chunks[is_new])
        if not np.array_equal(numbers, chunks[is_new]):
            return []
        return _put_together(
            [*held, Block(numbers, seals[is_new], vectors.astype(kind, copy=False))]
        )

    def _anew(self, kind: "np.dtype[Any]") -> list[Block]:
        """All of them. As floats they are one block: each call of numpy takes its time."""
        read = blocks if kind == np.float32 else halves_of
        made = [Block(one, one[:0], held) for one, held in read(self._connection, self._model)]
        if made and kind == np.float32:
            made = [_joined(made)]
        sealed = self._seals()
        if (
            sealed is None
            or not made
            or not np.array_equal(sealed[0], np.concatenate([one.chunks for one in made]))
        ):
            return made
        starts = np.cumsum([len(one.chunks) for one in made[:-1]], dtype="i8")
        return [
            one._replace(seals=seals)
            for one, seals in zip(made, np.split(sealed[1], starts), strict=True)
        ]

    def _seals(self) -> "tuple[Integers, Integers] | None":
        """The chunks that have vectors, rising, and the seal of each; None where one has none, as
        in a base of an earlier version."""
        sql = (
            "SELECT group_concat(chunk), CAST(group_concat(seal, '') AS BLOB) FROM"
            " (SELECT chunk, seal FROM embedded WHERE model = ? ORDER BY chunk)"
        )
        found: Any = self._connection.execute(sql, (self._model,)).fetchall()
        listed, seals = found[0]
        if listed is None or seals is None:
            return None
        chunks = np.fromstring(listed, "i8", sep=",")
        if len(seals) != 8 * len(chunks):
            return None
        return chunks, np.frombuffer(seals, "<i8")


def _put_together(made: "Sequence[Block]") -> list[Block]:
    """Few blocks: a last one that is not much smaller than the one before is joined with it."""
    found = [one for one in made if len(one.chunks)]
    while len(found) > 1 and 2 * len(found[-1].chunks) >= len(found[-2].chunks):
        *found, before, last = found
        found.append(_joined((before, last)))
    return found


def _joined(some: "Sequence[Block]") -> Block:
    chunks, seals, vectors = zip(*some, strict=True)
    return Block(np.concatenate(chunks), np.concatenate(seals), np.concatenate(vectors))
