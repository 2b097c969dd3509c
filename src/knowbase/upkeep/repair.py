"""Repair: save what only the base has, rebuild what can be derived, say what is lost."""

import os
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from knowbase.config import DEFAULTS, Settings
from knowbase.errors import BaseDamaged, BaseError, BaseMissing, BaseTooNew, NotABase
from knowbase.ingest.embedding import Step
from knowbase.ingest.parts import file_of
from knowbase.store.contract import Snapshot, Store
from knowbase.store.location import FOLDER, home_of, is_url, itself, shown
from knowbase.store.opening import open_store
from knowbase.store.seals import vector_seal
from knowbase.store.sqlite import backups
from knowbase.upkeep import rescue
from knowbase.upkeep.backup import Progress, dated, part_of, writing_files
from knowbase.upkeep.check import check
from knowbase.values.changes import Changes
from knowbase.values.copies import Copy, Frame, SharedParts
from knowbase.values.findings import NOTICE
from knowbase.values.history import HistoryPart

REBUILT = ("the text index", "links")


class Repaired(NamedTuple):
    """What came of repairing a base."""

    base: str
    is_sound: bool  # there was nothing to repair
    saved: Mapping[str, int] = {}  # rows by kind
    rebuilt: tuple[str, ...] = ()
    lost: Mapping[str, tuple[str, ...]] = {}  # what happened, to which documents
    rescue: str | None = None  # the file with what only the base has
    damaged: str | None = None  # the base as it was
    next: tuple[str, ...] = ()  # commands that do the rest
    dry_run: bool = False


def repair(
    base: str,
    now: str,
    settings: Settings = DEFAULTS,
    *,
    dry_run: bool = False,
    progress: Progress = lambda _: None,
) -> Repaired:
    """Repair the base at this place, whether it can be opened or not."""
    if not is_url(base) and not os.path.isfile(base):
        raise BaseMissing("there is no base here", hint="make one with: kb init")
    if _is_sound(base, settings, progress):
        return Repaired(shown(base), True, dry_run=dry_run)
    if is_url(base):
        return _repair_database(base, now, settings, dry_run=dry_run)
    return _repair_file(itself(base), now, dry_run=dry_run, progress=progress)


def _is_sound(base: str, settings: Settings, progress: Progress) -> bool:
    try:
        store = open_store(base, settings)
    except (BaseDamaged, NotABase):
        return False
    except BaseTooNew:
        if is_url(base) or not backups.has_known_tables(base):
            raise
        return False  # the number of its schema is damaged, not the schema
    try:
        found = check(store, shown(base), home_of(base), deep=True, progress=progress)
        return all(one.severity == NOTICE or one.part == "files" for one in found.findings)
    except BaseDamaged:
        return False
    finally:
        store.close()


# a file


def _repair_file(base: str, now: str, *, dry_run: bool, progress: Progress) -> Repaired:
    from knowbase.store.sqlite import rebuild, salvage

    stem = os.path.splitext(base)[0]
    # Named after the base: the sync of its folder that follows does not take it for a text.
    aside, saved = dated(f"{stem}-damaged", now), dated(f"{base}-rescue", now, ".jsonl")
    with part_of(f"{base}.damaged.db") as copy, part_of(f"{base}.repaired.db") as new:
        salvage.working_copy(base, copy)
        progress(Step(1, 4, "pages read"))
        if not dry_run:
            rescue.write(saved, rescue.of_rows(copy))
        progress(Step(2, 4, "rows rescued"))
        made = rebuild.rebuild(copy, new, now)
        if not any(made.saved.values()) and not backups.is_ours(base):
            if not dry_run:
                os.remove(saved)
            raise NotABase("there is nothing of a base in this file", hint="choose another --base")
        progress(Step(3, 4, "tables rebuilt"))
        _verify(new)
        result = Repaired(
            shown(base), False, made.saved, REBUILT, made.lost, saved, aside,
            _next(made.lost, made.missing_vectors, made.saved), dry_run,
        )  # fmt: skip
        if dry_run:
            return result._replace(rescue=None, damaged=None)
        with writing_files():
            backups.finish(new)
            backups.make_base(new)
            backups.put_aside(base, aside)
            backups.move_to(new, base)
    return result


def _next(lost: Mapping[str, object], vectors: int, saved: Mapping[str, int]) -> tuple[str, ...]:
    found = []
    if saved.get("sources") or "to be read again from their files" in lost:
        found.append("kb sync")
    if vectors:
        found.append("kb embed")
    return tuple(found)


def _verify(new: str) -> None:
    store = open_store(new, DEFAULTS)
    try:
        with store.copying().snapshot() as whole:
            wrong = list(whole.findings(deep=True))
    finally:
        store.close()
    if wrong:
        raise BaseError(
            f"the base could not be rebuilt: {wrong[0].message}",
            hint="restore a backup: kb restore FILE",
        )


# a base in PostgreSQL


def _repair_database(base: str, now: str, settings: Settings, *, dry_run: bool) -> Repaired:
    """All of it is written anew from what can be read, in one transaction; the server's own
    files are not for us to mend."""
    folder = os.path.join(home_of(base), FOLDER)  # which no sync reads
    saved = dated(os.path.join(folder, "base-rescue"), now, ".jsonl")
    store = open_store(base, settings)
    try:
        copying = store.copying()
        with copying.snapshot() as whole:
            mended = _Mended(whole)
            if dry_run:
                mended.read_all()
            else:
                with writing_files():
                    os.makedirs(folder, mode=0o700, exist_ok=True)
                    rescue.write(saved, rescue.of_parts(whole))
                copying.replace(mended, lambda: None)
                _read_again(store, mended.paths, now)
    finally:
        store.close()
    counts = {"documents": mended.number - len(mended.unreadable)}
    return Repaired(
        shown(base), False, counts, REBUILT, mended.lost(),
        None if dry_run else saved, None, _next(mended.lost(), mended.vectors, {"sources": 1}),
        dry_run,
    )  # fmt: skip


def _read_again(store: Store, paths: Collection[str], now: str) -> None:
    """Let the next sync read these files, whatever their size and time."""
    records = store.files()
    holders = {file_of(one, records) for one in paths}
    changed = [record for path, record in records.items() if path in holders]
    files = tuple(one._replace(size=-1, mtime_ns=0, sha256="") for one in changed)
    store.apply(Changes(files=files), now)


class _Mended:
    """A base without what can no longer be read, or is not what was written: a
    `knowbase.store.contract.CopySource`."""

    def __init__(self, whole: Snapshot) -> None:
        self._whole = whole
        self.number = 0
        self.vectors = 0  # left out
        self.unreadable: list[str] = []
        self.paths: list[str] = []  # of files that are to be read again
        self._damaged: list[str] = []

    def frame(self) -> Frame:
        return self._whole.frame()

    def seqs(self) -> list[int]:
        found = self._whole.seqs()
        self.number = len(found)
        return found

    def shared(self) -> SharedParts:
        return self._whole.shared()

    def history(self) -> Iterator[HistoryPart]:
        """Versions share their texts with what is there: where that is damaged, none is kept."""
        is_whole = not self.unreadable and not self._damaged and not self.paths
        return self._whole.history() if is_whole else iter(())

    def read_all(self) -> None:
        for seq in self.seqs():
            self.copies([seq])

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        found = []
        for seq in seqs:
            try:
                copies = self._whole.copies([seq])
                found += [self._mended(copy) for copy in copies]
            except BaseDamaged:
                self.unreadable.append(f"number {seq}")
        return found

    def _mended(self, copy: Copy) -> Copy:
        from knowbase.store.seals import seals_of

        seq, document = copy.document.seq, copy.document
        kept, wanted = self._whole.seals([seq])[seq], seals_of(copy)
        if any(one not in (None, other) for one, other in zip(kept, wanted, strict=True)):
            if document.path is None:
                self._damaged.append(f"{document.code} {document.title}")
            else:
                self.paths.append(document.path)
        seals = self._whole.vector_seals([seq])
        chunks = []
        for chunk in copy.chunks:
            good = tuple(
                (model, vector)
                for model, vector in chunk.vectors
                if seals.get((chunk.id, model)) in (None, vector_seal(vector))
            )
            self.vectors += len(chunk.vectors) - len(good)
            chunks.append(chunk._replace(vectors=good))
        return copy._replace(chunks=tuple(chunks))

    def lost(self) -> dict[str, tuple[str, ...]]:
        found = {
            "lost": tuple(self.unreadable),
            "text or fields damaged": tuple(self._damaged),
            "to be read again from their files": tuple(self.paths),
        }
        return {what: names for what, names in found.items() if names}
