"""Documents of another base beside one's own: what is known by its id is not taken twice."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from knowbase.base import Base
from knowbase.errors import Conflict, InvalidInput
from knowbase.exchange.imported import Imported
from knowbase.exchange.naming import Called, Renamed, called_here, renamed, renamed_search
from knowbase.ingest.batch import Batch
from knowbase.ingest.embedding import Step
from knowbase.query.conditions import OneOf
from knowbase.store.contract import CopySource
from knowbase.values.changes import Changes, Draft, Edit, SavedSearch, Verdict
from knowbase.values.copies import Copy, SharedParts, in_batches
from knowbase.values.documents import ALL, Document
from knowbase.values.sessions import Session
from knowbase.values.synonyms import SYNONYMS, members

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
        self._anew = Batch(services.store, services.drafter, services.clock, defer=services.defer)
        self._called = Called({}, {})
        self._added = self._changed = self._unchanged = self._kept = 0
        self._notices: list[str] = []

    def result(self, shown: str) -> Imported:
        made = (self._batch, self._anew)
        return Imported(
            shown, self._added, self._changed, self._unchanged, self._kept,
            chunks_embedded=sum(one.embedded for one in made),
            chunks_reused=sum(one.reused for one in made),
            notices=(*self._notices, *(told for one in made for told in one.warnings)),
            dry_run=self._dry_run,
        )  # fmt: skip

    def run(self, progress: Progress) -> None:
        self._called = called_here(self._base.store, self._source)
        for batch in in_batches(
            self._source, lambda n, of: progress(Step(n, of, "documents compared"))
        ):
            self._take(batch)
        if not self._dry_run:
            self._take_shared(self._source.shared())
            self._services.link_similar()

    def _take(self, copies: Sequence[Copy]) -> None:
        ids = tuple(self._called.ids[copy.document.id] for copy in copies)
        known = {one.id: one for one in self._base.store.documents(OneOf("id", ids), ALL)}
        wanted = []
        for copy, identity in zip(copies, ids, strict=True):
            old = known.get(identity)
            new = renamed(copy, self._called)
            if old is None:
                self._added += 1
                self._notices += _recoded(copy.document, new.copy.document)
            elif _is_same(old, new.copy.document):
                self._unchanged += 1
                continue
            elif old.updated_at >= copy.document.updated_at:
                self._kept += 1
                continue
            else:
                self._changed += 1
            wanted.append(new)
        if not self._dry_run:
            self._write([one for one in wanted if not one.is_rewritten], self._batch)
            self._write([one for one in wanted if one.is_rewritten], self._anew)

    def _write(self, documents: Sequence[Renamed], batch: Batch) -> None:
        if not documents:
            return
        copies = [one.copy for one in documents]
        # Together: a stop must not leave a text here without the word that it was forgotten.
        batch.write_drafts([self._draft(one) for one in documents], self._told_of(copies))
        if self._brings is not None and batch is self._batch:
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
        ids = self._called.ids
        edits = [Edit(ids[one.document.id], _said(one)) for one in copies if one.said]
        verdicts = [
            Verdict(ids[one.document.id], given.occasion, given.good, 0.0)
            for one in copies
            for given in one.verdicts
        ]
        return Changes(edits=tuple(edits), verdicts=tuple(verdicts))

    def _draft(self, new: Renamed) -> Draft:
        document = new.copy.document
        reading = new.reading.stating(
            created_at=document.created_at,
            updated_at=document.updated_at,
            salience=document.salience,
            split_by=document.split_by,
        )
        identity = self._called.ids[document.id]
        if new.is_rewritten:
            updated = document.updated_at
            return self._services.drafter.draft(identity, reading, document.path, updated)
        chunks = tuple(one.chunk for one in new.copy.chunks)
        none = (None,) * len(chunks)
        return Draft(identity, reading, document.path, document.updated_at, chunks, none)

    def _take_shared(self, shared: SharedParts) -> None:
        store, ids = self._base.store, self._called.ids
        sources = {one.path for one in store.sources()}
        files = store.files()
        self._apply(
            Changes(
                sources=tuple(
                    one._replace(parent=self._called.name(one.parent))
                    for one in shared.sources
                    if one.path not in sources
                ),
                files=tuple(
                    one._replace(document=ids.get(one.document) if one.document else None)
                    for one in shared.files
                    if one.path not in files
                ),
                sessions=tuple(self._sessions(shared.sessions)),
            )
        )
        self._apply(
            Changes(
                uses=tuple(
                    one._replace(document=ids[one.document])
                    for one in shared.uses
                    if one.document in ids
                ),
                relations=tuple(
                    one._replace(source=ids[one.source], target=ids[one.target])
                    for one in shared.relations
                    if one.source in ids and one.target in ids
                ),
            )
        )
        self._take_saved(shared)

    def _sessions(self, sessions: Sequence[Session]) -> Iterator[Session]:
        """Of one that there is, only what is not known of it."""
        mine = self._base.store.sessions([one.id for one in sessions])
        for one in sessions:
            known = mine.get(one.id, one)
            yield one._replace(
                ended_at=known.ended_at or one.ended_at, summary=known.summary or one.summary
            )

    def _take_saved(self, shared: SharedParts) -> None:
        store = self._base.store
        searches = [one for one in shared.saved if not one.name.startswith(SYNONYMS)]
        wanted = [renamed_search(one, self._called) for one in searches]
        taken = [one for one in wanted if not store.save_search(one)]
        mine = {one.name: one for one in store.saved_searches()}
        other = [one.name for one in taken if not _asks_the_same(one, mine.get(one.name))]
        if other:
            self._notices.append(f"saved searches of these names are yours: {', '.join(other)}")
        for group in (one for one in shared.saved if one.name.startswith(SYNONYMS)):
            self._take_synonyms(members(group.query))

    def _take_synonyms(self, words: Sequence[str]) -> None:
        """Beside those that there are, or as one with those that share a word."""
        if any(set(words) <= set(members(one)) for one in self._base.store.synonyms()):
            return
        try:
            self._base.synonyms.add(words)
        except (InvalidInput, Conflict) as error:
            self._notices.append(f"{' = '.join(words)}: {error.message}")

    def _apply(self, changes: Changes) -> None:
        if changes != Changes():
            self._base.store.apply(changes, self._base.now())


def _said(copy: Copy) -> dict[str, Any]:
    return dict(copy.said)


def _recoded(there: Document, here: Document) -> list[str]:
    if there.code == here.code:
        return []
    name = there.path or there.title
    return [f"{name}: the code {there.code} is taken; it is {here.code}"]


def _asks_the_same(one: SavedSearch, other: SavedSearch | None) -> bool:
    return other is not None and (one.query, one.options) == (other.query, other.options)


def _is_same(old: Document, new: Document) -> bool:
    """In all that is said; how often each was of use, and how it was split, is another matter."""
    own = ("id", "seq", "code", "salience", "access_count", "last_accessed_at", "confirmed",
           "split_by")  # fmt: skip
    return all(getattr(old, name) == getattr(new, name)
               for name in Document._fields if name not in own)  # fmt: skip
