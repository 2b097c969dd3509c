"""Checking: what is damaged or out of step, and what to do about it."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from shlex import quote
from typing import NamedTuple

from knowbase.errors import BaseDamaged, BaseError, KnowbaseError, NotABase
from knowbase.ingest.embedding import Step
from knowbase.ingest.parts import file_of
from knowbase.ingest.places import Home, around
from knowbase.query.conditions import Compare
from knowbase.store.contract import CopySource, Snapshot, Store
from knowbase.store.seals import Seals, seals_of, vector_seal
from knowbase.values.copies import Copy, batches
from knowbase.values.documents import Page
from knowbase.values.files import NOT_AS_READ, FileRecord
from knowbase.values.findings import DAMAGE, NOTICE, PROBLEM, Finding
from knowbase.values.vectors import Model

Progress = Callable[[Step], None]
FOUND = BaseError.exit_code
_SNAPSHOT = 50  # batches; then the next moment is looked at, so that writers' journals stay short
_NAMED = 20  # documents or files that a finding names
_AT_ONCE = 10_000  # documents
_OF_A_FILE = Compare("path", "present")
_REPAIR = "kb repair"
_WHAT = {
    "fields": "its fields are not what was written",
    "text": "its text is not what was written",
    "use": "its use and feedback are not what was written",
}


class Checked(NamedTuple):
    """What a check found; nothing worse than a notice: the base is sound."""

    base: str
    deep: bool
    documents: int
    vectors: int  # whose seals were compared
    files: int
    findings: tuple[Finding, ...]
    sealed: int = 0  # documents from before there were seals, sealed now

    @property
    def is_sound(self) -> bool:
        return all(one.severity == NOTICE for one in self.findings)

    @property
    def exit_code(self) -> int:
        return 0 if self.is_sound else FOUND


def check(
    store: Store,
    shown: str,
    home: str,
    *,
    deep: bool = False,
    progress: Progress = lambda _: None,
) -> Checked:
    """Look at everything that can be checked; deep: read every document, vector and file."""
    copying = store.copying()
    sealed = 0
    found: list[Finding] = []
    with copying.snapshot() as whole:
        found += whole.findings(deep=deep)
    found += _lost(store)
    read = Contents((), 0, 0, 0)
    if deep:
        read = _all_contents(store, progress)
        found += read.findings
        sealed = _seal(store) if read.unsealed else 0
    files, of_files = _files(store, Home(home), deep=deep, progress=progress)
    documents = read.documents if deep else _count(store, found)
    return Checked(shown, deep, documents, read.vectors, files, (*found, *of_files), sealed)


def unopened(shown: str, error: KnowbaseError, *, deep: bool) -> Checked:
    """What is said of a base that cannot even be opened."""
    hint = "kb repair" if isinstance(error, (BaseDamaged, NotABase)) else error.hint or ""
    finding = Finding("file", DAMAGE, f"it cannot be opened: {error.message}", hint)
    return Checked(shown, deep, 0, 0, 0, (finding,))


def _lost(store: Store) -> Iterator[Finding]:
    """What was in a journal that is gone."""
    with suppress(BaseDamaged):  # which is found elsewhere
        if store.has_lost_writes():
            message = "the journal was deleted, and with it what was written last"
            yield Finding("files", PROBLEM, message, "kb sync")


def _count(store: Store, found: list[Finding]) -> int:
    try:
        return len(store.copying().seqs())
    except BaseDamaged as error:
        found.append(Finding("documents", DAMAGE, error.message, _REPAIR))
        return 0


def _seal(store: Store) -> int:
    """From now on, damage to what had no seals is noticed, too."""
    try:
        return store.copying().seal()
    except BaseError:  # it cannot be written, or is damaged: that has been said
        return 0


# documents and vectors


class Contents(NamedTuple):
    """What reading everything has found."""

    findings: tuple[Finding, ...]
    documents: int
    vectors: int
    unsealed: int  # documents and vectors from before there were seals


def contents(whole: Snapshot, progress: Progress = lambda _: None) -> Contents:
    """Everything, as it is at one moment."""
    reading = _Reading()
    seqs = reading.seqs(whole)
    for batch in batches(seqs):
        reading.look(whole, batch)
        progress(Step(reading.documents, len(seqs), "documents read"))
    reading.look_at_shared(whole)
    return reading.found()


def _all_contents(store: Store, progress: Progress) -> Contents:
    """Everything, a stretch at a time: a base that is written to is not held at one moment."""
    reading = _Reading()
    copying = store.copying()
    seqs = list(batches(reading.seqs(copying)))
    total = sum(map(len, seqs))
    for start in range(0, len(seqs), _SNAPSHOT):
        with copying.snapshot() as whole:
            for batch in seqs[start : start + _SNAPSHOT]:
                reading.look(whole, batch)
                progress(Step(reading.documents, total, "documents read"))
    reading.look_at_shared(copying)
    return reading.found()


class _Reading:
    """Documents, vectors and seals, compared batch by batch."""

    def __init__(self) -> None:
        self.documents = self._vectors = self._unsealed = 0
        self._wrong: dict[tuple[str, str], list[str]] = {}  # part and message: documents

    def seqs(self, whole: CopySource) -> list[int]:
        try:
            return whole.seqs()
        except BaseDamaged as error:
            self._note("documents", error.message, "")
            return []

    def look(self, whole: Snapshot, batch: Sequence[int]) -> None:
        """If a batch cannot be read, each of its documents is tried by itself."""
        self.documents += len(batch)
        try:
            self._compare(whole, batch)
        except BaseDamaged:
            for seq in batch:
                try:
                    self._compare(whole, [seq])
                except BaseDamaged as error:
                    self._note("documents", error.message, f"number {seq}")

    def _compare(self, whole: Snapshot, batch: Sequence[int]) -> None:
        copies = whole.copies(batch)
        seals, of_vectors = whole.seals(batch), whole.vector_seals(batch)
        expected = [(copy, seals_of(copy)) for copy in copies]  # all of it can be read
        for copy, wanted in expected:
            stored = seals.get(copy.document.seq, Seals(None, None, None))
            self._unsealed += stored.fields is None
            for name, message in _WHAT.items():
                kept = getattr(stored, name)
                if kept is not None and kept != getattr(wanted, name):
                    self._note("documents", message, copy.document.code)
            self._compare_vectors(copy, of_vectors)

    def _compare_vectors(self, copy: Copy, seals: dict[tuple[int, Model], bytes | None]) -> None:
        for chunk in copy.chunks:
            for model, vector in chunk.vectors:
                self._vectors += 1
                kept = seals.get((chunk.id, model))
                self._unsealed += kept is None
                if len(vector) != 4 * model.dimensions:
                    self._note("vectors", "it has another length", copy.document.code)
                elif kept is not None and kept != vector_seal(vector):
                    self._note("vectors", "it is not what was written", copy.document.code)

    def look_at_shared(self, whole: CopySource) -> None:
        """Sessions, uses, relations, files, sources, saved searches: that they can be read."""
        try:
            whole.frame()
            whole.shared()
        except BaseDamaged as error:
            self._note("sessions, relations or files", error.message, "")

    def _note(self, part: str, message: str, document: str) -> None:
        self._wrong.setdefault((part, message), []).append(document)

    def found(self) -> Contents:
        findings = tuple(
            Finding(part, DAMAGE, f"{len(of)} × {message}", _REPAIR, _first(filter(None, of)))
            for (part, message), of in self._wrong.items()
        )
        return Contents(findings, self.documents, self._vectors, self._unsealed)


def _first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:_NAMED]


# files


def _files(
    store: Store, home: Home, *, deep: bool, progress: Progress
) -> tuple[int, tuple[Finding, ...]]:
    """The files that the base was made from: there, and as they were?"""
    try:
        records = list(store.files().values())
        sources = store.sources()
    except BaseDamaged as error:
        return 0, (Finding("files", DAMAGE, error.message, _REPAIR),)
    known = [one for one in records if one.document is not None and not one.excluded]
    states: dict[str, list[str]] = {}
    for number, record in enumerate(known):
        states.setdefault(_state(record, home, deep=deep), []).append(record.path)
        progress(Step(number + 1, len(known), "files looked at"))
    states["gone"] = [s.path for s in sources if not os.path.exists(home.absolute(s.path))]
    told = (*_about_files(states), *_unknown(store, {one.path for one in known}, home))
    return len(known), told


def _unknown(store: Store, known: set[str], home: Home) -> Iterator[Finding]:
    """Documents that came from files of which nothing is known: no sync looks at them."""
    with suppress(BaseDamaged):  # which is found elsewhere
        paths = _paths(store) if store.count(_OF_A_FILE) != len(known) else ()
        lost = [path for path in paths if file_of(path, known) is None]
        there = [path for path in lost if os.path.lexists(home.absolute(path))]
        gone = [path for path in lost if path not in set(there)]
        if there:
            hint = f"kb add {' '.join(map(quote, around(there)))}"
            message = f"{len(there)} documents have files that no sync looks at"
            yield Finding("files", NOTICE, message, hint, _first(there))
        if gone:
            message = f"{len(gone)} documents have files that are gone, and that no sync looks for"
            hint = f"kb rm {' '.join(map(quote, _first(gone)))}"
            yield Finding("files", NOTICE, message, hint, _first(gone))


def _paths(store: Store) -> Iterator[str]:
    """Of all documents that came from a file, some at a time."""
    for offset in count(0, _AT_ONCE):
        some = store.documents(_OF_A_FILE, Page(_AT_ONCE, offset, "created"))
        yield from (one.path for one in some if one.path)
        if len(some) < _AT_ONCE:
            return


def _state(record: FileRecord, home: Home, *, deep: bool) -> str:
    path = home.absolute(record.path)
    try:
        stat = os.stat(path)
    except (OSError, ValueError):  # damage may have made a path of it that no file can have
        return "put back" if record.is_put_back else "missing"
    if (stat.st_size, stat.st_mtime_ns) != (record.size, record.mtime_ns):
        return "changed"
    if record.sha256 == NOT_AS_READ:
        return "as before"
    if deep and _sha256(path) != record.sha256:
        return "silent"
    return "same"


def _sha256(path: str) -> str:
    import hashlib

    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


_OF_FILES = {
    "gone": (NOTICE, "files or folders that were added are gone", "kb sync"),
    "missing": (NOTICE, "files are missing", "kb sync"),
    "put back": (
        NOTICE,
        "files are missing, of documents that were put back",
        "kb sync --prune",
    ),
    "as before": (
        NOTICE,
        "documents are as they were put back, whatever their files say",
        "kb sync --verify",
    ),
    "changed": (NOTICE, "files have changed", "kb sync"),
    "silent": (
        PROBLEM,
        "files have another content, though size and time are as they were",
        "kb sync --verify",
    ),
}


def _about_files(states: dict[str, list[str]]) -> Iterator[Finding]:
    for state, (severity, message, hint) in _OF_FILES.items():
        paths = states.get(state)
        if paths:
            yield Finding("files", severity, f"{len(paths)} {message}", hint, _first(paths))
