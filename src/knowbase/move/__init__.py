"""Moving a base: all of it into another one, whatever the engines. The first one stays.

Documents go over in batches, each in one transaction. A run that was stopped is run again:
what is there already, and is the same, is left alone.
"""

import os
from collections.abc import Callable, Sequence
from typing import NamedTuple

from knowbase.base import Base, create
from knowbase.base import open as open_base
from knowbase.errors import BaseError, BaseMissing, BaseTaken, InvalidInput
from knowbase.ingest.embedding import Step, indexed
from knowbase.move.paths import Origin, Relocated, notices
from knowbase.store.contract import CopySource, Snapshot
from knowbase.store.linking import index_or_later
from knowbase.store.location import new_place, shown
from knowbase.upkeep.digests import Digests, Part, digests, is_empty, of_history, same
from knowbase.values.changes import Changes
from knowbase.values.copies import Copy, batches, large

Progress = Callable[[Step], None]


class Moved(NamedTuple):
    """What came of moving a base; the same parts are in the source and in the target."""

    source: str
    target: str
    parts: tuple[Part, ...]  # what there is of each kind, in the source
    copied: int  # documents that this run has written
    there: int  # documents that were there already
    verified: bool = False  # every part was read again from the copy and is the same
    dry_run: bool = False
    interrupted: bool = False
    notices: tuple[str, ...] = ()


def move(
    source: str, target: str, *, dry_run: bool = False, progress: Progress = lambda _: None
) -> Moved:
    """Copy a whole base into a new one, or go on with a copy that was not finished."""
    place = new_place(target)
    with open_base(source) as first:
        if place == first.path or _is_same_file(place, first.path):
            raise _where_it_is()
        unfinished = first.store.copying().source()
        if unfinished is not None:
            raise BaseTaken(
                f"{first.shown} is itself an unfinished copy of {unfinished}",
                field="source",
                hint=f"finish that first: kb move {unfinished} {first.shown}",
            )
        # One state of the base from here to the end, whoever writes to it meanwhile.
        with first.store.copying().snapshot() as whole:
            if dry_run:
                return _foreseen(whole, first, place, progress)
            with _opened(place) or create(place) as second:
                _check_other(first, second)
                moving = Transfer(whole, first, second, progress)
                moved = moving.run()
                if moved.interrupted:
                    return moved
                return moved._replace(notices=(*_later(first, whole), *moved.notices))


def _is_same_file(place: str, other: str) -> bool:
    """Whether two names are one file. Looked at before it is opened under the second one:
    beside a hard link, SQLite would keep a second journal."""
    try:
        return os.path.samefile(place, other)
    except OSError:  # a URL, or not there yet
        return False


def _check_other(first: Base, second: Base) -> None:
    """Refuse one base under two names: what looks like its copy would be the only one."""
    if first.store.copying().identity() == second.store.copying().identity():
        raise _where_it_is()


def _where_it_is() -> InvalidInput:
    return InvalidInput(
        "a base cannot be moved to where it is", field="target", hint="name another place"
    )


def _opened(place: str) -> Base | None:
    """The base there; None when there is none yet."""
    try:
        return open_base(place)
    except BaseMissing:
        return None


def _foreseen(whole: Snapshot, first: Base, place: str, progress: Progress) -> Moved:
    """What would be copied; nothing is made or written."""
    parts = digests(whole, progress)
    second, there = _opened(place), 0
    if second is not None:
        with second:
            _check_other(first, second)
            there = len(Transfer(whole, first, second, progress).there())
    return Moved(first.shown, shown(place), parts, parts[0].rows - there, there, dry_run=True)


class Transfer:
    """From one base, or what is one, into another."""

    def __init__(
        self,
        whole: CopySource,
        first: Origin,
        second: Base,
        progress: Progress,
        *,
        stays: bool = False,  # relative paths: the files come along
    ) -> None:
        self._first, self._second = first, second
        self._source = Relocated(whole, first, second, stays=stays)
        self._target = second.store.copying()
        self._progress = progress
        self._parts: tuple[Part, ...] = ()
        self._there: set[int] = set()
        self._copied = 0
        self._read = Digests()  # of what was read to be copied

    def run(self) -> Moved:
        try:
            self._there = self.there()
            if self._target.source() is not None or not self._there:
                self._copy()
            self._verify()
        except KeyboardInterrupt:
            return self._report(interrupted=True)
        return self._report(verified=True)

    def there(self) -> set[int]:
        """The documents that are there and the same; a base with anything else is refused."""
        copy_of = self._target.source()
        if copy_of is None and not is_empty(self._target):
            if digests(self._source, self._progress) != digests(self._target, self._progress):
                raise BaseTaken(
                    f"{self._second.shown} has documents of its own",
                    field="target",
                    hint="name a base that is not there yet; it will be made",
                )
            return set(self._target.seqs())
        if copy_of not in (None, self._first.shown):
            raise BaseTaken(
                f"{self._second.shown} is an unfinished copy of {copy_of}",
                field="target",
                hint=f"finish that: {_again(copy_of, self._second.shown)}; or name another base",
            )
        return self._same_documents()

    def _same_documents(self) -> set[int]:
        found: set[int] = set()
        for batch in batches(self._target.seqs()):
            theirs = {one.document.seq: one for one in self._source.copies(batch)}
            for copy in self._target.copies(batch):
                if same(copy, theirs.get(copy.document.seq)):
                    found.add(copy.document.seq)
        return found

    def _copy(self) -> None:
        self._target.start(self._first.shown, self._source.frame())
        self._drop_others()
        seqs = [seq for seq in self._source.seqs() if seq not in self._there]
        for copies in large(map(self._source.copies, batches(seqs))):
            self._read.add(copies)
            self._paste(copies)
            self._progress(Step(self._copied, len(seqs), "documents copied"))
        self._target.paste_shared(self._source.shared())
        self._target.paste_history(self._source.history())
        index_or_later(self._second.store, indexed(self._progress))  # of all at once

    def _drop_others(self) -> None:
        """What was copied before and has changed since, or is gone: first of all, so that
        nothing is in the way of a code or path that now belongs to another document."""
        others = [seq for seq in self._target.seqs() if seq not in self._there]
        for batch in batches(others):
            ids = tuple(copy.document.id for copy in self._target.copies(batch))
            self._second.store.apply(Changes(removed=ids), self._second.now())

    def _paste(self, copies: Sequence[Copy]) -> None:
        self._target.paste(copies)
        self._copied += len(copies)

    def _verify(self) -> None:
        """Read everything again from the target; from the source only what was not copied now:
        that is of one moment, and what was read then is what is there."""
        if self._there:
            self._parts = digests(self._source, self._progress)
        else:
            self._parts = self._read.parts(self._source)
        found = digests(self._target, self._progress)
        differing = [
            one.name for one, other in zip(self._parts, found, strict=True) if one != other
        ]
        was = of_history(self._source)
        if was.rows and was != of_history(self._target):
            differing.append(was.name)
        if differing:
            raise BaseError(
                f"the copy is not the same yet: {', '.join(differing)}",
                hint="something else has written to the copy: run it again, only that is copied",
            )
        if self._target.source() is not None:
            self._target.end()

    def _report(self, *, verified: bool = False, interrupted: bool = False) -> Moved:
        return Moved(
            self._first.shown,
            self._second.shown,
            self._parts,
            self._copied,
            len(self._there),
            verified=verified,
            interrupted=interrupted,
            notices=() if interrupted else notices(self._first, self._second),
        )


def _again(copy_of: str | None, target: str) -> str:
    """The command that goes on with a copy; of an export, that is a folder."""
    if copy_of and os.path.isdir(copy_of):
        return f"kb import {copy_of} --base {target}"
    return f"kb move {copy_of} {target}"


def _later(first: Base, whole: CopySource) -> tuple[str, ...]:
    """The copy is of the moment when it was begun: say so when there is more by now."""
    if _written(first.store.copying()) == _written(whole):
        return ()
    return (
        "the base was written to meanwhile; the copy is as it was at the start."
        " To move for good, stop what writes to it first",
    )


def _written(whole: CopySource) -> tuple[object, ...]:
    """What is another one after most changes, and cheap to ask for."""
    shared = whole.shared()
    return (whole.frame(), whole.seqs(), len(shared.uses), shared.sessions, shared.relations)
