"""What differs between a source on disk and what is stored: found by stat alone."""

import os
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from knowbase.ingest.drafts import READERS
from knowbase.ingest.places import Home, closest, inside
from knowbase.ingest.walk import Expected, FoundFile, Skipped, WalkRules, walk
from knowbase.store.contract import FileStore
from knowbase.values.files import FileRecord, Settled, Source

SEEING = "+ocr"  # readers that look at pictures, too
MANY = 1_000  # records: reading all of them takes no longer
UNREAD = ""  # the hash of a file that nothing here reads: it was not looked into


class FileProblem(NamedTuple):
    """A file, and what is to be said about it."""

    path: str
    reason: str


class Scope(NamedTuple):
    """What to look at: a source, or one path in it, and whether to take it all again."""

    source: Source
    only: str | None = None
    reread: bool = False  # its tags changed: read every file, embed nothing again
    readmit: bool = False  # also what was removed by hand
    verify: bool = False  # look at the content of every file, whatever the disk says of it

    @property
    def root(self) -> str:
        """The one path that it is about."""
        return self.only if self.only is not None else self.source.path


class Pending(NamedTuple):
    """The work that a sync has before it."""

    scope: Scope
    to_read: tuple[FoundFile, ...]
    missing: tuple[FileRecord, ...]
    records: dict[str, FileRecord]  # of all files that were not passed over …
    passed: int  # … and how many were
    unchanged: int  # these, too
    failed: tuple[FileProblem, ...]  # those that did before …
    closed: tuple[FileProblem, ...]  # … and what could not be looked into now
    skipped: tuple[FileProblem, ...]  # those that are new
    skipped_before: int
    noted: tuple[FileRecord, ...]  # what is to be known of files that are not read
    out_of_step: Collection[str]  # documents that were split by other settings

    def has_same(self, old: FileRecord, sha256: str) -> bool:
        """Whether a file was touched, but not changed."""
        usable = old.document is not None and old.problem is None and not old.excluded
        return usable and (old.sha256, old.source) == (sha256, self.scope.source.path)

    def only(self, documents: set[str], home: Home) -> "Pending":
        """Of the work, what concerns these documents."""
        paths = {record.path for record in self.records.values() if record.document in documents}
        files = (one for one in self.to_read if home.stored(one.path) in paths)
        return self._replace(to_read=tuple(files), missing=(), noted=())

    def has_new(self, home: Home) -> bool:
        """Whether something comes in for the first time."""
        return any(home.stored(found.path) not in self.records for found in self.to_read)


class Disk(NamedTuple):
    """Where files lie, and which of them are looked at."""

    home: Home
    rules: WalkRules
    sees: bool = False  # what is written in pictures
    roams: bool = False  # the home is wherever the command was run: the base has none of its own


def pending(
    store: FileStore, scopes: Sequence[Scope], disk: Disk, out_of_step: Collection[str] = ()
) -> list[Pending]:
    """Compare the files of each scope with their records; nothing is read."""
    sources = {source.path for source in store.sources()} | {s.source.path for s in scopes}
    settled = Settled(disk.rules.max_bytes, tuple(out_of_step))
    known = _Known(sources, store, settled, {}, out_of_step)
    passing = {scope.source.path for scope in scopes if known.may_pass(scope, disk)}
    if disk.rules.among is not None:
        records = store.files([disk.home.stored(path) for path in disk.rules.among])
    elif passing:
        records = store.unsettled(passing, settled)
    else:
        records = store.files()
    known = known._replace(records=records)
    return [_pending(scope, known, disk, passing) for scope in scopes]


class _Known(NamedTuple):
    sources: set[str]
    store: FileStore
    settled: Settled
    records: dict[str, FileRecord]  # of the files that are not passed over
    out_of_step: Collection[str]

    def may_pass(self, scope: Scope, disk: Disk) -> bool:
        """Whether files of the scope are passed over when the disk shows them as it did."""
        asked_for = scope.only is not None or scope.reread or scope.verify
        all_its_own = disk.rules.among is None and not self.has_nested(scope.source.path)
        return all_its_own and not asked_for and os.path.isdir(disk.home.absolute(scope.root))

    def of_looks(self, looks: Collection[str], root: str) -> dict[str, FileRecord]:
        """The records of files that were settled and are not as they were."""
        if not looks:
            return {}
        found = self.store.files(None if len(looks) > MANY else looks)
        return {path: one for path, one in found.items() if path in looks and inside(path, root)}

    def of(self, source: str, root: str) -> dict[str, FileRecord]:
        """The records below `root` that belong to the source."""
        alone = not self.has_nested(source)
        return {
            path: record
            for path, record in self.records.items()
            if inside(path, root) and (alone or self.owner(path) == source)
        }

    def has_nested(self, source: str) -> bool:
        """Whether another source lies in it, whose files are not its own."""
        return any(other != source and inside(other, source) for other in self.sources)

    def owner(self, path: str) -> str | None:
        """A file belongs to the closest source that holds it."""
        return closest(path, self.sources)


def _pending(scope: Scope, known: _Known, disk: Disk, passing: Collection[str]) -> Pending:
    home = disk.home
    source = scope.source.path
    root = scope.root
    nested = known.has_nested(source)
    seen: set[str] = set()
    work = _Work(source, disk.sees, [], [], [], [], [], [], Counter())
    rereading = scope._replace(reread=True)
    top = home.absolute(root)
    stored, within = home.stored(top), os.path.join(top, "")
    folder = "" if stored == os.curdir else os.path.join(stored, "")
    looks = known.store.looks(source, known.settled) if source in passing else {}
    passed = len(looks)
    items = [*walk(top, disk.rules, Expected(folder, looks))] if os.path.lexists(top) else []
    passed -= len(looks)
    unchanged = passed
    records = known.of(source, root) | known.of_looks(looks, root)
    for item in items:
        path = item.path
        path = folder + path[len(within) :] if path.startswith(within) else home.stored(path)
        if nested and known.owner(path) != source:
            continue
        seen.add(path)
        record = records.get(path)
        again = record is not None and record.document in known.out_of_step
        unchanged += _sort(item, path, record, rereading if again else scope, work)
    missing = [
        record
        for path, record in records.items()
        if path not in seen and not any(inside(path, folder) for folder in work.unseen)
    ]
    return Pending(
        scope, tuple(work.to_read), tuple(missing), records, passed, unchanged,
        tuple(work.failed), tuple(work.closed), tuple(work.skipped),
        work.before["skipped"],
        tuple(work.noted), known.out_of_step,
    )  # fmt: skip


class _Work(NamedTuple):
    source: str
    sees: bool
    to_read: list[FoundFile]
    failed: list[FileProblem]
    closed: list[FileProblem]
    skipped: list[FileProblem]
    unseen: list[str]  # folders, or what may be one, that could not be looked into
    noted: list[FileRecord]
    before: Counter[str]  # how much was said before

    def skip(self, path: str, reason: str, record: FileRecord | None) -> None:
        """Leave it out, and say so once."""
        if record is not None and record.skipped == reason:
            self.before["skipped"] += 1
            return
        self.skipped.append(FileProblem(path, reason))
        record = record or FileRecord(path, self.source, 0, 0, "")
        self.noted.append(record._replace(skipped=reason))

    def fail(self, path: str, reason: str, record: FileRecord | None) -> None:
        """What cannot be looked into is said each time."""
        if record is not None and record.problem == reason:
            self.failed.append(FileProblem(path, reason))
            return
        self.closed.append(FileProblem(path, reason))
        record = record or FileRecord(path, self.source, 0, 0, UNREAD)
        self.noted.append(record._replace(problem=reason, skipped=None))


def _sort(
    item: FoundFile | Skipped, path: str, record: FileRecord | None, scope: Scope, work: _Work
) -> bool:
    """Put one item where it belongs; True when there is nothing to do for it."""
    if isinstance(item, Skipped):
        kept = "; what was stored before stays" if record is not None and record.document else ""
        note = work.fail if item.failed else work.skip
        note(path, item.reason + kept, record)
        if not item.is_file:
            work.unseen.append(path)
    elif (record is None or record.document is None) and (noise := item.noise) is not None:
        work.skip(path, noise, record)
    elif record is None or (scope.readmit and _is_wanted_back(item, record)):
        work.to_read.append(item)
    elif record.excluded:
        work.skip(path, "removed by hand; kb add it to take it back", record)
    elif scope.reread or _is_unknown(record, work.sees) or _differs(item, record, scope):
        # What was taken in once was wanted, also when it turns out that a program made it.
        work.to_read.append(item._replace(asked=item.asked or record.document is not None))
    elif record.problem is not None:
        work.failed.append(FileProblem(path, record.problem))
    elif record.document is None and record.skipped is not None:
        work.skip(path, record.skipped, record)
    else:
        if record.skipped is not None:  # it could not be seen, and can again
            work.noted.append(record._replace(skipped=None))
        return True
    return False


def _is_wanted_back(item: FoundFile, record: FileRecord) -> bool:
    """Removed by hand, or left out and now asked for by its name."""
    return record.excluded or (item.asked and record.document is None)


def by_readers(record: FileRecord, *, sees: bool) -> FileRecord:
    """The record of a file that was looked into and made no document, marked by these readers:
    later ones may make more of it."""
    if record.document is not None or record.sha256 == UNREAD:
        return record
    return record._replace(readers=f"{READERS}{SEEING if sees else ''}")


def _is_unknown(record: FileRecord, sees: bool) -> bool:
    """Nothing here read it, or other readers did and made nothing of it, or an older version left
    it out, which did not say why: this one may know more."""
    why = record.document or record.problem or record.skipped
    if not record.sha256 or why is None:
        return True
    marks = (f"{READERS}{SEEING}",) if sees else (READERS, f"{READERS}{SEEING}")
    return record.document is None and record.readers not in marks


def _differs(item: FoundFile, record: FileRecord, scope: Scope) -> bool:
    """Changed on disk, or come under another source, whose tags it gets."""
    if scope.verify or record.source != scope.source.path:
        return True
    return _stat_differs(item, record)


def _stat_differs(item: FoundFile, record: FileRecord) -> bool:
    """Times can be set and sizes can agree, but not the time of that change. What an older record
    does not have, and what some systems do not tell (0), says nothing."""
    if item.size != record.size or item.mtime_ns != record.mtime_ns:
        return True
    return _is_other(item.inode, record.inode) or _is_other(item.ctime_ns, record.ctime_ns)


def _is_other(now: int, before: int | None) -> bool:
    return bool(now and before and now != before)
