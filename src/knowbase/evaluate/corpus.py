"""A judged corpus as a base, indexed once and kept: the product's own ways of writing it."""

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress

import knowbase
from knowbase.base import Base, create
from knowbase.config import Configuration
from knowbase.embed import Embedder
from knowbase.evaluate.judged import Folder, read_documents
from knowbase.ingest.batch import BATCH_CHUNKS, BATCH_DOCUMENTS
from knowbase.ingest.report import Progress
from knowbase.query.conditions import EVERYTHING
from knowbase.read.plain import whole
from knowbase.store.sqlite.beside import remove_journals
from knowbase.values.changes import Changes, Draft
from knowbase.values.characters import clean
from knowbase.values.documents import Page
from knowbase.values.reading import Reading
from knowbase.values.times import timestamp
from knowbase.values.vectors import Model

WRITTEN = timestamp(0)
"""When every document counts as written: equal scores must not depend on the day of indexing."""


class Shelf:
    """Where indexed corpora are kept, and what they are indexed with."""

    def __init__(
        self,
        folder: str,
        configuration: Configuration,
        embedder: Embedder,
        fresh: bool = False,  # index again what is there
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self.configuration = configuration
        self.embedder = embedder
        self.fresh = fresh
        self.progress = progress

    def base(self, corpus: Folder) -> Base:
        """The corpus as a base: the kept one, gone on with where it was left."""
        path = os.path.join(self.folder, self._name(corpus))
        if self.fresh:
            with suppress(FileNotFoundError):
                os.remove(path)
            remove_journals(path)
        create(path).close()
        base = Base(path, embedder=self.embedder, configuration=self.configuration)
        try:
            _Indexing(base, corpus, self.progress).run()
        except BaseException:
            base.close()
            raise
        return base

    def _name(self, corpus: Folder) -> str:
        settings = self.configuration.settings
        limits = (settings.chunk_max_tokens, settings.chunk_overlap, settings.chunk_min_overlap)
        made_with = (knowbase.__version__, _identity(self.embedder.model), limits)
        digest = hashlib.sha256(repr(made_with).encode())
        with open(corpus.corpus, "rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
        name = os.path.basename(os.path.dirname(os.path.abspath(corpus.corpus)))
        return f"{name}-{digest.hexdigest()[:16]}.db"


def _identity(model: Model) -> str:
    return f"{model.name} {model.revision} {model.dimensions}"


def cache_folder(configured: str) -> str:
    """Where indexed corpora are kept: as configured, else in the user's cache."""
    if configured:
        return os.path.abspath(os.path.expanduser(configured))
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return os.path.join(home or os.path.expanduser("~/.cache"), "knowbase", "eval")


class _Indexing:
    """A corpus on its way into its base; a stop loses at most the batch under way."""

    def __init__(self, base: Base, corpus: Folder, progress: Callable[[Progress], None]) -> None:
        self._base = base
        self._services = base.ingest_services()
        self._corpus = corpus
        self._progress = progress
        self._embedded = 0
        self._done = self._total = 0

    def run(self) -> None:
        documents = {one: (title, text) for one, title, text in read_documents(self._corpus.corpus)}
        there = _ids(self._base)
        missing = [one for one in documents if one not in there]
        self._done, self._total = len(documents) - len(missing), len(documents)
        batch: list[Draft] = []
        chunks = 0
        for one in missing:
            title, text = documents[one]
            # The text stands for itself even when it is empty: the title can be found.
            sections = whole(clean(text)) or whole(clean(title))
            if not sections:
                continue
            reading = Reading("text", clean(title), sections)
            batch.append(self._services.drafter.draft(one, reading, None, WRITTEN))
            chunks += len(batch[-1].chunks)
            if chunks >= BATCH_CHUNKS or len(batch) >= BATCH_DOCUMENTS:
                self._write(batch)
                batch, chunks = [], 0
        self._write(batch)

    def _write(self, batch: list[Draft]) -> None:
        if not batch:
            return
        drafts = self._services.drafter.embed(batch, self._services.store, self._count).drafts
        self._services.store.apply(Changes(drafts=drafts), WRITTEN)
        self._done += len(batch)
        self._tell()

    def _count(self) -> None:
        self._embedded += 1
        self._tell()

    def _tell(self) -> None:
        self._progress(
            Progress(self._done, self._total, self._embedded, self._corpus.name, "documents")
        )


def _ids(base: Base) -> set[str]:
    everything = Page(limit=base.store.counts().documents)
    return {document.id for document in base.store.documents(EVERYTHING, everything)}
