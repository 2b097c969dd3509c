"""Taking an export in: an empty base becomes the same base, any other one gets what it lacks."""

import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from knowbase.base import Base
from knowbase.exchange.edited import edited_pages
from knowbase.exchange.exported import VERSION, Exported
from knowbase.exchange.folder import digest_of, finish, within
from knowbase.exchange.imported import Imported
from knowbase.exchange.merging import merge
from knowbase.exchange.sources.opening import reading_files
from knowbase.ingest.embedding import Step
from knowbase.ingest.report import Taken
from knowbase.move import Transfer
from knowbase.move.paths import Relocated, has_no_home
from knowbase.upkeep.digests import digests, is_empty, of_history

Progress = Callable[[Step], None]


class Origin(NamedTuple):
    """The base that an export was made of, as a `knowbase.move.paths.Origin`."""

    shown: str
    path: str
    home: str


def take_export(
    base: Base, path: str, *, dry_run: bool = False, progress: Progress = lambda _: None
) -> Imported:
    """All of an export, and what was changed in its Markdown since."""
    with reading_files(path):
        if os.path.isdir(path) and not dry_run:
            finish(path)
        return _taken(base, path, dry_run, progress)


def _taken(base: Base, path: str, dry_run: bool, progress: Progress) -> Imported:
    with Exported(path) as export:
        taking = _Taking(base, export, path, progress)
        if dry_run:
            return taking.foreseen()
        found = taking.run()
        return found if found.interrupted else taking.with_edits(found)


class _Taking:
    """One import under way."""

    def __init__(self, base: Base, export: Exported, path: str, progress: Progress) -> None:
        self._base, self._export = base, export
        self._shown = os.path.abspath(path)
        self._progress = progress
        header = export.header
        self._origin = Origin(self._shown, header.path, header.home)
        self._stays = bool(export.originals)
        self._source = Relocated(export, self._origin, base, stays=self._stays)
        self._notices: list[str] = []

    def foreseen(self) -> Imported:
        """What would come of it; nothing is written."""
        parts = digests(self._source, self._progress)
        if self._is_to_be_same():
            there = len(self._base.store.copying().seqs())
            found = Imported(self._shown, added=parts[0].rows - there, unchanged=there)
        elif parts == digests(self._base.store.copying(), self._progress):
            found = Imported(self._shown, unchanged=parts[0].rows)
        else:
            found = merge(
                self._base, self._source, self._shown, dry_run=True, progress=self._progress
            )
        edits = edited_pages(self._base, self._export, dry_run=True)
        return _with(found, edits)._replace(parts=parts, dry_run=True)

    def run(self) -> Imported:
        self._check_as_written()
        if self._is_to_be_same():
            self._put_back_files()
            moved = Transfer(
                self._export, self._origin, self._base, self._progress, stays=self._stays
            ).run()
            return Imported(
                self._shown,
                added=moved.copied,
                unchanged=moved.there,
                parts=moved.parts,
                verified=moved.verified,
                interrupted=moved.interrupted,
                notices=(*self._notices, *moved.notices),
            )
        parts = digests(self._source, self._progress)
        if parts == digests(self._base.store.copying(), self._progress):
            return Imported(
                self._shown, unchanged=parts[0].rows, parts=parts, verified=True,
                notices=tuple(self._notices),
            )  # fmt: skip
        self._put_back_files()
        if self._export.versions:
            self._notices.append(
                "what its documents said before was not taken: only a base that is empty"
                " becomes the same with its history"
            )
        found = merge(self._base, self._source, self._shown, progress=self._progress)
        return found._replace(parts=parts, notices=(*self._notices, *found.notices))

    def with_edits(self, found: Imported) -> Imported:
        return _with(found, edited_pages(self._base, self._export))

    def _is_to_be_same(self) -> bool:
        """Whether the base has nothing of its own, or is becoming this copy."""
        copying = self._base.store.copying()
        unfinished = copying.source()
        return unfinished is not None or is_empty(copying)

    def _check_as_written(self) -> None:
        """Say that somebody, or a bad disk, has changed the lines; they are taken as they are.
        What an earlier version wrote had other sums."""
        if self._export.header.version < VERSION:
            return
        written = {part.name: part for part in self._export.parts}
        found = [*digests(self._export, self._progress)]
        if self._export.has_history:
            found.append(of_history(self._export))
        changed = [part.name for part in found if written.get(part.name) != part]
        if changed:
            self._notices.append(
                f"the export is not as it was written ({', '.join(changed)}); it was taken as it is"
            )

    def _put_back_files(self) -> None:
        """Copies of files go where they lay, seen from the base's home, unless something is
        there: an export never overwrites a file, nor writes one that hides or sets something."""
        if has_no_home(self._base) and self._export.originals:
            self._notices.append("a base in a database has no folder: its files stay in the export")
            return
        for stored, page in self._export.originals.items():
            target = os.path.join(self._base.home, stored)
            if not _is_harmless(stored):
                self._notices.append(f"{stored} is not put back: it lies outside, or is hidden")
            elif not os.path.lexists(target) and _goes_below(self._base.home, target):
                original = within(self._export.folder, page.name)
                if original is None or digest_of(self._export.folder, page.name) != page.sha256:
                    self._notices.append(f"{stored} is not put back: its copy is gone or changed")
                    continue
                try:
                    _copy(original, target)
                except OSError as error:
                    told = error.strerror or error
                    self._notices.append(f"{stored} is not put back: {told}")


def _copy(original: str, target: str) -> None:
    """Whole or not at all: what is there is not put back another time."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        shutil.copy2(original, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(target)
        raise


def _is_harmless(stored: str) -> bool:
    parts = stored.replace("\\", "/").split("/")
    hidden = any(part.startswith(".") or not part for part in parts)
    return not (hidden or os.path.isabs(stored) or ":" in parts[0] or parts[-1] == "kb.toml")


def _goes_below(home: str, target: str) -> bool:
    """Also where a folder on the way is a link to somewhere else."""
    real = os.path.realpath(os.path.dirname(target))
    return os.path.join(real, "").startswith(os.path.join(os.path.realpath(home), ""))


def _with(found: Imported, edits: Taken) -> Imported:
    return found._replace(
        added=found.added + len(edits.added),
        changed=found.changed + len(edits.changed),
        failed=(*found.failed, *edits.failed),
        skipped=(*found.skipped, *edits.skipped),
        chunks_embedded=found.chunks_embedded + edits.chunks_embedded,
        chunks_waiting=found.chunks_waiting + edits.chunks_waiting,
        interrupted=edits.interrupted,
        notices=(*found.notices, *edits.warnings),
    )
