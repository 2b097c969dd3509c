"""Documents that wait to be embedded and written together, and what becomes of an odd one."""

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from knowbase.errors import (
    BaseError,
    EmbeddingError,
    KnowbaseError,
    ServiceUnavailable,
    ToolMissing,
)
from knowbase.ingest.drafts import Drafter, Embedded
from knowbase.logs import log
from knowbase.store.contract import Store
from knowbase.values.changes import Changes, Draft, Edit
from knowbase.values.documents import Document
from knowbase.values.files import FileRecord
from knowbase.values.history import command
from knowbase.values.vectors import Model, Vector

BATCH_CHUNKS = 64  # at first, and at least
BATCH_DOCUMENTS = 200
BATCH_SECONDS = 2.0  # of work, that a stop may cost: what is quick is written in larger batches
MOST_CHUNKS = 512
MOST_AT_ONCE = 1_024  # of a file with more, the text is stored first, and then vectors in parts
NOTHING = Changes()


class Prepared(NamedTuple):
    """A file that was read and split, waiting for its vectors."""

    draft: Draft
    record: FileRecord
    old: FileRecord | None
    moved_from: str | None
    listed: list[str]  # where the report names it, once it is stored
    is_part: bool = False  # of the file: the record is written with the file's own document
    edits: tuple[Edit, ...] = ()  # of a document that is there again


class Failure(NamedTuple):
    """A file that cannot be stored, and why."""

    prepared: Prepared
    reason: str


class Batch:
    """What is written in one transaction; a file that cannot be is found and left out."""

    def __init__(
        self, store: Store, drafter: Drafter, clock: Callable[[], str], *, defer: bool
    ) -> None:
        self._store = store
        self._drafter = drafter
        self._clock = clock
        self._defer = defer
        self._prepared: list[Prepared] = []
        self._room = BATCH_CHUNKS
        self._chunks = self._chunks_under_way = 0
        self._records: list[FileRecord] = []
        self._emptied: list[str] = []
        self.embedded = self.reused = self.waiting = self._before = 0
        self.warnings: list[str] = []
        self.under_way: list[Prepared] = []  # a stop may come when it is stored and not yet said
        self._later: list[tuple[Model, Mapping[str, str]]] = []  # to be made of what is stored
        self.met: dict[str, bool] = {}  # drafts of documents that were there: whether they changed
        self.each: Callable[[], None] = lambda: None  # called with each new vector

    @property
    def is_full(self) -> bool:
        return self._chunks >= self._room or len(self._prepared) >= self._room

    @property
    def last(self) -> str:
        """The path that came in last."""
        waiting = self._prepared or self.under_way
        return waiting[-1].record.path if waiting else ""

    @property
    def share(self) -> float:
        """How much of what is being written has its vectors."""
        chunks = self._chunks_under_way
        return (self.embedded - self._before) / chunks if chunks else 0.0

    def add(self, prepared: Prepared) -> None:
        self._prepared.append(prepared)
        self._chunks += len(prepared.draft.chunks)

    def note(self, record: FileRecord) -> None:
        """What is known of a file, without a new text."""
        self._records.append(record)

    def remove(self, document: str) -> None:
        """A document whose file holds no text any more."""
        self._emptied.append(document)

    def flush(self) -> tuple[list[Prepared], list[Failure]]:
        """Write what waits; what was written, and what could not be."""
        prepared, self._prepared = self._prepared, []
        self.under_way = prepared
        self._chunks_under_way, self._chunks = self._chunks, 0
        aside = Changes(files=tuple(self._records), removed=tuple(self._emptied))
        self._records, self._emptied = [], []
        started = monotonic()
        try:
            self._write(prepared, aside)
        except Exception as error:
            if not is_of_one_file(error):
                raise
            log("error", "a batch could not be stored", files=len(prepared), exc_info=error)
            self.apply(aside)
            written, failed = self._one_by_one(prepared)
        else:
            self._fit_room(monotonic() - started)
            written, failed = prepared, []
        self._make_later()
        return written, failed

    def _fit_room(self, seconds: float) -> None:
        """As many chunks as were written in the time that a batch may take. Texts are embedded
        quicker among many of their length, and a transaction costs the same for few."""
        if self._chunks_under_way >= BATCH_CHUNKS:
            room = int(self._chunks_under_way * BATCH_SECONDS / max(seconds, 0.001))
            self._room = max(BATCH_CHUNKS, min(MOST_CHUNKS, room))

    def _one_by_one(self, prepared: Sequence[Prepared]) -> tuple[list[Prepared], list[Failure]]:
        written, failed = [], []
        for one in prepared:
            try:
                self._write([one], Changes())
            except Exception as error:
                if not is_of_one_file(error):
                    raise
                log("error", "not stored", path=one.record.path, exc_info=error)
                failed.append(Failure(one, reason_of(error)))
            else:
                written.append(one)
        return written, failed

    def _write(self, prepared: Sequence[Prepared], aside: Changes) -> None:
        before, result = self.embedded, Embedded((), None, 0, 0)
        self._before = before
        try:
            if prepared:
                result = self.with_vectors([one.draft for one in prepared])
            written = self.apply(
                aside._replace(
                    drafts=result.drafts,
                    model=result.model,
                    files=(*aside.files, *(one.record for one in prepared if not one.is_part)),
                    forgotten=tuple(one.moved_from for one in prepared if one.moved_from),
                    edits=tuple(edit for one in prepared for edit in one.edits),
                )
            )
        except Exception:
            self.embedded = before
            raise
        self._count(result, written)
        there = {d.id: w.id for d, w in zip(result.drafts, written, strict=True) if d.id != w.id}
        changed = _changed_now(self._store, set(there.values())) if there else set()
        self.met |= {draft: document in changed for draft, document in there.items()}

    def _make_later(self) -> None:
        """Vectors of what is stored without them. Words find it meanwhile; what a stop leaves
        waits for `kb embed`."""
        later, self._later = self._later, []
        wanted, before = sum(len(texts) for _, texts in later), self.embedded
        try:
            for model, texts in later:
                hashes = list(texts)
                for start in range(0, len(hashes), MOST_CHUNKS):
                    part = {one: texts[one] for one in hashes[start : start + MOST_CHUNKS]}
                    self._put(model, part)
        except ServiceUnavailable as error:
            self._put_off(error)
        finally:
            self.waiting += wanted - (self.embedded - before)

    def _put(self, model: Model, texts: dict[str, str]) -> None:
        """As many as there are; a stop in the middle keeps what was made."""
        made: dict[str, Vector] = {}
        try:
            for digest, vector in zip(texts, self._drafter.embedded(texts.values()), strict=True):
                made[digest] = vector
                self._made_one()
        finally:
            self._store.put_vectors(model, self._drafter.source(), made)

    def _count(self, result: Embedded, written: Sequence[Document]) -> None:
        if result.model is not None and result.later:
            self._later.append((result.model, result.later))
        self.reused += result.reused
        self.waiting += result.waiting
        if result.warning is not None and result.warning not in self.warnings:
            self.warnings.append(result.warning)
        for draft, document in zip(result.drafts, written, strict=True):
            wanted = draft.reading.value("code")
            if wanted is not None and wanted.lower() != document.code.lower():
                name = document.path or document.title
                self.warnings.append(
                    f"{name}: the code {wanted} is taken; this document has {document.code}"
                )

    def write_drafts(self, drafts: Sequence[Draft], aside: Changes = NOTHING) -> None:
        """Documents without a file, and what is said of them in the same transaction."""
        result = self.with_vectors(drafts)
        self._count(result, self.apply(aside._replace(drafts=result.drafts, model=result.model)))
        self._make_later()

    def with_vectors(self, drafts: Sequence[Draft]) -> Embedded:
        """A service that is away holds up the vectors, never the text."""
        before = self.embedded
        if not self._defer:
            try:
                return self._drafter.embed(drafts, self._store, self._made_one, most=MOST_AT_ONCE)
            except ServiceUnavailable as error:
                self.embedded = before
                self._put_off(error)
        return self._drafter.embed(drafts, self._store, defer=True)

    def _put_off(self, error: ServiceUnavailable) -> None:
        self._defer = True
        self.warnings.append(f"{error.message}; the vectors wait for: kb embed")

    def _made_one(self) -> None:
        self.embedded += 1
        self.each()

    def apply(self, changes: Changes) -> list[Document]:
        if changes == Changes():
            return []
        return self._store.apply(changes, self._clock())


def _changed_now(store: Store, documents: set[str]) -> set[str]:
    """Those that the command under way has changed."""
    history, by = store.history(), command.get()
    since = {
        one: max((version.since for version in history.versions(one)), default=0)
        for one in documents
    }
    changes = history.numbered(set(since.values()))
    mine = {number for number, change in changes.items() if by and change.run == by.run}
    return {one for one, number in since.items() if number in mine}


def is_of_one_file(error: Exception) -> bool:
    """Whether the others can go on: a base that is full, locked or damaged concerns them all.
    One that only refuses does not say why; it may be the text."""
    return type(error) is BaseError or not isinstance(
        error, (BaseError, EmbeddingError, ToolMissing)
    )


def reason_of(error: Exception) -> str:
    if isinstance(error, KnowbaseError):
        return error.message
    return f"could not be stored ({type(error).__name__})"
