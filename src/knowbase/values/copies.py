"""A base in parts that every store can give and take: for copying it whole."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from knowbase.values.calibration import Calibration
from knowbase.values.changes import SavedSearch
from knowbase.values.documents import Chunk, Document
from knowbase.values.edges import Relation
from knowbase.values.files import FileRecord, Source
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, StoredModel, Vector

BATCH = 100  # documents; read or written at once
LARGE = 4096  # documents and chunks; written at once where there are many


def batches(seqs: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(seqs), BATCH):
        yield seqs[start : start + BATCH]


class ChunkCopy(NamedTuple):
    """A chunk as it is indexed, with its vectors of every model, in order of their arrival."""

    id: int
    position: int
    chunk: Chunk
    title: str
    terms: str
    vectors: tuple[tuple[Model, Vector], ...]


class GivenVerdict(NamedTuple):
    """What was found of a document on one occasion."""

    occasion: str
    good: bool
    given_at: str


class Copy(NamedTuple):
    """A document with everything that belongs to it alone."""

    document: Document
    said: Mapping[str, object]  # what was said of its lifecycle, by name
    links: tuple[Link, ...]  # sorted
    verdicts: tuple[GivenVerdict, ...]  # sorted
    chunks: tuple[ChunkCopy, ...]  # by position


class Frame(NamedTuple):
    """What the documents of a base are put into."""

    models: tuple[StoredModel, ...]  # in order of arrival
    next_seq: int
    next_chunk: int


class SharedParts(NamedTuple):
    """What belongs to no document alone; names, mentions and most edges are found from it."""

    sessions: tuple[Session, ...]
    uses: tuple[Use, ...]  # in the order in which they were written
    relations: tuple[Relation, ...]
    files: tuple[FileRecord, ...]
    sources: tuple[Source, ...]
    saved: tuple[SavedSearch, ...]
    similar: tuple[tuple[int, int, float], ...]  # SIMILAR_TO: the numbers, and the weight
    similar_above: float | None
    unlinked: tuple[int, ...]  # documents that are to be compared
    similar_most: int | None = None
    calibration: Calibration | None = None


def large(copies: Iterable[Sequence[Copy]]) -> Iterator[list[Copy]]:
    """The same in larger batches, by what is in them: a batch costs the same whatever its size."""
    found: list[Copy] = []
    size = 0
    for batch in copies:
        found += batch
        size += sum(1 + len(one.chunks) for one in batch)
        if size >= LARGE:
            yield found
            found, size = [], 0
    if found:
        yield found


class _Copied(Protocol):
    """A `knowbase.store.contract.CopySource`, as far as its documents go."""

    def seqs(self) -> list[int]: ...

    def copies(self, seqs: Collection[int]) -> list[Copy]: ...


def in_batches(
    source: _Copied, tell: Callable[[int, int], None] = lambda _, __: None
) -> Iterator[list[Copy]]:
    """All documents, so many at once, and how many of how many have been looked at."""
    seqs = source.seqs()
    done = 0
    for batch in batches(seqs):
        yield source.copies(batch)
        done += len(batch)
        tell(done, len(seqs))
