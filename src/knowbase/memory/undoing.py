"""Going back: a document as it was, or all that one command changed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import Conflict, NotAllowed, NotFound
from knowbase.ingest.parts import file_of, stored_parts
from knowbase.ingest.put_back import PutBack, files_of, without_source
from knowbase.ingest.removal import kept_out, removal_of
from knowbase.memory.history import LoggedChange, Records, built_upon, logged
from knowbase.store.versions import same_text
from knowbase.values.arguments import checks_arguments
from knowbase.values.changes import Changes, Draft, Edit
from knowbase.values.documents import EDITABLE, FIELDS, STATED, Document
from knowbase.values.history import ERASED, Change, Kept, Wanted, writer
from knowbase.values.reading import Reading, Section

if TYPE_CHECKING:
    from knowbase.values.edges import Relation
    from knowbase.values.vectors import Vector

_MOST = 2**62
_LOOKED_AT = 10_000  # changes, for a list of commands


class Undone(NamedTuple):
    """What was taken back, or would be."""

    changes: tuple[LoggedChange, ...]  # of one command, the newest first
    restored: tuple[str, ...]  # codes of documents that are as they were
    removed: tuple[str, ...]  # of those that were not there before
    dry_run: bool = False
    unsynced: tuple[str, ...] = ()  # where files lie again that no source holds: kb add takes them


class Erased(NamedTuple):
    """What is gone for good, with all that it ever was."""

    codes: tuple[str, ...]  # of documents that were there
    number: int  # with those of which there were only versions
    is_swept: bool = True  # False: free pages of the file may still have its text


class Runs(NamedTuple):
    """What could be undone, the newest first: the last change of each command, with all that
    the command touched."""

    runs: tuple[LoggedChange, ...]


@checks_arguments
class History(Records):
    """What a base was, and going back to it: that is a change as any other, which can be undone
    itself."""

    def restore(self, reference: str, when: str) -> Document:
        """Let a document be again what it was at a moment; what it is now becomes a version."""
        kept = self.at(reference, when)
        changes = self._back([kept])
        self.store.apply(changes, self.clock())
        found = self.store.find(kept.document.id)
        if found is None:  # its path belongs to another one by now, which became it
            found = self.store.find(kept.document.path or "")
        if found is None:
            raise NotFound(f"{kept.document.code} has just been removed")
        return found

    def undoable(self, limit: int = 20) -> Runs:
        """What commands have changed, the last one first."""
        found: dict[str, LoggedChange] = {}
        for one in map(logged, self.store.history().changes(Wanted(limit=_LOOKED_AT))):
            if one.run not in found and len(found) == limit:
                break
            known = found.setdefault(one.run, one._replace(touched=()))
            found[one.run] = known._replace(touched=(*known.touched, *one.touched))
        return Runs(tuple(found.values()))

    def undo(self, change: int | None = None, *, dry_run: bool = False) -> Undone:
        """Take back all that a command changed: the last one, or the one that made this change;
        what was built upon since is refused, and what another one did unless it is named."""
        run = self._run(change)
        if change is None and (other := run[0].who) not in (writer(), ""):
            number = run[0].number
            told = f"the last change, #{number}, is {other}'s"
            raise Conflict(told, field="change", hint=f"kb undo {number} takes it back")
        first, last = run[-1].number, run[0].number
        touched = [one for part in run for one in part.touched]
        codes = {one.id: one.code for one in touched}
        if any(one.what == ERASED for one in touched):
            raise Conflict("what was erased is gone for good; nothing was undone", field="change")
        back: list[Kept] = []
        gone: list[str] = []
        again: list[str | None] = []
        for document, code in codes.items():
            self._check_last(document, code, last)
            kept, is_there = self._before(document, code, first - 1), self.store.find(document)
            if kept is not None:
                back.append(kept)
                again += [] if is_there else [kept.document.path]
            elif is_there:
                gone.append(document)
        unsynced = without_source(self.store, again)
        if not dry_run:
            self.store.apply(self._back(back, gone), self.clock())
        restored = tuple(one.document.code for one in back)
        removed = tuple(codes[one] for one in gone)
        return Undone(tuple(map(logged, run)), restored, removed, dry_run, unsynced)

    def erase(self, references: Sequence[str]) -> Erased:
        """Remove documents for good, with every version of them; a file that one came from is
        kept out from now on."""
        documents = [self._there_or_past(one) for one in references]
        there = [one for one in documents if self.store.find(one) is not None]
        changes = Changes()
        removal: tuple[Document, ...] = ()
        if there:
            changes, found = removal_of(there, self.store, self.services().home, self._known)
            removal = found.documents
        ids = dict.fromkeys((*changes.removed, *documents))
        self.store.apply(changes._replace(removed=(), erased=tuple(ids)), self.clock())
        return Erased(tuple(one.code for one in removal), len(ids), self._sweep())

    def _sweep(self) -> bool:
        """Whether the file was written anew: what is removed from a database stays in its free
        pages. Who may see a part of the base alone has the rest left in peace."""
        try:
            return self.store.compact()
        except NotAllowed:
            return False

    def _there_or_past(self, reference: str) -> str:
        there = self.find(reference)
        gone = None if there is not None else self.store.history().past(reference)
        return there.id if there is not None else gone or self.named(reference).id

    def _run(self, number: int | None) -> list[Change]:
        history = self.store.history()
        if number is None:
            found = history.changes(Wanted(limit=1))
        else:
            found = [one for one in history.numbered([number]).values() if number and one.touched]
        if not found:
            what = "there is nothing to be undone" if number is None else f"no change #{number}"
            raise NotFound(what, field="change", hint="kb undo --list")
        return history.changes(Wanted(run=found[0].run, limit=_MOST))

    def _check_last(self, document: str, code: str, last: int) -> None:
        """Refuse what something was built upon."""
        versions = self.store.history().versions(document)
        numbers = [one.since if one.until is None else one.until for one in versions]
        if numbers and max(numbers) > last:
            raise built_upon(code, max(numbers))

    def _before(self, document: str, code: str, number: int) -> Kept | None:
        found = self.store.history().version(document, number)
        if found is None:
            versions = self.store.history().versions(document)
            if any(one.has(number) for one in versions):
                raise Conflict(
                    f"what {code} said before is no longer kept; nothing was undone",
                    field="change",
                    hint="history.keep says for how long it is",
                )
        return found

    # what is written

    def _back(self, kept: Sequence[Kept], gone: Sequence[str] = ()) -> Changes:
        removing = self._removing([self._known(one) for one in gone])
        drafts, edits = [], []
        back: list[PutBack] = []
        relations: list[Relation] = []
        dropped: list[Relation] = []
        for one in kept:
            now = self.store.history().version(one.document.id, self.store.history().last())
            if now is None or not same_text(one, now):
                drafts.append(self._draft(one, is_gone=now is None))
                back.append(PutBack(one.document, now.document.path if now else None))
            edit = _said(one, now)
            if edit.values:
                edits.append(edit)
            there = {r[:3]: r for r in now.relations} if now is not None else {}
            then = {r[:3]: r for r in one.relations}
            relations += [r for key, r in then.items() if key not in there]
            dropped += [r for key, r in there.items() if key not in then]
        files = files_of(self.store, back)
        return removing._replace(
            drafts=tuple(drafts),
            files=(*removing.files, *files.records),
            forgotten=(*removing.forgotten, *files.forgotten),
            edits=tuple(edits),
            relations=tuple(relations),
            dropped_relations=tuple(dropped),
        )

    def _removing(self, gone: Sequence[Document]) -> Changes:
        """Files that nothing is left of are kept out, as after a removal: their source stays."""
        ids = {one.id for one in gone}
        records = self.store.files() if any(one.path for one in gone) else {}
        holders = {file_of(one.path, records) for one in gone if one.path} - {None}
        sources = {one.path for one in self.store.sources()}
        files, forgotten = [], []
        for holder in sorted(one for one in holders if one is not None):
            record = records[holder]
            parts = {one.id for one in stored_parts(self.store, [holder]).values()}
            if parts - ids or (record.document not in ids and not parts):
                continue
            out = kept_out(record, sources)
            files += [out] if out is not None else []
            forgotten += [holder] if out is None else []
        return Changes(removed=tuple(ids), files=tuple(files), forgotten=tuple(forgotten))

    def _known(self, reference: str) -> Document:
        found = self.store.find(reference)
        if found is None:
            raise NotFound(f"{reference} has just been removed")
        return found

    def _draft(self, kept: Kept, *, is_gone: bool) -> Draft:
        copy, document = kept.copy, kept.document
        names = (*STATED, "metadata", "split_by")
        stated = {
            name: getattr(document, name)
            for name in names
            if not FIELDS[name].kept or name == "created_at" or (is_gone and name == "salience")
        }
        whole = (Section("_preamble", None, "", kept.text, 1),)  # as one: it is split already
        reading = Reading(document.type, document.title, whole, stated, copy.links)
        chunks = tuple(one.chunk for one in copy.chunks)
        model = self.store.model()
        known = self.store.vectors({one.hash for one in chunks}, model) if model else {}
        vectors: list[Vector | None] = [
            dict(one.vectors).get(model) if model and one.vectors else None for one in copy.chunks
        ]
        given = (
            vector or known.get(chunk.hash) for vector, chunk in zip(vectors, chunks, strict=True)
        )
        path, at = document.path, document.updated_at
        return Draft(document.id, reading, path, at, chunks, tuple(given))


def _said(kept: Kept, now: Kept | None) -> Edit:
    """Of what commands say, all that is otherwise by now, or was said then."""
    document = kept.document
    wanted = set(kept.copy.said)
    if now is not None:
        wanted |= {n for n in EDITABLE if getattr(now.document, n) != getattr(document, n)}
        wanted |= set(now.copy.said)
        wanted -= {
            name
            for name in wanted
            if now.copy.said.get(name, ...)
            == getattr(document, name)
            == getattr(now.document, name)
        }
    return Edit(document.id, {name: getattr(document, name) for name in sorted(wanted)})
