"""A store in plain Python: small, slow and obvious. The other stores are tested against it."""

from knowbase.query.predicate import passes
from knowbase.store.plain.calibration import PlainCalibration
from knowbase.store.plain.copying import PlainCopying
from knowbase.store.plain.files import PlainFiles
from knowbase.store.plain.graph import PlainGraph
from knowbase.store.plain.history import PlainHistory, PlainKeeping
from knowbase.store.plain.leases import PlainLeases
from knowbase.store.plain.record import record
from knowbase.store.plain.retrieval import PlainRetrieval
from knowbase.store.plain.saved import PlainSavedSearches
from knowbase.store.plain.sessions import PlainSessions
from knowbase.store.plain.space import PlainSpace
from knowbase.store.plain.state import State, adopted, remove, remove_rival, write
from knowbase.store.plain.vectors import PlainVectors
from knowbase.store.rules import check_chain, check_codes, known_text
from knowbase.values.changes import Changes, renamed, with_erased
from knowbase.values.characters import storable
from knowbase.values.documents import Document
from knowbase.values.replicas import ReplicaState


class PlainStore(
    PlainRetrieval,
    PlainSessions,
    PlainGraph,
    PlainFiles,
    PlainSavedSearches,
    PlainCalibration,
    PlainLeases,
    PlainSpace,
    PlainVectors,
):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def close(self) -> None:
        """Nothing to close."""

    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:  # noqa: ARG002
        changes = with_erased(storable(changes))
        for edit in changes.edits:
            check_chain(edit, self.find)
        state = self._state.copied()
        keeping = PlainKeeping(state, now, self.keeps, self._model)
        keeping.keep_written(changes)
        for document in changes.removed:
            remove(state, document)
        ids: dict[str, str] = {}
        new: set[int] = set()
        for given in changes.drafts:
            known = [d for d in _by_seq(state) if given.once and passes(d, known_text(given, now))]
            if known:
                ids[given.id] = known[0].id
                continue
            draft = adopted(state, given)
            ids[given.id] = draft.id
            remove_rival(state, draft)
            model = changes.model or self._model
            write(state, draft, now, model if model in self._sources else None)
            new.add(state.documents[draft.id].seq)
        for file in changes.files:
            owner = ids.get(file.document or "", file.document)
            state.files[file.path] = file._replace(document=owner)
        for path in changes.forgotten:
            state.files.pop(path, None)
        state.sources.update({source.path: source for source in changes.sources})
        for path in changes.dropped_sources:
            state.sources.pop(path, None)
        said = renamed(changes, ids)
        keeping.keep_said(said, new)
        record(state, said, now)
        keeping.finish(said, new)
        written = [state.documents[ids[draft.id]] for draft in changes.drafts]
        check_codes(changes.drafts, written)
        self._state = state
        return written

    def replicas(self) -> list[ReplicaState]:
        return []

    def cluster(self) -> None:
        return None

    def copying(self) -> PlainCopying:
        return PlainCopying(self)

    def history(self) -> PlainHistory:
        return PlainHistory(self)

    def as_of(self, number: int) -> "PlainStore":
        from knowbase.store.plain.as_of import PlainAsOf

        return PlainAsOf(self, number)


def _by_seq(state: State) -> list[Document]:
    return sorted(state.documents.values(), key=lambda document: document.seq)
