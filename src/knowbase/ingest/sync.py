"""Bringing a store in step with files: in batches, each one transaction, so that a stop
at any moment loses at most the batch under way, and the next run goes on from there."""

import hashlib
import uuid
from collections.abc import Callable, Sequence
from typing import NamedTuple

from knowbase.errors import BaseLocked, ReadError, ServiceUnavailable
from knowbase.ingest.drafts import Drafter, Embedded
from knowbase.ingest.hierarchy import parent_of
from knowbase.ingest.pending import Disk, FileProblem, Pending, Scope, pending
from knowbase.ingest.places import Home
from knowbase.ingest.walk import FoundFile
from knowbase.logs import log
from knowbase.query.conditions import Condition, Not, OneOf
from knowbase.read.decode import BinaryFile
from knowbase.read.markdown import read_markdown
from knowbase.store.contract import Store
from knowbase.text.sections import stored_sections
from knowbase.values.changes import Changes, Draft
from knowbase.values.documents import ALL, Document
from knowbase.values.files import FileRecord, Source
from knowbase.values.reading import Reading, stored_reading
from knowbase.values.times import timestamp

BATCH_CHUNKS = 64
BATCH_DOCUMENTS = 200
LOOK_AGAIN = -1  # a modification time that no file has


class Report(NamedTuple):
    """What came of adding or syncing."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    failed: tuple[FileProblem, ...] = ()
    skipped: tuple[FileProblem, ...] = ()
    warnings: tuple[str, ...] = ()
    chunks_embedded: int = 0
    chunks_reused: int = 0
    chunks_waiting: int = 0  # stored without a vector: kb embed makes it
    interrupted: bool = False

    @property
    def is_news(self) -> bool:
        """Whether there is anything to tell of a round of watching."""
        parts = (self.added, self.changed, self.removed, self.moved, self.failed, self.warnings)
        return any(parts)


class Progress(NamedTuple):
    """How far it is; `total` counts the files to be read, or whatever `unit` names."""

    done: int
    total: int
    embedded: int
    path: str
    unit: str = "files"

    @property
    def text(self) -> str:
        embedded = f" · {self.embedded} chunks embedded" if self.embedded else ""
        return f"{self.done}/{self.total} {self.unit}{embedded}"

    @property
    def now(self) -> str:
        """What is under way."""
        return " · " + self.path.rpartition("/")[2]


class IngestServices:
    """What adding and writing work with."""

    def __init__(
        self,
        store: Store,
        drafter: Drafter,
        disk: Disk,
        clock: Callable[[], str],
        similar_above: float,
        *,
        defer: bool = False,  # store text without vectors; they follow
    ) -> None:
        self.store = store
        self.drafter = drafter
        self.disk = disk
        self.clock = clock
        self.similar_above = similar_above
        self.defer = defer

    @property
    def home(self) -> Home:
        return self.disk.home

    def link_similar(self) -> None:
        """Compare what was written with everything; when another writes, the next one does it."""
        try:
            self.store.link_similar(self.similar_above)
        except BaseLocked as error:
            log("info", "similar documents are linked later", reason=error.message)


class Prepared(NamedTuple):
    """A file that was read and split, waiting for its vectors."""

    draft: Draft
    record: FileRecord
    moved_from: str | None
    listed: list[str]  # where the report names it, once it is stored


def sync(
    services: IngestServices,
    scopes: Sequence[Scope],
    *,
    prune: bool = False,
    notes: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Report:
    """Read what changed, remove what is gone; Ctrl-C ends it early with what was done.

    What was split by other settings is read and split again, also `notes`, which have no file.
    """
    otherwise = services.store.documents(out_of_step(services.drafter), ALL)
    ids = {document.id for document in otherwise}
    work = pending(services.store, scopes, services.disk, ids)
    run = _Run(services, work, progress)
    try:
        run.add_sources([scope.source for scope in scopes], new=True)
        for each in work:
            run.read_files(each)
        run.flush()
        if notes:
            run.split_again([document for document in otherwise if document.path is None])
        for each in work:
            run.remove_missing(each, prune)
        run.add_sources([scope.source for scope in scopes], new=False)
        services.link_similar()
    except KeyboardInterrupt:
        run.interrupted = True
    return run.report()


def out_of_step(drafter: Drafter) -> Condition:
    """What was read and split by other settings than today's."""
    return Not(OneOf("split_by", drafter.in_step))


class _Run:
    """One sync under way: what waits to be written, and what to report."""

    def __init__(
        self,
        services: IngestServices,
        work: Sequence[Pending],
        progress: Callable[[Progress], None],
    ) -> None:
        self._services = services
        self._progress = progress
        self._total = sum(len(each.to_read) for each in work)
        self._done = 0
        self._prepared: list[Prepared] = []
        self._records: list[FileRecord] = []
        self._emptied: list[str] = []  # documents whose files hold no text any more
        self._gone: dict[str, list[FileRecord]] = {}
        for each in work:
            for record in each.missing:
                if record.document:
                    self._gone.setdefault(record.sha256, []).append(record)
        self._moved_from: set[str] = set()
        self.interrupted = False
        self._embedded = self._reused = self._waiting = 0
        self._defer = services.defer
        self._unchanged = sum(each.unchanged for each in work)
        self._failed = [problem for each in work for problem in each.failed]
        self._skipped = [problem for each in work for problem in each.skipped]
        self._warnings: list[str] = []
        self._added: list[str] = []
        self._changed: list[str] = []
        self._moved: list[str] = []
        self._removed: list[str] = []

    def report(self) -> Report:
        return Report(
            added=tuple(self._added),
            changed=tuple(self._changed),
            moved=tuple(self._moved),
            removed=tuple(self._removed),
            unchanged=self._unchanged,
            failed=tuple(self._failed),
            skipped=tuple(self._skipped),
            warnings=tuple(self._warnings),
            chunks_embedded=self._embedded,
            chunks_reused=self._reused,
            chunks_waiting=self._waiting,
            interrupted=self.interrupted,
        )

    def add_sources(self, sources: Sequence[Source], *, new: bool) -> None:
        """Remember new sources at once, new tags of known ones when all their files have them."""
        known = self._services.store.sources()
        paths = {source.path for source in known}
        wanted = [s for s in sources if s not in known and (s.path not in paths) == new]
        self._apply(Changes(sources=tuple(wanted)))

    # reading

    def read_files(self, each: Pending) -> None:
        for found in each.to_read:
            self._read_file(each, found)
            self._done += 1
            self._tell(found.path)
            if self._is_full():
                self.flush()

    def _read_file(self, each: Pending, found: FoundFile) -> None:
        path = self._services.home.stored(found.path)
        old = each.records.get(path)
        record = FileRecord(path, each.scope.source.path, found.size, found.mtime_ns, "")
        try:
            with open(found.path, "rb") as file:
                data = file.read()
            record = record._replace(sha256=hashlib.sha256(data).hexdigest())
            again = each.scope.reread or (old is not None and old.document in each.out_of_step)
            if old is not None and _same_content(record, old) and not again:
                self._records.append(record._replace(document=old.document))
                self._unchanged += 1
                return
            reading, warnings = self._services.drafter.read(
                found.path, data, each.scope.source.tags
            )
        except BinaryFile as error:
            self._skip(record, old, error.message)
        except ReadError as error:
            self._fail(record, old, error.message)
        except OSError as error:
            self._fail(record._replace(mtime_ns=LOOK_AGAIN), old, error.strerror or str(error))
        except Exception as error:  # no file, however odd, stops the rest
            self._fail(record, old, f"could not be read ({type(error).__name__})")
        else:
            self._warnings += [f"{path}: {warning}" for warning in warnings]
            if reading.value("parent") is None:
                parent = parent_of(path, each.scope.source, self._services.home)
                reading = reading.stating(parent=parent)
            if reading.sections:
                self._prepare(record, old, reading)
            else:
                self._skip(record, old, "empty")

    def _prepare(self, record: FileRecord, old: FileRecord | None, reading: Reading) -> None:
        document, moved_from = (old.document if old else None), None
        listed = self._changed if document else self._added
        if document is None and self._gone.get(record.sha256):
            gone = self._gone[record.sha256].pop(0)
            document, moved_from, listed = gone.document, gone.path, self._moved
        elif document is None and (code := reading.value("code")) is not None:
            document, moved_from = self._same_code(code)
            listed = self._moved if document else self._added
        draft = self._services.drafter.draft(
            document or str(uuid.uuid4()),
            reading,
            record.path,
            timestamp(record.mtime_ns / 1e9),
        )
        record = record._replace(document=draft.id)
        self._prepared.append(Prepared(draft, record, moved_from, listed))

    def _same_code(self, code: str) -> tuple[str | None, str | None]:
        """The document of a file that is gone and had this code: it was renamed and changed."""
        known = self._services.store.find(code)
        gone = {r.path for records in self._gone.values() for r in records}
        if known is None or known.path not in gone:
            return None, None
        return known.id, known.path

    def _fail(self, record: FileRecord, old: FileRecord | None, reason: str) -> None:
        """What was read before stays: a file that fails now loses nothing."""
        self._failed.append(FileProblem(record.path, reason))
        self._records.append(
            record._replace(problem=reason, document=old.document if old else None)
        )

    def _skip(self, record: FileRecord, old: FileRecord | None, reason: str) -> None:
        self._skipped.append(FileProblem(record.path, reason))
        self._records.append(record)
        if old is not None and old.document is not None:
            self._removed.append(record.path)
            self._emptied.append(old.document)

    # writing

    def _is_full(self) -> bool:
        chunks = sum(len(prepared.draft.chunks) for prepared in self._prepared)
        return chunks >= BATCH_CHUNKS or len(self._prepared) >= BATCH_DOCUMENTS

    def flush(self) -> None:
        """Embed what waits and write it, in one transaction."""
        drafts: tuple[Draft, ...] = ()
        model = None
        if self._prepared:
            result = self._with_vectors([prepared.draft for prepared in self._prepared])
            drafts, model = result.drafts, result.model
            self._reused += result.reused
            self._waiting += result.waiting
            if result.warning is not None and result.warning not in self._warnings:
                self._warnings.append(result.warning)
        written = self._apply(
            Changes(
                drafts=drafts,
                model=model,
                removed=tuple(self._emptied),
                files=(*self._records, *(prepared.record for prepared in self._prepared)),
                forgotten=tuple(p.moved_from for p in self._prepared if p.moved_from),
            )
        )
        for draft, document in zip(drafts, written, strict=True):
            wanted = draft.reading.value("code")
            if wanted is not None and wanted.lower() != document.code.lower():
                self._warnings.append(
                    f"{document.path}: the code {wanted} is taken; it is {document.code}"
                )
        for prepared in self._prepared:
            prepared.listed.append(prepared.record.path)
            self._moved_from |= {prepared.moved_from} if prepared.moved_from else set()
        self._prepared, self._records, self._emptied = [], [], []

    def split_again(self, notes: Sequence[Document]) -> None:
        """Texts without a file, as they are stored, by the settings of today."""
        for start in range(0, len(notes), BATCH_DOCUMENTS):
            some = notes[start : start + BATCH_DOCUMENTS]
            result = self._with_vectors([self._stored_draft(note) for note in some])
            self._apply(Changes(drafts=result.drafts, model=result.model))
            self._reused += result.reused
            self._waiting += result.waiting
            self._changed += [note.code for note in some]

    def _stored_draft(self, note: Document) -> Draft:
        sections = stored_sections(self._services.store.chunks(note.id))
        text = "".join(section.header + section.text for section in sections)
        reading = stored_reading(note, sections)._replace(links=read_markdown(text, "").links)
        return self._services.drafter.draft(note.id, reading, None, note.updated_at)

    def _with_vectors(self, drafts: Sequence[Draft]) -> Embedded:
        """A service that is away holds up the vectors, never the text."""
        drafter, store, before = self._services.drafter, self._services.store, self._embedded
        if not self._defer:
            try:
                return drafter.embed(drafts, store, self._count)
            except ServiceUnavailable as error:
                self._defer, self._embedded = True, before
                self._warnings.append(f"{error.message}; the vectors wait for: kb embed")
        return drafter.embed(drafts, store, defer=True)

    def _count(self) -> None:
        self._embedded += 1
        self._tell(self._prepared[-1].record.path if self._prepared else "")

    def remove_missing(self, each: Pending, prune: bool) -> None:
        """Forget what is gone, unless so much is gone that the folder itself may be away."""
        missing = [record for record in each.missing if record.path not in self._moved_from]
        if not missing:
            return
        if len(missing) * 2 > len(each.records) and not prune:
            self._warnings.append(
                f"{len(missing)} of {len(each.records)} files of {each.scope.source.path} are"
                " gone; nothing was removed. If that is right, run: kb sync --prune"
            )
            return
        self._apply(
            Changes(
                removed=tuple(record.document for record in missing if record.document),
                forgotten=tuple(record.path for record in missing),
            )
        )
        self._removed += [record.path for record in missing if record.document]

    def _apply(self, changes: Changes) -> list[Document]:
        if changes == Changes():
            return []
        return self._services.store.apply(changes, self._services.clock())

    def _tell(self, path: str) -> None:
        self._progress(Progress(self._done, self._total, self._embedded, path))


def _same_content(record: FileRecord, old: FileRecord) -> bool:
    """Touched, but not changed."""
    usable = old.document is not None and old.problem is None and not old.excluded
    return usable and (old.sha256, old.source) == (record.sha256, record.source)
