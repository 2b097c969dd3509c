"""Files that are gone: what becomes of their documents, or why nothing does."""

import os
from collections.abc import Sequence

from knowbase.ingest.parts import stored_parts
from knowbase.ingest.pending import Disk, Pending
from knowbase.ingest.walk import UNLISTED
from knowbase.store.contract import Store
from knowbase.values.changes import Changes
from knowbase.values.files import FileRecord

_NAMED = 3
ENOUGH = 3  # files: fewer may have been renamed


class GoneFiles:
    """Files that are gone and had documents: a new file may be one of them, which was moved."""

    def __init__(self, store: Store, work: Sequence[Pending]) -> None:
        self._store = store
        self._alike: dict[str, list[FileRecord]] = {}  # by content
        for each in work:
            for record in each.missing:
                if record.document:
                    self._alike.setdefault(record.sha256, []).append(record)
        self._paths = {one.path for records in self._alike.values() for one in records}

    def moved(self, sha256: str, code: str | None) -> tuple[str | None, str | None]:
        """The document that the new file has, and where it was: by its content, or by its code
        if it was renamed and changed."""
        if alike := self._alike.get(sha256):
            found = alike.pop(0)
            self._paths.discard(found.path)
            return found.document, found.path
        known = None if code is None else self._store.find(code)
        if known is None or known.path not in self._paths:
            return None, None
        return known.id, known.path


def those_here(work: Sequence[Pending], disk: Disk) -> tuple[list[Pending], list[str]]:
    """The work on folders that are what they were, and what is said of others. A base in a
    database is synced wherever the command is run: that may be another folder. What is added
    there by its name comes in; where no file is known, nothing is taken for one that was moved."""
    here: list[Pending] = []
    told: list[str] = []
    for each in work:
        if not _is_elsewhere(each, disk):
            here.append(each)
        elif each.scope.readmit:
            here.append(each if _has_any(each) else each._replace(missing=()))
        else:
            told.append(_elsewhere(each, disk))
    return here, told


def _is_elsewhere(each: Pending, disk: Disk) -> bool:
    """Whether most of the files that are known are not here, and others are."""
    partly = disk.home.below or disk.rules.among is not None
    if not disk.roams or partly or os.path.isabs(each.scope.source.path):
        return False
    gone, known = _gone_and_known(each, each.missing)
    return known >= ENOUGH and gone * 2 > known and each.has_new(disk.home)


def _has_any(each: Pending) -> bool:
    gone, known = _gone_and_known(each, each.missing)
    return gone < known


def _elsewhere(each: Pending, disk: Disk) -> str:
    gone, known = _gone_and_known(each, each.missing)
    source = each.scope.source.path
    new = next(
        home for one in each.to_read if (home := disk.home.stored(one.path)) not in each.records
    )
    return (
        f"{gone} of {known} files of {source} are not here, but others (such as {new}): is this"
        f" another folder? Nothing was taken in or out. If they belong there, run: kb add {source}"
    )


def too_many(each: Pending, missing: Sequence[FileRecord]) -> str | None:
    """Why nothing is removed: so much is gone that the folder itself may be away."""
    gone, known = _gone_and_known(each, missing)
    if gone * 2 <= known:
        return None
    return (
        f"{gone} of {known} files of {each.scope.source.path} are"
        " gone; nothing was removed. If that is right, run: kb sync --prune"
    )


def _gone_and_known(each: Pending, missing: Sequence[FileRecord]) -> tuple[int, int]:
    gone, known = (
        sum(_is_file(one) for one in files) for files in (missing, each.records.values())
    )
    return gone, known + each.passed


def put_back(missing: Sequence[FileRecord]) -> str:
    """What is said of documents that were put back, while their files are gone."""
    are = "1 file is" if len(missing) == 1 else f"{len(missing)} files are"
    named = ", ".join(record.path for record in missing[:_NAMED])
    more = ", …" if len(missing) > _NAMED else ""
    return (
        f"{are} not there, of documents that were put back: {named}{more};"
        " if they are to go, run: kb sync --prune"
    )


def removal_of(store: Store, missing: Sequence[FileRecord]) -> Changes:
    """Without these files, their documents, and those that lay in them."""
    parts = stored_parts(store, [record.path for record in missing])
    documents = [record.document for record in missing if record.document]
    return Changes(
        removed=(*documents, *(part.id for part in parts.values())),
        forgotten=tuple(record.path for record in missing),
    )


def _is_file(record: FileRecord) -> bool:
    """One that counts: not what was left out, nor a folder that could not be listed."""
    return record.skipped is None and not (record.problem or "").startswith(UNLISTED)
