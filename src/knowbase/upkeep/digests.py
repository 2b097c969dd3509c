"""Whether two bases are the same: how much there is of each kind, and a hash of it."""

import hashlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

from knowbase.ingest.embedding import Step
from knowbase.store.contract import CopySource
from knowbase.store.seals import canonical
from knowbase.values.copies import ChunkCopy, Copy, Frame, SharedParts, in_batches
from knowbase.values.documents import Chunk
from knowbase.values.synonyms import SYNONYMS

_TEXT = Chunk._fields.index("text")


class Part(NamedTuple):
    """Everything of one kind."""

    name: str
    rows: int
    sha256: str


class _Sum:
    """A part while it is read."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._rows = 0
        self._hash = hashlib.sha256()

    def add(self, values: Iterable[object]) -> None:
        found = [canonical(value) for value in values]
        self.add_bytes(found, len(found))

    def add_bytes(self, values: Iterable[bytes], rows: int) -> None:
        self._rows += rows
        for value in values:
            self._hash.update(value)

    def part(self) -> Part:
        return Part(self._name, self._rows, self._hash.hexdigest())


def same(one: Copy, other: Copy | None) -> bool:
    """Whether two documents are the same in everything."""
    return other is not None and canonical(one) == canonical(other)


def is_empty(whole: CopySource) -> bool:
    """Whether there is nothing that a copy would be in the way of."""
    return not whole.seqs() and not any(whole.shared()[:7])


def _parts_of(copy: ChunkCopy) -> tuple[bytes, bytes]:
    """All but its vectors. Its text as it is: to make `canonical` of it takes longer than all else
    that is done to compare it."""
    chunk: list[object] = list(copy.chunk)
    chunk[_TEXT] = ""
    text = copy.chunk.text.replace("\0", "\ufffd").encode("utf-8", "surrogatepass")
    return canonical((copy.id, copy.position, *chunk, copy.title, copy.terms, len(text))), text


class Digests:
    """Those of a base, while its documents are read in their order."""

    def __init__(self) -> None:
        self._documents, self._chunks, self._vectors = map(_Sum, ("documents", "chunks", "vectors"))

    def add(self, copies: Iterable[Copy]) -> None:
        for copy in copies:
            self._documents.add([copy._replace(chunks=())])
            for one in copy.chunks:
                self._chunks.add_bytes(_parts_of(one), 1)
            vectors = [(one.id, *given) for one in copy.chunks for given in one.vectors]
            named = canonical([(chunk, *model) for chunk, model, _ in vectors])
            # Most of a base's bytes: as they are, for a text of them takes longer than all else.
            self._vectors.add_bytes((named, *(vector for *_, vector in vectors)), len(vectors))

    def parts(self, whole: CopySource) -> tuple[Part, ...]:
        """Every part of the base, of which all documents were added."""
        found = (self._documents, self._chunks, self._vectors)
        others = _others(whole.frame(), whole.shared())
        return (*(one.part() for one in found), *others)


def digests(
    whole: CopySource, progress: Callable[[Step], None] = lambda _: None
) -> tuple[Part, ...]:
    """Every part of a base."""
    found = Digests()
    for batch in in_batches(whole, lambda n, of: progress(Step(n, of, "documents compared"))):
        found.add(batch)
    return found.parts(whole)


def of_history(whole: CopySource) -> Part:
    """What the base was, change by change; how it was before the first is not counted."""
    found = _Sum("history")
    found.add(part for part in whole.history() if part.change.number)
    return found.part()


def _others(frame: Frame, shared: SharedParts) -> Iterable[Part]:
    kinds: dict[str, Iterable[object]] = {
        "models": frame.models,
        "sessions": shared.sessions,
        "uses": shared.uses,
        "relations": shared.relations,
        "files": shared.files,
        "sources": shared.sources,
        "saved searches": [one for one in shared.saved if not one.name.startswith(SYNONYMS)],
        "synonyms": [one for one in shared.saved if one.name.startswith(SYNONYMS)],
        "calibration": _learnt(shared),
        "similar documents": shared.similar,
        "counters": (
            *(frame.next_seq, frame.next_chunk),
            *(shared.similar_above, shared.similar_most, shared.unlinked),
        ),
    }
    for name, values in kinds.items():
        found = _Sum(name)
        found.add(values)
        yield found.part()


def _learnt(shared: SharedParts) -> Iterable[object]:
    known = shared.calibration
    return [(known.made_at, sorted(known.numbers.items()))] if known else []
