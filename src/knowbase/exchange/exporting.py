"""Writing a base into a folder: lines of JSON with everything, and Markdown for people."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import knowbase
from knowbase.base import Base
from knowbase.errors import ReadError
from knowbase.exchange import lines
from knowbase.exchange.exported import NAME, VERSION, Header
from knowbase.exchange.folder import (
    Staged,
    checked,
    digest_of,
    pages_before,
    remove_stale,
    stale_edits,
)
from knowbase.exchange.lines import Line, Page
from knowbase.exchange.pages import Names, markdown_of, page_of
from knowbase.exchange.reading import PageRead, as_exported, read_page, says_the_same
from knowbase.ingest.embedding import Step
from knowbase.ingest.parts import file_of
from knowbase.ingest.places import Home, inside
from knowbase.store.contract import Snapshot
from knowbase.store.location import is_url
from knowbase.store.sqlite.backups import synced
from knowbase.upkeep.backup import writing_files
from knowbase.upkeep.digests import Part, digests, of_history
from knowbase.values.copies import Copy, in_batches
from knowbase.values.files import Source

Progress = Callable[[Step], None]
FORMATS = ("markdown", "jsonl")


class Wanted(NamedTuple):
    """How a base is to be written."""

    folder: str
    format: str = "markdown"
    copy: bool = False  # the files themselves, too
    discard: bool = False  # what was changed in the folder since the last time
    dry_run: bool = False


class Export(NamedTuple):
    """What was written of a base, or would be."""

    folder: str
    format: str
    parts: tuple[Part, ...]  # what there is of each kind
    pages: int = 0  # Markdown files
    written: int = 0  # those of them that were not there, or otherwise
    removed: int = 0  # pages of documents that are gone
    files: int = 0  # copied
    dry_run: bool = False
    interrupted: bool = False
    notices: tuple[str, ...] = ()


def export(base: Base, wanted: Wanted, progress: Progress = lambda _: None) -> Export:
    """The whole base as it is at this moment, into a folder of its own."""
    folder = os.path.abspath(wanted.folder)
    with writing_files():
        checked(folder)
        return _written(base, wanted._replace(folder=folder), progress)


def _written(base: Base, wanted: Wanted, progress: Progress) -> Export:
    with base.store.copying().snapshot() as whole:
        writing = _Writing(base, whole, wanted, progress)
        try:
            return writing.foreseen() if wanted.dry_run else writing.run()
        except KeyboardInterrupt:
            return writing.stopped()


class _Writing:
    """One export under way."""

    def __init__(self, base: Base, whole: Snapshot, wanted: Wanted, progress: Progress) -> None:
        self._base, self._whole, self._wanted = base, whole, wanted
        self._progress = progress
        self._home = Home(base.home)
        self._reader = base.ingest_services().drafter.reader
        self._names = Names()
        self._shared = whole.shared()
        self._files = {one.path for one in self._shared.files}
        self._originals: dict[str, Page] = {}
        self._pages: dict[str, str] = {}
        self._written = 0
        self._notices: list[str] = []
        self._staged: Staged | None = None
        self._before: dict[str, str] = {}
        self._in_the_way: dict[str, str | None] = {}  # and the file that each was made of
        self._seqs: dict[str, int] = {}

    def foreseen(self) -> Export:
        """What would be written; nothing is."""
        parts = self._parts()
        shown = self._base.store.counts()
        pages = shown.documents if self._is_markdown else 0
        there = [one for one in self._known_files() if os.path.isfile(one)]
        files = len(there) if self._wanted.copy else 0
        return self._report(parts, pages=pages, written=pages, files=files, dry_run=True)

    def run(self) -> Export:
        folder = self._wanted.folder
        self._staged = Staged(folder)
        try:
            self._before = pages_before(folder)
            parts = self._parts()
            if self._wanted.copy:
                self._copy_files()
            self._write_lines(parts)
        except BaseException:
            self._staged.drop()
            raise
        written = self._pages | {one.name: one.sha256 for one in self._originals.values()}
        kept = self._kept(stale_edits(folder, self._before, written))
        self._staged.take_over({} if self._wanted.discard else self._in_the_way)
        removed = remove_stale(folder, self._before, written, kept)
        self._notices += _is_read(self._shared.sources, self._home, folder)
        return self._report(
            parts,
            pages=len(self._pages),
            written=self._written,
            removed=len(removed),
            files=len(self._originals),
        )

    def stopped(self) -> Export:
        return self._report((), interrupted=True)

    def _parts(self) -> tuple[Part, ...]:
        return (*digests(self._whole, self._progress), of_history(self._whole))

    @property
    def _is_markdown(self) -> bool:
        return self._wanted.format == "markdown"

    def _report(self, parts: tuple[Part, ...], **values: Any) -> Export:
        wanted = self._wanted
        return Export(wanted.folder, wanted.format, parts, notices=tuple(self._notices), **values)

    def _write_lines(self, parts: tuple[Part, ...]) -> None:
        assert self._staged is not None
        path = self._staged.path(NAME)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            for line in self._lines(parts):
                file.write(lines.text_of(line) + "\n")
        synced(path)

    def _lines(self, parts: tuple[Part, ...]) -> Iterator[Line]:
        seqs, frame = self._whole.seqs(), self._whole.frame()
        yield {"kind": "export", **self._header(len(seqs))._asdict(), "by": knowbase.__version__}
        yield lines.of_frame(frame)
        models = [one.model for one in frame.models]
        for batch in in_batches(
            self._whole, lambda n, of: self._progress(Step(n, of, "documents written"))
        ):
            for copy in batch:
                yield lines.of_copy(copy, models, self._page(copy))
        yield from lines.of_shared(self._shared)
        for part in self._whole.history():
            yield lines.of_change(part, models)
        for stored, original in self._originals.items():
            yield {"kind": "original", "path": stored, **original._asdict()}
        yield {"kind": "end", "parts": [list(part) for part in parts]}

    def _header(self, documents: int) -> Header:
        base = self._base
        return Header(
            VERSION, self._wanted.format, base.now(), base.shown, os.path.abspath(base.home),
            not is_url(base.path), self._wanted.copy, documents,
        )  # fmt: skip

    def _page(self, copy: Copy) -> Page | None:
        """What was forgotten is shown to nobody: it has its line alone."""
        if not self._is_markdown or copy.document.deleted_at is not None:
            return None
        assert self._staged is not None
        name = self._names.of_document(copy.document)
        text = markdown_of(copy, self._link(copy.document.path, name))
        page = page_of(name, text)
        self._seqs[copy.document.id] = copy.document.seq
        if self._is_changed(page) and not self._is_taken(self._read(name), copy):
            self._in_the_way[name] = copy.document.path
        self._written += self._staged.put(page, text)
        self._pages[page.name] = page.sha256
        return page

    def _is_changed(self, page: Page) -> bool:
        """Whether something else is there than what was exported, or is to be."""
        there = digest_of(self._wanted.folder, page.name)
        return there not in (None, page.sha256, self._before.get(page.name))

    def _kept(self, changed: Sequence[str]) -> set[str]:
        """Of pages that are called otherwise by now: those whose changes were not taken in, which
        are in the way. What is no page of a document is left alone."""
        kept = set()
        for name in changed:
            page = self._read(name)
            seq = self._seqs.get(page.id or "") if page else None
            if seq is None:
                kept.add(name)
                continue
            copy = self._whole.copies([seq])[0]
            if not self._is_taken(page, copy):
                self._in_the_way[name] = copy.document.path
        return kept

    def _read(self, name: str) -> PageRead | None:
        try:
            return read_page(self._reader, self._wanted.folder, name)
        except (OSError, ReadError):
            return None

    def _is_taken(self, page: PageRead | None, copy: Copy) -> bool:
        """Whether a page that somebody has changed was imported since."""
        if page is None or page.problem is not None:
            return False
        before = as_exported(self._reader, copy)
        return says_the_same(page.typed(copy.document.type), before, copy)

    def _link(self, path: str | None, page: str) -> str | None:
        """From a page to the file that its document was read from."""
        stored = file_of(path, self._files) if path else None
        if stored is None:
            return None
        original = self._originals.get(stored)
        if original is not None:
            return os.path.relpath(original.name, os.path.dirname(page)).replace(os.sep, "/")
        above = os.path.dirname(os.path.join(self._wanted.folder, page))
        file = self._home.absolute(stored)
        try:
            return os.path.relpath(file, above).replace(os.sep, "/")
        except ValueError:  # on another drive
            return file

    # files

    def _known_files(self) -> dict[str, str]:
        """Where each file lies that a document was made of, and as what it is known."""
        return {
            self._home.absolute(one.path): one.path
            for one in self._shared.files
            if one.document is not None
        }

    def _copy_files(self) -> None:
        assert self._staged is not None
        missing = []
        known = self._known_files()
        for done, (path, stored) in enumerate(known.items(), 1):
            try:
                self._originals[stored] = self._copied(path, stored, self._staged)
            except OSError:
                missing.append(stored)
            self._progress(Step(done, len(known), "files copied"))
        if missing:
            self._notices.append(
                f"files that could not be copied: {len(missing)}, such as {missing[0]}; their text"
                " is in the export"
            )

    def _copied(self, path: str, stored: str, staged: Staged) -> Page:
        name = self._names.of_original(stored)
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        original = Page(name, digest)
        if self._is_changed(original):
            self._in_the_way[name] = stored
        if digest_of(self._wanted.folder, name) != digest:
            shutil.copy2(path, staged.path(name))
        return original


def _is_read(sources: Sequence[Source], home: Home, folder: str) -> list[str]:
    """An export in an added folder would be read as if somebody had written it there."""
    stored = home.stored(folder)
    holders = [one.path for one in sources if inside(stored, one.path)]
    return [f"the export lies in {holders[0]}, which kb sync reads: move it, or name it in a"
            " .kbignore there"] if holders else []  # fmt: skip
