"""What somebody changed in the Markdown of an export: it is taken as if it was written here."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from knowbase.base import Base
from knowbase.errors import ReadError
from knowbase.exchange.exported import Exported
from knowbase.exchange.folder import PART, digest_of
from knowbase.exchange.naming import Called, called_here, renamed_reading
from knowbase.exchange.reading import PageRead, as_exported, edit_of, read_page, says_the_same
from knowbase.ingest.batch import Batch
from knowbase.ingest.foreign import Foreign, take
from knowbase.ingest.pending import FileProblem
from knowbase.ingest.report import Taken
from knowbase.values.copies import in_batches
from knowbase.values.documents import Document
from knowbase.values.reading import Reading

if TYPE_CHECKING:
    from knowbase.values.changes import Draft


def edited_pages(base: Base, export: Exported, *, dry_run: bool = False) -> Taken:
    """Pages that are not as they were written, and new ones; a page that is gone says nothing:
    its document is in the lines."""
    if export.header.format != "markdown" or not os.path.isdir(export.folder):
        return Taken()
    return _Edits(base, export, dry_run).run()


class _Edits:
    """A page is known by the id in its front matter, wherever it lies and whatever it is called."""

    def __init__(self, base: Base, export: Exported, dry_run: bool) -> None:
        self._base, self._export, self._dry_run = base, export, dry_run
        self._services = base.ingest_services()
        self._reader = self._services.drafter.reader
        self._lines: dict[str, Document] | None = None
        self._called: Called | None = None
        self._taken: dict[str, str] = {}  # the page that a document's text was taken from
        self._changed: list[str] = []
        self._failed: list[FileProblem] = []
        self._warnings: list[str] = []
        self._drafts: list[Draft] = []

    def run(self) -> Taken:
        export, names, gone = self._export, set(), set()
        for seq, page in export.pages():
            names.add(page.name)
            digest = digest_of(export.folder, page.name)
            if digest is None:
                gone.add(export.copies([seq])[0].document.id)
            elif digest != page.sha256:
                self._edited(page.name, export.copies([seq])[0].document)
        new = list(self._beside(names, gone))
        if gone:
            self._warnings.append(
                f"pages of the export that are gone: {len(gone)};"
                " their documents came in all the same"
            )
        if self._drafts and not self._dry_run:
            batch = Batch(
                self._services.store, self._services.drafter, self._services.clock, defer=False
            )
            batch.write_drafts(self._drafts)
            self._warnings += batch.warnings
        taken = take(self._services, new, dry_run=self._dry_run)
        return taken._replace(
            changed=(*self._changed, *taken.changed),
            failed=(*self._failed, *taken.failed),
            warnings=(*self._warnings, *taken.warnings),
        )

    def _edited(self, name: str, exported: Document) -> None:
        """A page that is not as it was written."""
        page = self._read(name)
        if page is None:
            return
        document = exported if page.id == exported.id else self._document(page.id)
        if document is None:
            told = (
                f"its front matter does not say that it is of {exported.code} (id: {exported.id})"
            )
            self._failed.append(FileProblem(name, told))
        else:
            self._take(name, page, document)

    def _beside(self, known: set[str], gone: set[str]) -> Iterator[Foreign]:
        """Pages that somebody has put beside the others, or has moved."""
        for name in self._names():
            page = self._read(name) if name not in known else None
            if page is None:
                continue
            document = self._document(page.id)
            if document is None:
                reading = page.typed("note")
                yield Foreign(f"export:{page.id or name}", reading.type, reading.title,
                              stated=reading.stated, reading=reading)  # fmt: skip
                continue
            gone.discard(document.id)
            said = page.reading.value("updated_at")
            # One of an earlier export may say what nobody says any more.
            self._take(name, page, document._replace(updated_at=said or document.updated_at))

    def _names(self) -> Iterator[str]:
        folder = self._export.folder
        for above, folders, names in os.walk(folder):
            folders[:] = sorted(
                one for one in folders if one not in (PART, "originals") and one[0] != "."
            )
            for one in sorted(names):
                if one.endswith(".md"):
                    yield os.path.relpath(os.path.join(above, one), folder).replace(os.sep, "/")

    def _document(self, identity: str | None) -> Document | None:
        """The document that a page is of: in the export, or here."""
        if identity is None:
            return None
        if self._lines is None:
            self._lines = {
                one.document.id: one.document for batch in in_batches(self._export) for one in batch
            }
        here = self._lines.get(identity) or self._base.store.find(identity)
        return here if here is not None and here.id == identity else None

    def _take(self, name: str, page: PageRead, exported: Document) -> None:
        old = self._base.store.find(exported.id)
        if old is None or old.deleted_at is not None:
            return
        copy = self._base.store.copying().copies([old.seq])[0]
        before = as_exported(self._reader, copy)
        reading = renamed_reading(page.typed(old.type), self._names_here())
        if says_the_same(reading, before, copy):
            return
        if old.path is not None:
            self._warnings.append(
                f"{name} was changed, but {old.path} says what it says: put the change into that"
            )
        elif old.id in self._taken:
            self._warnings.append(f"{name} and {self._taken[old.id]} are both of {old.code}:"
                                  " the second one is taken")  # fmt: skip
        elif _is_newer(old, exported):
            self._warnings.append(
                f"{name} was changed, but {old.code} was changed here since it was exported: it"
                " stays as it is; put the change into it, or into the page of a new export"
            )
        else:
            self._write(name, old, edit_of(reading, before, old))

    def _write(self, name: str, old: Document, reading: Reading) -> None:
        self._taken[old.id] = name
        self._changed.append(old.code)
        now = self._services.clock()
        said = reading.value("updated_at")
        if said is None or said <= old.updated_at:  # nobody has touched what it says of itself
            reading = reading.stating(updated_at=now)
        self._drafts.append(self._services.drafter.draft(old.id, reading, None, now))

    def _names_here(self) -> Called:
        if self._called is None:
            self._called = called_here(self._base.store, self._export)
        return self._called

    def _read(self, name: str) -> PageRead | None:
        try:
            page = read_page(self._reader, self._export.folder, name)
        except (OSError, ReadError) as error:
            told = error.message if isinstance(error, ReadError) else str(error.strerror)
            self._failed.append(FileProblem(name, told))
            return None
        if page is not None and page.problem is not None:
            told = f"{page.problem}: mend it and import again, or export with --discard"
            self._failed.append(FileProblem(name, told))
            return None
        return page


def _is_newer(old: Document, exported: Document) -> bool:
    """Whether a document has become another one since; what is older, the lines bring up."""
    if old.updated_at != exported.updated_at:
        return old.updated_at > exported.updated_at
    return old.content_hash != exported.content_hash
