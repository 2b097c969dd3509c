"""Keeping what a transaction replaces: the same rules for every store.

A store reads what is there before it writes, and calls `finish` when it has written. Only what
was replaced is stored: what a document says now lies in the current tables, and a chunk that a
change left alone is not stored again (decision 23).
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from knowbase.errors import BaseDamaged
from knowbase.store.versions import NO_CHANGE, standing
from knowbase.values.changes import Changes
from knowbase.values.copies import ChunkCopy, Copy
from knowbase.values.documents import Chunk, Document
from knowbase.values.history import (
    ADDED,
    CHANGED,
    ERASED,
    FORGOTTEN,
    REMOVED,
    SHOWN,
    Change,
    Command,
    Kept,
    PastChunk,
    PastVersion,
    Touched,
    command,
    packed,
    surface,
    writer,
)
from knowbase.values.vectors import Model, Vector

Keeps = Callable[[Document], bool]
"""Whether the versions of a document are kept."""


def keep_all(_: Document) -> bool:
    return True


class Keeping:
    """One transaction; each engine says how it reads and writes."""

    def __init__(self, now: str, keeps: Keeps = keep_all) -> None:
        self._at = now
        self._keeps = keeps
        self._kept: dict[int, Kept] = {}
        self._whole: set[int] = set()  # those of which the text was read, too
        self._vectors: Mapping[int, tuple[tuple[Model, Vector], ...]] = {}
        self._erased: set[str] = set()
        self._unreadable: set[int] = set()  # damaged: what they said is not known

    # what an engine has to do

    def _numbers(self, ids: Sequence[str], paths: Sequence[str]) -> set[int]:
        """Of the documents with one of these ids or paths."""
        raise NotImplementedError

    def _pointing(self, seqs: Collection[int]) -> set[int]:
        """The documents that have a relation to one of these."""
        raise NotImplementedError

    def _read(self, seqs: Collection[int], *, whole: bool) -> dict[int, Kept]:
        """The documents as they are, without vectors; whole: with their chunks."""
        raise NotImplementedError

    def _read_vectors(
        self, chunks: Collection[int]
    ) -> Mapping[int, tuple[tuple[Model, Vector], ...]]:
        """Those of the active model."""
        raise NotImplementedError

    def _next(self) -> tuple[int, int, int]:
        """The next numbers of a change, of a document and of a chunk."""
        raise NotImplementedError

    def _new(self, seqs: Collection[int]) -> list[tuple[str, str, str | None]]:
        """The ids, codes and projects of these, in their order."""
        raise NotImplementedError

    def _since(self, seqs: Collection[int]) -> dict[int, int]:
        """By which change each of them became what it was."""
        raise NotImplementedError

    def _past(self, ids: Collection[str]) -> dict[int, str]:
        """The numbers and ids of those documents that versions are kept of."""
        raise NotImplementedError

    def _drop(self, seq: int, until: int) -> tuple[int, int] | None:
        """Remove the versions that ended by then with their chunks; when the first of them began
        and the last one ended."""
        raise NotImplementedError

    def _write(
        self, change: Change, versions: Sequence[PastVersion], chunks: Sequence[PastChunk]
    ) -> None:
        raise NotImplementedError

    # what a transaction calls

    def keep_written(self, changes: Changes) -> None:
        """What is about to be written or removed, as it is."""
        self._erased = set(changes.erased)
        ids = [*changes.removed, *changes.erased, *(draft.id for draft in changes.drafts)]
        paths = [draft.path for draft in changes.drafts if draft.path is not None]
        seqs = self._numbers(ids, paths) if ids else set()
        if not seqs:
            return
        self._kept = self._read_sound(seqs, whole=True)
        self._whole = set(self._kept)
        self._kept |= self._read_sound(self._pointing(seqs) - seqs, whole=False)
        staying = {chunk.hash for draft in changes.drafts for chunk in draft.chunks}
        going = [
            one.id
            for seq in self._whole
            for one in self._kept[seq].copy.chunks
            if one.chunk.hash not in staying
        ]
        self._vectors = self._read_vectors(going) if going else {}

    def keep_said(self, changes: Changes, written: Collection[int]) -> None:
        """What something is about to be said of, as it is; but for what is being written."""
        ends = (*changes.relations, *changes.dropped_relations)
        ids = {one.document for one in changes.edits} | {one.document for one in changes.codes}
        ids |= {one.source for one in ends}
        seqs = self._numbers(list(ids), ()) if ids else set()
        self._kept |= self._read_sound(seqs - self._kept.keys() - set(written), whole=False)

    def _read_sound(self, seqs: Collection[int], *, whole: bool) -> dict[int, Kept]:
        """Damage must not be in the way of who mends it, by removing or writing anew."""
        try:
            return self._read(seqs, whole=whole)
        except BaseDamaged:
            if len(seqs) == 1:
                self._unreadable |= set(seqs)
                return {}
        found: dict[int, Kept] = {}
        for seq in seqs:
            found |= self._read_sound([seq], whole=whole)
        return found

    def finish(self, changes: Changes, written: Collection[int]) -> None:
        """Store what was replaced, and what the transaction has done."""
        now = self._read(self._kept.keys() & self._whole, whole=True)
        now |= self._read(self._kept.keys() - self._whole, whole=False)
        changed = {seq: one for seq, one in self._kept.items() if not _same(one, now.get(seq))}
        new = sorted(set(written) - self._kept.keys())
        erased = self._past(self._erased) if self._erased else {}
        gone = {seq: one for seq, one in erased.items() if seq not in changed}
        if not (changed or new or gone or self._unreadable):
            return
        touched = [_touched(one, now.get(seq), self._erased) for seq, one in changed.items()]
        touched += [Touched(ADDED, *one) for one in (self._new(new) if new else ())]
        known = {one.id for one in touched}
        touched += [Touched(ERASED, one, "") for one in sorted(self._erased - known) if gone]
        change = self._change(changes, touched)
        since = self._since(changed.keys() | self._unreadable)
        versions: list[PastVersion] = []
        chunks: list[PastChunk] = []
        for seq in self._unreadable:
            self._drop(seq, change.number)
            versions.append(PastVersion(seq, "", since[seq], change.number, None, None))
        for seq, old in sorted(changed.items()):
            version = PastVersion(seq, old.document.id, since[seq], change.number, None, None)
            if old.document.id in self._erased or not self._keeps(old.document):
                dropped = self._drop(seq, change.number)
                first = version.since if dropped is None else dropped[0]
                versions.append(version._replace(since=first))
                continue
            is_whole = seq in self._whole
            places = _places(old.copy) if is_whole else None
            versions.append(version._replace(data=packed(old), places=places))
            chunks += self._replaced(old.copy, now.get(seq), change.number) if is_whole else ()
        for seq, identity in gone.items():
            span = self._drop(seq, change.number) or (0, 0)
            versions.append(PastVersion(seq, identity, *span, None, None))
        self._write(change, versions, chunks)

    def _change(self, changes: Changes, touched: Iterable[Touched]) -> Change:
        number, *following = self._next()
        by = command.get() or Command(surface.get(), "", "")
        session = next((use.session for use in changes.uses), None)
        return Change(
            number,
            self._at,
            writer(),
            by.surface,
            by.name,
            session,
            by.run or f"change {number}",
            tuple(touched),
            *following,
        )

    def _replaced(self, old: Copy, new: Kept | None, until: int) -> list[PastChunk]:
        """Those chunks that say something else by now, are found otherwise, or are gone."""
        there = {one.id: _indexed(one) for one in new.copy.chunks} if new is not None else {}
        return [
            past_chunk(one, old.document.seq, until, self._vectors.get(one.id, ()))
            for one in old.chunks
            if there.get(one.id) != _indexed(one)
        ]


def _same(old: Kept, new: Kept | None) -> bool:
    if new is None:
        return False
    defaults: dict[str, Any] = dict.fromkeys(NO_CHANGE, "")
    before, after = (
        (one.document._replace(**defaults), one.copy.said, one.copy.links, one.relations)
        for one in (old, new)
    )
    return before == after and standing(old.copy) == standing(new.copy)


def _indexed(one: ChunkCopy) -> tuple[Chunk, str, str]:
    """What a chunk says, wherever it stands, and the words that find it."""
    return one.chunk._replace(line=0, page=None, tokens=0), one.title, one.terms


def _touched(old: Kept, new: Kept | None, erased: Collection[str]) -> Touched:
    if new is None:
        return _named(ERASED if old.document.id in erased else REMOVED, old.document)
    before, after = old.document.deleted_at, new.document.deleted_at
    if (before is None) == (after is None):
        return _named(CHANGED, new.document)
    return _named(FORGOTTEN if before is None else SHOWN, new.document)


def _named(what: str, document: Document) -> Touched:
    return Touched(what, document.id, document.code, document.project)


def past_chunk(
    one: ChunkCopy, seq: int, until: int, vectors: tuple[tuple[Model, Vector], ...]
) -> PastChunk:
    chunk = one.chunk
    return PastChunk(
        *(one.id, seq, until, chunk.slug, chunk.chunk_index, chunk.overlap, chunk.tokens),
        *(chunk.hash, chunk.heading, chunk.header, chunk.text, vectors, one.title, one.terms),
    )


def _places(copy: Copy) -> str:
    return json.dumps([(one.id, one.chunk.line, one.chunk.page) for one in copy.chunks])
