"""Backups: the whole base as one file, taken while it is used, verified before it has its name.

A backup is itself a base, whatever engine it was taken from: `kb --base FILE search` opens it.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from knowbase.config import DEFAULTS
from knowbase.errors import BaseDamaged, BaseError, BaseReadOnly, BaseTaken, DiskFull, InvalidInput
from knowbase.ingest.embedding import Step
from knowbase.store.contract import Snapshot, Store
from knowbase.store.location import FILE, FOLDER, is_url, shown, split_url
from knowbase.store.opening import create_store, open_store
from knowbase.store.sqlite import backups
from knowbase.store.sqlite.beside import remove_all
from knowbase.upkeep.digests import Part, digests
from knowbase.values.copies import batches
from knowbase.values.findings import DAMAGE

Progress = Callable[[Step], None]
PART = ".part"
_STALE = 3600.0  # seconds since something was written to a part: whoever wrote it is gone
_FULL = 28  # errno of a full disk


class Backup(NamedTuple):
    """What came of a backup."""

    base: str
    file: str
    taken_at: str  # the moment that it shows
    bytes: int
    parts: tuple[Part, ...]  # what there is of each kind
    verified: bool = False  # read again from the file, and the same as at that moment
    removed: tuple[str, ...] = ()  # older ones
    dry_run: bool = False


class Wanted(NamedTuple):
    """Where a backup goes, and how many are kept there."""

    target: str
    keep: int | None = None
    dry_run: bool = False


def backup(
    store: Store, base: str, wanted: Wanted, now: str, progress: Progress = lambda _: None
) -> Backup:
    """Write a file, or into a folder one with the moment in its name."""
    target, keep, dry_run = wanted
    folder = _folder(target)
    if keep is not None and folder is None:
        raise InvalidInput(
            "keep needs a folder: the oldest backups in it are removed",
            field="keep",
            hint="kb backup FOLDER/ --keep 7",
        )
    if store.has_lost_writes():
        keep = None  # an older one has what this one lacks
    stem = _stem(base)
    path = os.path.abspath(os.path.expanduser(target)) if folder is None else ""
    if folder is not None:
        path = dated(os.path.join(folder, stem), now)
    _check_target(path, base)
    if dry_run:
        old = _older(folder, stem, keep, path)
        return Backup(shown(base), path, now, 0, (), removed=old, dry_run=True)
    parts = write(store, path, progress)
    old = _older(folder, stem, keep, path)
    with writing_files():
        for one in old:
            with suppress(FileNotFoundError):  # another backup was faster
                os.remove(one)
    return Backup(shown(base), path, now, os.path.getsize(path), parts, True, old)


def _folder(target: str) -> str | None:
    """The folder that a target names; None for a file."""
    path = os.path.expanduser(target)
    if os.path.isdir(path) or target.endswith(("/", os.sep)):
        return os.path.abspath(path)
    return None


def _stem(base: str) -> str:
    """What backups of this base are called: as its file, but for `.kb/base.db`, which every folder
    may have, as the folder; or as its name in the database."""
    if is_url(base):
        name = split_url(base)[1] or "base"
    else:
        folder, file = os.path.split(os.path.abspath(base))
        above, own = os.path.split(folder)
        is_usual = (own, file) == (FOLDER, FILE) and os.path.basename(above)
        name = os.path.basename(above) if is_usual else os.path.splitext(file)[0]
    return re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII)


def compact(moment: str) -> str:
    """2026-11-16T10:15:00.123456Z as it stands in the name of a file: 20261116T101500Z."""
    return moment[:19].replace("-", "").replace(":", "") + "Z"


def dated(stem: str, now: str, end: str = ".db") -> str:
    """A name with a moment in it that no file has yet."""
    path = f"{stem}-{compact(now)}"
    number = 2
    found = path + end
    while os.path.exists(found):
        found = f"{path}-{number}{end}"
        number += 1
    return found


def _older(folder: str | None, stem: str, keep: int | None, new: str) -> tuple[str, ...]:
    """The backups of this base's own naming beyond those that are kept, the oldest first; the
    new one is the newest, whatever the clock said when the others were made."""
    if folder is None or keep is None:
        return ()
    own = re.compile(rf"{re.escape(stem)}-\d{{8}}T\d{{6}}Z(?:-(\d+))?\.db")
    found: list[tuple[str, int, str]] = []
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        match, path = own.fullmatch(name), os.path.join(folder, name)
        if match and path != new and os.path.isfile(path) and backups.is_backup(path):
            moment = name[: len(stem) + 17]
            found.append((moment, int(match[1] or 1), path))
    ordered = [path for *_, path in sorted(found)]
    return tuple([*ordered, new][: -max(1, keep)])


def _check_target(path: str, base: str) -> None:
    """Only a backup is ever replaced."""
    if not is_url(base) and os.path.abspath(path) == os.path.abspath(base):
        raise InvalidInput(
            "a base cannot be backed up into itself", field="target", hint="name another file"
        )
    if not os.path.lexists(path):
        return
    is_file = os.path.isfile(path)  # not a folder, a device, a pipe or a link to nothing
    if is_file and os.path.getsize(path) == 0:
        return
    if not is_file or not backups.is_backup(path):
        raise BaseTaken(
            f"{path} is there, and no backup: it is not replaced",
            field="target",
            hint="name another file, or a folder",
        )


def write(store: Store, path: str, progress: Progress) -> tuple[Part, ...]:
    """The base as it is now in a file, which gets its name once it is verified."""
    with part_of(path) as part:
        with store.copying().snapshot() as whole:
            _copy(whole, part, progress)
            parts = digests(whole, progress)
        verify(part, parts, progress)
        backups.finish(part)
        backups.move_to(part, path)
    return parts


@contextmanager
def part_of(path: str) -> Iterator[str]:
    """The name of a file while it is made, beside its own; whatever happens, nothing stays."""
    # No other's name: neither a thread's of this process, nor what one of its number left.
    part = f"{path}.{os.getpid()}{time.time_ns()}{PART}"
    with writing_files():
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _remove_stale(path)
        try:
            yield part
        finally:
            remove_all(part)


@contextmanager
def writing_files() -> Iterator[None]:
    """Errors of the disk as knowbase errors."""
    try:
        yield
    except BrokenPipeError:  # whoever was told of the progress is gone
        raise
    except OSError as error:
        if error.errno == _FULL:
            raise DiskFull(
                "there is no space left for it", hint="free some space, or choose another place"
            ) from error
        raise BaseReadOnly(
            f"it cannot be written there: {error.strerror or error}",
            hint="check the permissions of the folder, or choose another place",
        ) from error


def _remove_stale(path: str) -> None:
    """What a run that was killed left in this folder."""
    folder = os.path.dirname(path)
    for name in os.listdir(folder):
        one = os.path.join(folder, name)
        if re.search(rf"\.\d+{re.escape(PART)}$", name):
            with suppress(OSError):
                is_old = time.time() - os.path.getmtime(one) > _STALE
                if is_old and (os.path.getsize(one) == 0 or backups.is_ours(one)):
                    remove_all(one)


def _copy(whole: Snapshot, part: str, progress: Progress) -> None:
    """All of it, by pages if the engine has them, else by documents."""
    backups.new_file(part)
    if whole.pages_to(part, lambda done, all_: progress(Step(done, all_, "pages copied"))):
        return
    create_store(part)
    target = open_store(part, DEFAULTS)
    try:
        copying = target.copying()
        copying.start("a base", whole.frame())
        seqs, done = whole.seqs(), 0
        for batch in batches(seqs):
            copying.paste(whole.copies(batch))
            done += len(batch)
            progress(Step(done, len(seqs), "documents copied"))
        copying.paste_shared(whole.shared())
        copying.paste_history(whole.history())
        copying.end()
    finally:
        target.close()


def verify(file: str, parts: tuple[Part, ...], progress: Progress) -> None:
    """Read a copy from its file: sound, and the same as what it was made from."""
    store = open_store(file, DEFAULTS)
    try:
        with store.copying().snapshot() as copy:
            for finding in copy.findings(deep=False):
                if finding.severity != DAMAGE:
                    continue
                raise BaseDamaged(
                    f"the base is damaged: {finding.message}",
                    hint="kb check says where, then kb repair saves what can be saved",
                )
            found = digests(copy, progress)
    finally:
        store.close()
    differing = [one.name for one, other in zip(parts, found, strict=True) if one != other]
    if differing:
        raise BaseError(
            f"the copy is not what was written: {', '.join(differing)}",
            hint="the disk may be failing: try another one",
        )
