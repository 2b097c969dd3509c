"""What somebody changed in the Markdown of an export: it is taken as if it was written here."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from knowbase.base import Base
from knowbase.errors import ReadError
from knowbase.exchange.exported import Exported
from knowbase.exchange.folder import PART, digest_of, within
from knowbase.exchange.pages import OWN
from knowbase.ingest.batch import Batch
from knowbase.ingest.foreign import Foreign, take
from knowbase.ingest.pending import FileProblem
from knowbase.ingest.report import Taken
from knowbase.read.confined import Reader
from knowbase.read.frontmatter import links_in
from knowbase.values.documents import Document
from knowbase.values.reading import Reading, content_hash

if TYPE_CHECKING:
    from knowbase.values.changes import Draft

MOST_PAGE = 64 << 20  # bytes


def edited_pages(base: Base, export: Exported, *, dry_run: bool = False) -> Taken:
    """Pages that are not as they were written, and new ones; a page that is gone says nothing:
    its document is in the lines."""
    if export.header.format != "markdown" or not os.path.isdir(export.folder):
        return Taken()
    return _Edits(base, export, dry_run).run()


class _Edits:
    def __init__(self, base: Base, export: Exported, dry_run: bool) -> None:
        self._base, self._export, self._dry_run = base, export, dry_run
        self._services = base.ingest_services()
        self._changed: list[str] = []
        self._failed: list[FileProblem] = []
        self._warnings: list[str] = []
        self._drafts: list[Draft] = []

    def run(self) -> Taken:
        export, names, gone = self._export, set(), 0
        for seq, page in export.pages():
            names.add(page.name)
            digest = digest_of(export.folder, page.name)
            if digest is None:
                gone += 1
            elif digest != page.sha256:
                self._edited(page.name, export.copies([seq])[0].document)
        if gone:
            self._warnings.append(
                f"{gone} pages of the export are gone; their documents came in all the same"
            )
        if self._drafts and not self._dry_run:
            batch = Batch(
                self._services.store, self._services.drafter, self._services.clock, defer=False
            )
            batch.write_drafts(self._drafts)
            self._warnings += batch.warnings
        new = take(self._services, self._new(names), dry_run=self._dry_run)
        return new._replace(
            changed=(*self._changed, *new.changed),
            failed=(*self._failed, *new.failed),
            warnings=(*self._warnings, *new.warnings),
        )

    def _edited(self, name: str, exported: Document) -> None:
        if exported.path is not None:
            self._warnings.append(f"{name} was changed, but {exported.path} says what it says")
            return
        reading = self._read(name)
        if reading is None:
            return
        old = self._base.store.find(exported.id)
        if old is None or old.deleted_at is not None or says_the_same(old, reading):
            return
        if _is_newer(old, exported):
            self._warnings.append(
                f"{name} was changed, but {old.code} was changed here since it was exported: it"
                " stays as it is; put the change into it, or into the page of a new export"
            )
            return
        self._changed.append(old.code)
        now = self._services.clock()
        said = reading.value("updated_at")
        if said is None or said <= old.updated_at:  # nobody has touched what it says of itself
            reading = reading.stating(updated_at=now)
        self._drafts.append(self._services.drafter.draft(old.id, reading, None, now))

    def _read(self, name: str) -> Reading | None:
        try:
            return read_page(self._services.drafter.reader, self._export.folder, name)
        except (OSError, ReadError) as error:
            told = error.message if isinstance(error, ReadError) else str(error.strerror)
            self._failed.append(FileProblem(name, told))
            return None

    def _new(self, known: set[str]) -> Iterator[Foreign]:
        """Pages that somebody has put beside the others."""
        folder = self._export.folder
        for above, folders, names in os.walk(folder):
            folders[:] = [
                one for one in folders if one not in (PART, "originals") and one[0] != "."
            ]
            for one in sorted(names):
                path = os.path.relpath(os.path.join(above, one), folder).replace(os.sep, "/")
                if one.endswith(".md") and path not in known:
                    reading = self._read(path)
                    if reading is not None and reading.sections:
                        yield Foreign(f"export:{path}", reading.type, reading.title,
                                      stated=reading.stated, reading=reading)  # fmt: skip


def _is_newer(old: Document, exported: Document) -> bool:
    """Whether a document has become another one since; what is older, the lines bring up."""
    if old.updated_at != exported.updated_at:
        return old.updated_at > exported.updated_at
    return old.content_hash != exported.content_hash


def read_page(reader: Reader, folder: str, name: str) -> Reading | None:
    """What a page says, without what an export adds to it; none when there is no such page."""
    path = within(folder, name)
    if path is None or os.path.getsize(path) > MOST_PAGE:
        return None
    with open(path, "rb") as file:
        reading = reader.file(path, file.read())
    metadata = {k: v for k, v in reading.value("metadata").items() if k not in OWN}
    links = tuple(dict.fromkeys((*reading.links, *links_in(metadata))))
    kind = "note" if reading.type == "markdown" else reading.type
    return reading._replace(type=kind, links=links).stating(metadata=metadata)


def says_the_same(old: Document, reading: Reading) -> bool:
    return (old.content_hash, old.title, old.type, set(old.tags)) == (
        content_hash(reading),
        reading.title,
        reading.type,
        set(reading.tags),
    )
