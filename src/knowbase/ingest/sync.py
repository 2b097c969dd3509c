"""Bringing a store in step with files: in batches, each one transaction, so that a stop
at any moment loses at most the batch under way, and the next run goes on from there."""

import uuid
from collections.abc import Callable, Sequence
from contextlib import closing

from knowbase.errors import ReadError, TookTooLong
from knowbase.ingest import succession
from knowbase.ingest.ahead import Gone, Loaded, Noise, read_ahead, record_of
from knowbase.ingest.batch import Batch, Prepared, is_of_one_file, reason_of
from knowbase.ingest.drafts import out_of_step
from knowbase.ingest.gone import GoneFiles, put_back, removal_of, those_here, too_many
from knowbase.ingest.hierarchy import parent_of
from knowbase.ingest.numbered import asks_for_number
from knowbase.ingest.parts import holders, pieces_of, stored_parts
from knowbase.ingest.pending import UNREAD, Pending, Scope, by_readers, pending
from knowbase.ingest.report import Progress, Report
from knowbase.ingest.returned import Removed, Returned, relations
from knowbase.ingest.services import IngestServices
from knowbase.ingest.splitting_again import split_again
from knowbase.ingest.tally import Tally
from knowbase.ingest.telling import Pictures, heavy
from knowbase.ingest.walk import FoundFile
from knowbase.ingest.workload import Workload
from knowbase.logs import log
from knowbase.read.decode import BinaryFile, NeedsReader
from knowbase.store.acting import as_one
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL, Document
from knowbase.values.files import FileRecord, Source
from knowbase.values.kinds import clean_tags
from knowbase.values.reading import Reading
from knowbase.values.times import timestamp

MUCH = 50  # documents: similar ones of fewer are linked when somebody asks for links
LOOK_AGAIN = -1  # a modification time that no file has


@as_one
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
    found = pending(services.store, scopes, services.disk, ids)
    work, elsewhere = those_here(found, services.disk)
    run = Run(services, work, progress)
    run.warn(elsewhere)
    try:
        run.add_sources([scope.source for scope in scopes], new=True)
        run.read_all(work)
        run.settle(scopes)
        if notes:
            run.split_again([document for document in otherwise if document.path is None])
        for each in work:
            run.remove_missing(each, prune)
        run.add_sources([scope.source for scope in scopes], new=False)
        run.drop_skipped_sources()
        run.weigh()
        if run.has_written_much:
            services.link_similar()
        elif run.has_written:
            services.index()
    except KeyboardInterrupt:
        run.stopped()
    finally:
        services.drafter.reader.scanner.rest()
    return run.report()


class Run:
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
        self._batch = Batch(services.store, services.drafter, services.clock, defer=services.defer)
        coming = ((found.path, found.size) for each in work for found in each.to_read)
        self._load = Workload(coming, sees=services.drafter.reader.scanner.is_on)
        self._batch.each = self._made_one
        self._gone = GoneFiles(services.store, work)
        self._may_settle = self._settling = False  # files read again for what came in after them
        self._successors: dict[str, str] = {}  # what files say took their place
        self._going: list[str] = []  # a stop may come when they are gone and not yet said
        self._new_sources: set[str] = set()
        self._moved_from: set[str] = set()
        self._holders: set[str] = set()  # files that documents lie in
        self._once_there = Removed(services.store)
        self._back: list[Returned] = []
        self._tally = Tally(work)
        self._warnings = self._batch.warnings
        for each in work:
            for noted in each.noted:
                self._batch.note(noted)
        self._alone = {each.scope.root for each in work}  # files that were named
        self._pictures = Pictures(services.drafter.reader.scanner)
        self._written: dict[str, str] = {}  # documents, and their paths

    def report(self) -> Report:
        return self._tally.report(self._batch, self._pictures)

    def add_sources(self, sources: Sequence[Source], *, new: bool) -> None:
        """Remember new sources at once, new tags of known ones when all their files have them."""
        known = self._services.store.sources()
        paths = {source.path for source in known}
        wanted = [s for s in sources if s not in known and (s.path not in paths) == new]
        self._batch.apply(Changes(sources=tuple(wanted)))
        self._new_sources |= {source.path for source in wanted if new}

    def drop_skipped_sources(self) -> None:
        """What was left out whole is not kept in step: a device, or a file without a text."""
        skipped = {problem.path for problem in self._tally.skipped} & self._new_sources
        paths = tuple(sorted(skipped))
        self._batch.apply(Changes(forgotten=paths, dropped_sources=paths))

    # reading

    def read_all(self, work: Sequence[Pending]) -> None:
        """Every file that changed; while one is stored, the next ones are read."""
        if any(each.to_read for each in work):
            self._services.drafter.reader.start()
            home, gone = self._services.home, [one for each in work for one in each.missing]
            files = [home.stored(found.path) for each in work for found in each.to_read]
            self._holders = holders(self._services.store, [*files, *(one.path for one in gone)])
            if any(each.has_new(self._services.home) for each in work):  # meanwhile
                self._services.drafter.get_ready()
        for each in self._in_order(work):
            self._read_files(each)
        self.flush()
        self._batch.apply(relations(self._services.store, self._back))

    def _in_order(self, work: Sequence[Pending]) -> list[Pending]:
        """What asks for a code such as KB-7 comes first, before a new file is given it."""
        if not any(each.has_new(self._services.home) for each in work):
            return [*work]
        asking = {one.path for each in work for one in each.to_read if asks_for_number(one.path)}
        parts = (tuple(one for one in each.to_read if one.path in asking) for each in work)
        rest = (tuple(one for one in each.to_read if one.path not in asking) for each in work)
        both = [*zip(work, parts, strict=True), *zip(work, rest, strict=True)]
        return [each._replace(to_read=files) for each, files in both if files]

    def settle(self, scopes: Sequence[Scope]) -> None:
        """What a file is superseded by may have come in after it: then it is read again."""
        store = self._services.store
        wait = succession.waiting(store) if self._written and self._may_settle else []
        arrived = {one.id for one in wait if succession.is_due(one, store)}
        if arrived:
            self._settling, reused = True, self._batch.reused
            found = pending(store, scopes, self._services.disk, arrived)
            self.read_all([each.only(arrived, self._services.home) for each in found])
            self._batch.reused = reused  # they were counted when they came in
        for one in wait:
            if one.id in self._written and one.id not in arrived:
                self._tally.told.append((one.path or one.code, succession.said_of(one, store)))

    def _read_files(self, each: Pending) -> None:
        def is_known(found: FoundFile, sha256: str) -> bool:
            old = each.records.get(self._services.home.stored(found.path))
            again = each.scope.reread or (old is not None and old.document in each.out_of_step)
            return old is not None and not again and each.has_same(old, sha256)

        reader, most = self._services.drafter.reader, self._services.disk.rules.max_bytes
        with closing(read_ahead(reader, each.to_read, is_known, self._look, most)) as files:
            for loaded in files:
                self._take(each, loaded)
                self._load.read(loaded.found.path, loaded.found.size)
                self._done += not self._settling
                self._tell(loaded.found.path)
                if self._batch.is_full:
                    self.flush()

    def _take(self, each: Pending, loaded: Loaded) -> None:
        path = self._services.home.stored(loaded.found.path)
        old = each.records.get(path)
        if loaded.found.asked and old is not None and old.document is None:
            old = None  # what was said of it before is said again to whoever asks for it
        record = record_of(path, each.scope.source.path, loaded)
        if isinstance(loaded.error, NeedsReader) and path != each.scope.root:
            self._skip(record._replace(sha256=UNREAD), old, loaded.error.message)
        elif isinstance(loaded.error, Gone):  # a later look says what became of it
            self._tally.told.append((path, "gone meanwhile"))
        elif loaded.error is not None:
            self._not_read(record, old, loaded.error)
        elif loaded.reading is None:
            self._batch.note(record._replace(document=old.document if old else None))
            self._tally.unchanged += 1
        else:
            try:
                self._draft(record, old, loaded.reading, each.scope.source)
            except Exception as error:  # no file, however odd, stops the rest
                if not is_of_one_file(error):
                    raise
                log("error", "not stored", path=path, exc_info=error)
                self._fail(record, old, reason_of(error))

    def _not_read(self, record: FileRecord, old: FileRecord | None, error: Exception) -> None:
        if isinstance(error, BinaryFile | Noise) and not isinstance(error, NeedsReader):
            self._skip(record, old, error.message)
        elif isinstance(error, ReadError):
            hint = f"; {error.hint}" if error.hint else ""
            self._fail(record, old, error.message + hint)
        elif isinstance(error, (OSError, TookTooLong)):  # not the file's fault: may be over soon
            reason = getattr(error, "strerror", None) or str(error)
            self._fail(record._replace(mtime_ns=LOOK_AGAIN), old, reason)
        elif not is_of_one_file(error):
            raise error
        else:
            log("error", "not read", path=record.path, exc_info=error)
            self._fail(record, old, f"could not be read ({type(error).__name__})")

    def _draft(
        self, record: FileRecord, old: FileRecord | None, reading: Reading, source: Source
    ) -> None:
        read = reading.stating(tags=clean_tags((*reading.tags, *source.tags)))
        read = self._awaiting(read, record.path, old)
        warnings = reading.warnings
        if read.value("parent") is None:
            read = read.stating(parent=parent_of(record.path, source, self._services.home))
        alone = record.path in self._alone
        if not self._settling:
            self._pictures.note(read, alone=alone)
        if read.sections:
            warnings = (*warnings, *self._prepare(record, old, read))
        elif read.scans:  # an image, or a PDF of nothing else
            leave = self._fail if alone else self._skip
            leave(record, old, self._pictures.why(read, alone=alone))
        else:
            self._skip(record, old, "no text in it" if record.size else "empty")
        self._tally.told += [(record.path, warning) for warning in warnings if not self._settling]

    def _awaiting(self, reading: Reading, path: str, old: FileRecord | None) -> Reading:
        """What it says of its successor, as far as that can be now."""
        store, successor = self._services.store, reading.value(succession.KEY)
        file = succession.Named(old.document if old else None, reading.value("code"), path)
        read = succession.waiting_if_unfit(reading, file, store, self._successors)
        if successor is not None:
            self._successors[path] = successor
        self._may_settle |= succession.may_settle(read, file, store)
        return read

    def _prepare(
        self, record: FileRecord, old: FileRecord | None, reading: Reading
    ) -> tuple[str, ...]:
        document, moved_from = (old.document if old else None), None
        listed = self._tally.changed if document else self._tally.added
        if document is None:
            document, moved_from = self._gone.moved(record.sha256, reading.value("code"))
            listed = self._tally.moved if document else listed
        listed = [] if self._settling else listed
        drafter = self._services.drafter
        self._prepare_parts(record, moved_from or record.path, reading)
        when = timestamp(record.mtime_ns / 1e9)
        whole = reading._replace(parts=())
        draft = drafter.draft(document or str(uuid.uuid4()), whole, record.path, when)
        back = self._once_there.returned(record.path, draft) if document is None else None
        if back is not None:
            draft = drafter.draft(back.id, back.stated(whole), record.path, when)
            self._back.append(back)
        record = record._replace(document=draft.id)
        edits = back.edits if back is not None else ()
        self._batch.add(Prepared(draft, record, old, moved_from, listed, edits=edits))
        self._load.drafted(record.path, sum(chunk.tokens for chunk in draft.chunks))
        told = drafter.left_out(draft)
        return (told,) if told is not None and told not in reading.warnings else ()

    def _prepare_parts(self, record: FileRecord, before: str, reading: Reading) -> None:
        """The documents in a file come before its own, with which its record is written: a stop
        between them has the file read again."""
        holds = before in self._holders or reading.parts
        known = stored_parts(self._services.store, [before]) if holds else {}
        for path, part in pieces_of(record.path, reading):
            read = part.stating(tags=clean_tags((*part.tags, *reading.tags)))
            self._tally.told += [(path, warning) for warning in part.warnings]
            old = known.pop(before + path[len(record.path) :], None)
            when = timestamp(record.mtime_ns / 1e9)
            draft = self._services.drafter.draft(
                old.id if old else str(uuid.uuid4()), read, path, when
            )
            self._batch.add(Prepared(draft, record, None, None, [], is_part=True))
            self._load.drafted(record.path, sum(chunk.tokens for chunk in draft.chunks))
            if self._batch.is_full:
                self.flush()
        for gone in known.values():
            self._batch.remove(gone.id)

    def _fail(self, record: FileRecord, old: FileRecord | None, reason: str) -> None:
        """What was read before stays: a file that fails now loses nothing."""
        is_known = old is not None and (old.mtime_ns, old.problem) == (LOOK_AGAIN, reason)
        self._tally.fail(record.path, reason, again=is_known)
        kept = record._replace(problem=reason, document=old.document if old else None)
        self._batch.note(by_readers(kept, sees=self._services.disk.sees))

    def _skip(self, record: FileRecord, old: FileRecord | None, reason: str) -> None:
        if old is None or old.skipped != reason:
            self._tally.skip(record.path, reason)
        self._batch.note(by_readers(record._replace(skipped=reason), sees=self._services.disk.sees))
        if old is not None and old.document is not None:
            self._tally.removed.append(record.path)
            self._batch.remove(old.document)
            for part in stored_parts(self._services.store, [record.path]).values():
                self._batch.remove(part.id)

    # writing

    def flush(self) -> None:
        """Embed what waits and write it, in one transaction."""
        written, failed = self._batch.flush()
        self._load.stored()
        for one in written:
            self._list(one)
            self._written[one.draft.id] = one.record.path
            self._moved_from |= {one.moved_from} if one.moved_from else set()
        for one, reason in failed:
            if one.is_part:
                self._warnings.append(f"{one.draft.path}: {reason}")
                continue
            # It may be the file's fault or a moment's: the next sync tries again.
            self._fail(one.record._replace(mtime_ns=LOOK_AGAIN), one.old, reason)
            self._moved_from |= {one.moved_from} if one.moved_from else set()  # it stays
        self._batch.under_way = []
        if failed:
            self._batch.flush()

    def _list(self, one: Prepared) -> None:
        """What was there by now without the sync's knowing is not added: another one was faster,
        or its source had been dropped."""
        changed = self._batch.met.get(one.draft.id)
        if changed is None:
            one.listed.append(one.record.path)
        elif changed:
            self._tally.changed.append(one.record.path)
        else:
            self._tally.unchanged += 1

    def stopped(self) -> None:
        """In the middle of anything: what the store has counts, whether it was said yet or not."""
        self._tally.interrupted = True
        stored = self._services.store.files() if self._batch.under_way else {}
        for one in self._batch.under_way:
            there = stored.get(one.record.path)
            is_stored = there is not None and there.sha256 == one.record.sha256 and there.document
            if is_stored and one.record.path not in one.listed:
                one.listed.append(one.record.path)
        left = self._services.store.files(self._going) if self._going else {}
        gone = [path for path in self._going if path not in left]
        self._tally.removed += [path for path in gone if path not in self._tally.removed]

    def warn(self, told: Sequence[str]) -> None:
        self._warnings += told

    def split_again(self, notes: Sequence[Document]) -> None:
        """Texts without a file, as they are stored, by the settings of today."""
        self._tally.changed += split_again(self._services, self._batch, notes)

    def weigh(self) -> None:
        """Say which of the files that came in make a large part of the base."""
        written = self._written
        for document, told in heavy(self._services.store, written).items() if written else ():
            if document in written:
                self._tally.told.append((written[document], told))

    @property
    def has_written(self) -> bool:
        return bool(self._written)

    @property
    def has_written_much(self) -> bool:
        """Whether whoever waits for this would hardly notice that links are found, too."""
        return len(self._written) >= MUCH

    def remove_missing(self, each: Pending, prune: bool) -> None:
        """Forget what is gone, unless so much is gone that the folder itself may be away; what
        was put back without its file stays until it is asked for."""
        missing = [record for record in each.missing if record.path not in self._moved_from]
        if not prune:
            back = [record for record in missing if record.is_put_back]
            self._warnings += [put_back(back)] if back else []
            missing = [record for record in missing if not record.is_put_back]
        if not missing:
            return
        if not prune and (told := too_many(each, missing)) is not None:
            self._warnings.append(told)
            return
        self._going = [record.path for record in missing if record.document]
        self._batch.apply(removal_of(self._services.store, missing))
        self._tally.removed += self._going
        self._going = []

    def _made_one(self) -> None:
        self._load.embedded(self._batch.share)
        self._tell(self._batch.last)

    def _look(self, path: str, page: int, pages: int) -> None:
        """A page of a file is looked at, which takes its time."""
        self._load.look(path, page, pages)
        self._tell(path if pages == 1 else f"{path}, page {page} of {pages}")

    def _tell(self, path: str) -> None:
        load = self._load
        self._progress(
            Progress(
                self._done, self._total, self._batch.embedded, path,
                work=load.work, stored=load.done, left=load.left,
                pages=load.pages, pages_left=load.pages_left,
            )
        )  # fmt: skip
