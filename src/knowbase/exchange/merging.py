"""Documents of another base beside one's own: what is known by its id is not taken twice."""

from collections.abc import Callable, Sequence
from typing import Any

from knowbase.base import Base
from knowbase.exchange.imported import Imported
from knowbase.ingest.batch import Batch
from knowbase.ingest.embedding import Step
from knowbase.query.conditions import OneOf
from knowbase.store.contract import CopySource
from knowbase.text.sections import stored_sections
from knowbase.values.changes import Changes, Draft, Edit, Verdict
from knowbase.values.copies import Copy, SharedParts, batches
from knowbase.values.documents import ALL, Document, Passage
from knowbase.values.reading import stored_reading

Progress = Callable[[Step], None]


def merge(
    base: Base,
    source: CopySource,
    shown: str,
    *,
    dry_run: bool = False,
    progress: Progress = lambda _: None,
) -> Imported:
    """What the base lacks, or has as it was before; of two versions the later one stays."""
    merging = _Merging(base, source, dry_run)
    interrupted = False
    try:
        merging.run(progress)
    except KeyboardInterrupt:
        interrupted = True
    return merging.result(shown)._replace(interrupted=interrupted)


class _Merging:
    def __init__(self, base: Base, source: CopySource, dry_run: bool) -> None:
        self._base, self._source, self._dry_run = base, source, dry_run
        services = base.ingest_services()
        self._services = services
        active = next((one for one in source.frame().models if one.active), None)
        known = base.store.model()
        # Vectors of the same model come along; of another one, they are made anew.
        self._brings = active if active and known in (None, active.model) else None
        self._batch = Batch(
            services.store, services.drafter, services.clock, defer=self._brings is not None
        )
        self._ids: dict[str, str] = {}  # in the export, and here
        self._added = self._changed = self._unchanged = self._kept = 0
        self._notices: list[str] = []

    def result(self, shown: str) -> Imported:
        return Imported(
            shown, self._added, self._changed, self._unchanged, self._kept,
            chunks_embedded=self._batch.embedded, chunks_reused=self._batch.reused,
            notices=(*self._notices, *self._batch.warnings), dry_run=self._dry_run,
        )  # fmt: skip

    def run(self, progress: Progress) -> None:
        seqs = self._source.seqs()
        done = 0
        for batch in batches(seqs):
            self._take(self._source.copies(batch))
            done += len(batch)
            progress(Step(done, len(seqs), "documents compared"))
        if not self._dry_run:
            self._take_shared(self._source.shared())
            self._services.link_similar()

    def _take(self, copies: Sequence[Copy]) -> None:
        known = self._known(copies)
        wanted = []
        for copy in copies:
            old = known.get(copy.document.id) or known.get(copy.document.path or "")
            self._ids[copy.document.id] = old.id if old else copy.document.id
            if old is None:
                self._added += 1
            elif _is_same(old, copy.document):
                self._unchanged += 1
                continue
            elif old.updated_at >= copy.document.updated_at:
                self._kept += 1
                continue
            else:
                self._changed += 1
            wanted.append(copy)
        if wanted and not self._dry_run:
            self._write(wanted)

    def _known(self, copies: Sequence[Copy]) -> dict[str, Document]:
        """Those that are here: by id, or by their file."""
        store = self._base.store
        ids = tuple(copy.document.id for copy in copies)
        paths = tuple(copy.document.path for copy in copies if copy.document.path)
        found = store.documents(OneOf("path", paths), ALL) if paths else []
        by_path = {one.path: one for one in found if one.path}
        return by_path | {one.id: one for one in store.documents(OneOf("id", ids), ALL)}

    def _write(self, copies: Sequence[Copy]) -> None:
        # Together: a stop must not leave a text here without the word that it was forgotten.
        self._batch.write_drafts([self._draft(copy) for copy in copies], self._told_of(copies))
        if self._brings is not None:
            model = self._brings.model
            vectors = {
                chunk.chunk.hash: vector
                for copy in copies
                for chunk in copy.chunks
                for whose, vector in chunk.vectors
                if whose == model
            }
            if self._base.store.model() is None:
                self._base.store.use_model(model, self._brings.source)
            self._base.store.put_vectors(model, self._brings.source, vectors)

    def _told_of(self, copies: Sequence[Copy]) -> Changes:
        """Their lifecycle, and whether they were of use."""
        edits = [Edit(self._ids[one.document.id], _said(one)) for one in copies if one.said]
        verdicts = [
            Verdict(self._ids[one.document.id], given.occasion, given.good, 0.0)
            for one in copies
            for given in one.verdicts
        ]
        return Changes(edits=tuple(edits), verdicts=tuple(verdicts))

    def _draft(self, copy: Copy) -> Draft:
        document = copy.document
        passages = [Passage(one.id, one.chunk, document) for one in copy.chunks]
        reading = stored_reading(document, stored_sections(passages))._replace(links=copy.links)
        reading = reading.stating(
            created_at=document.created_at,
            updated_at=document.updated_at,
            salience=document.salience,
            split_by=document.split_by,
        )
        chunks = tuple(one.chunk for one in copy.chunks)
        none = (None,) * len(chunks)
        identity = self._ids[document.id]
        return Draft(identity, reading, document.path, document.updated_at, chunks, none)

    def _take_shared(self, shared: SharedParts) -> None:
        store = self._base.store
        sources = {one.path for one in store.sources()}
        files = store.files()
        self._apply(
            Changes(
                sources=tuple(one for one in shared.sources if one.path not in sources),
                files=tuple(
                    one._replace(document=self._ids.get(one.document) if one.document else None)
                    for one in shared.files
                    if one.path not in files
                ),
                sessions=shared.sessions,
            )
        )
        self._apply(
            Changes(
                uses=tuple(
                    one._replace(document=self._ids[one.document])
                    for one in shared.uses
                    if one.document in self._ids
                ),
                relations=tuple(
                    one._replace(source=self._ids[one.source], target=self._ids[one.target])
                    for one in shared.relations
                    if one.source in self._ids and one.target in self._ids
                ),
            )
        )
        taken = [one for one in shared.saved if not store.save_search(one)]
        mine = {one.name: one for one in store.saved_searches()}
        other = [one.name for one in taken if one.query != mine[one.name].query]
        if other:
            self._notices.append(f"saved searches of these names are yours: {', '.join(other)}")

    def _apply(self, changes: Changes) -> None:
        if changes != Changes():
            self._base.store.apply(changes, self._base.now())


def _said(copy: Copy) -> dict[str, Any]:
    return dict(copy.said)


def _is_same(old: Document, new: Document) -> bool:
    """In all that is said; how often each was of use is another matter."""
    own = ("id", "seq", "code", "salience", "access_count", "last_accessed_at", "confirmed")
    return all(getattr(old, name) == getattr(new, name)
               for name in Document._fields if name not in own)  # fmt: skip
