"""Restoring: a backup in place of a base, verified first; what was there is kept beside it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from knowbase.config import DEFAULTS, Settings
from knowbase.errors import BaseDamaged, BaseMissing, InvalidInput, NotABase
from knowbase.ingest.embedding import Step
from knowbase.store.contract import Store
from knowbase.store.location import is_url, itself, shown
from knowbase.store.opening import create_store, open_store
from knowbase.store.sqlite import backups
from knowbase.upkeep.backup import Progress, dated, part_of, write, writing_files
from knowbase.upkeep.check import contents
from knowbase.values.copies import in_batches
from knowbase.values.findings import DAMAGE

SHOWN = 20  # documents that are named


class Restored(NamedTuple):
    """What came of restoring a backup, or would."""

    base: str
    file: str
    before: int | None  # documents in the base; None: there was none, or it cannot be read
    after: int  # documents in the backup
    lost: int  # documents that are not in the backup, or are newer than there
    lost_documents: tuple[str, ...] = ()  # the first of them: code and title
    kept: str | None = None  # the base as it was
    dry_run: bool = False


class Wanted(NamedTuple):
    """What is put in place of a base."""

    file: str
    discard: bool = False  # do not keep what is replaced
    dry_run: bool = False


def restore(
    base: str,
    wanted: Wanted,
    now: str,
    settings: Settings = DEFAULTS,
    progress: Progress = lambda _: None,
) -> Restored:
    """Put a backup in place of the base at this place, which need not be there or readable."""
    file, discard, dry_run = wanted
    base = itself(base)
    path = os.path.abspath(os.path.expanduser(file))
    if not os.path.isfile(path):
        raise BaseMissing(f"there is no backup at {file}", hint="name the file of a backup")
    if not is_url(base) and os.path.exists(base) and os.path.samefile(path, base):
        raise InvalidInput("a base cannot be restored from itself", field="file")
    with _verified(path, base, progress) as (copy, store):
        found = _foreseen(store, base, path, settings)
        if dry_run:
            return found._replace(dry_run=True)
        kept = None if discard or not _is_there(base) else _beside(base, path, now)
        _put(base, copy, store, kept, settings, progress)
    return found._replace(kept=kept)


@contextmanager
def _verified(file: str, base: str, progress: Progress) -> Iterator[tuple[str, Store]]:
    """A copy of the backup beside the base, brought up to date and found sound, and its store."""
    place = file if is_url(base) else base
    with part_of(f"{place}.restored.db") as copy:
        store = _copied(file, copy, progress)
        try:
            _check_sound(store, file, progress)
            yield copy, store
        finally:
            store.close()


def _copied(file: str, copy: str, progress: Progress) -> Store:
    """The store of a copy; what is said of damage is said of the backup."""
    try:
        backups.copy_pages(file, copy, lambda n, of: progress(Step(n, of, "pages read")))
        return open_store(copy, DEFAULTS)
    except BaseDamaged as error:
        raise _damaged(file, "it cannot be read as a base") from error


def _check_sound(store: Store, file: str, progress: Progress) -> None:
    with store.copying().snapshot() as whole:
        for finding in (*contents(whole, progress).findings, *whole.findings(deep=True)):
            if finding.severity == DAMAGE:
                raise _damaged(file, finding.message)


def _damaged(file: str, message: str) -> BaseDamaged:
    return BaseDamaged(f"the backup {file} is damaged: {message}", hint="choose another backup")


def _is_there(base: str) -> bool:
    return is_url(base) or (os.path.exists(base) and os.path.getsize(base) > 0)


def _foreseen(backup: Store, base: str, file: str, settings: Settings) -> Restored:
    """How much there is before and after, and what only the base of today has."""
    stored = dict(_moments(backup))
    here = _opened(base, settings)
    if here is None:
        return Restored(shown(base), file, None, len(stored), 0)
    try:
        today = list(_moments(here))
        lost = [one for one, moment in today if stored.get(one, "") < moment]
        named = [here.find(one) for one in lost[:SHOWN]]
    except BaseDamaged:
        return Restored(shown(base), file, None, len(stored), 0)
    finally:
        here.close()
    names = tuple(f"{one.code} {one.title}" for one in named if one)
    return Restored(shown(base), file, len(today), len(stored), len(lost), names)


def _opened(base: str, settings: Settings) -> Store | None:
    """The base as it is; None when it is not there or too damaged to be opened."""
    if not _is_there(base):
        return None
    try:
        return open_store(base, settings)
    except (BaseDamaged, BaseMissing):
        return None
    except NotABase as error:
        raise NotABase(
            f"{shown(base)} is there, and no base: it is not replaced",
            hint="move that file away, then restore; kb repair saves what was a base",
        ) from error


def _moments(store: Store) -> Iterator[tuple[str, str]]:
    """Each document's id, and when it was last changed."""
    for batch in in_batches(store.copying()):
        for copy in batch:
            yield copy.document.id, copy.document.updated_at


def _beside(base: str, file: str, now: str) -> str:
    """Where what is replaced is kept: beside the base, or beside the backup of a database's."""
    stem, _ = os.path.splitext(file if is_url(base) else base)
    return dated(f"{stem}-replaced", now)


def _put(
    base: str, copy: str, store: Store, kept: str | None, settings: Settings, progress: Progress
) -> None:
    def told(done: int, total: int) -> None:
        progress(Step(done, total, "pages restored"))

    here = _opened(base, settings)
    if is_url(base):
        if here is None:
            create_store(base)
            here = open_store(base, settings)
        try:
            with store.copying().snapshot() as whole:
                here.copying().replace(whole, lambda: _keep(here, kept, progress))
        except BaseDamaged as error:
            raise _not_kept(base, kept, error) from error
        finally:
            here.close()
        return
    store.close()
    if here is not None:
        try:
            backups.put_in_place(copy, base, lambda: _keep(here, kept, progress), told)
            return
        except BaseDamaged:  # it opens, and no more: it is put aside as it is
            pass
        finally:
            here.close()
    with writing_files():
        os.makedirs(os.path.dirname(base), exist_ok=True)
        backups.finish(copy)
        backups.make_base(copy)
        if kept is not None:
            backups.put_aside(base, kept)
        backups.move_to(copy, base)


def _not_kept(base: str, kept: str | None, error: BaseDamaged) -> BaseDamaged:
    """A database has no file that could be put aside as it is."""
    if kept is None:
        return error
    return BaseDamaged(
        f"{shown(base)} is damaged and cannot be kept: {error.message}",
        hint="--discard restores without keeping it; kb repair first saves what it still holds",
    )


def _keep(store: Store, kept: str | None, progress: Progress) -> None:
    """The base as it is at this moment, as a backup."""
    if kept is not None:
        write(store, kept, progress)
