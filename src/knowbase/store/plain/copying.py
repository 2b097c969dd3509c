"""The plain store as a whole."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from knowbase.store.contract import CopySource
from knowbase.store.halves import as_kept
from knowbase.store.plain.history import replace
from knowbase.store.plain.state import Stored, remove, row_of
from knowbase.store.plain.vectors import PlainVectors
from knowbase.store.seals import Seals, seals_of, vector_seal
from knowbase.values.copies import ChunkCopy, Copy, Frame, SharedParts
from knowbase.values.documents import Document
from knowbase.values.edges import Edge
from knowbase.values.findings import Finding
from knowbase.values.history import HistoryPart
from knowbase.values.sessions import Session
from knowbase.values.vectors import Model, StoredModel


class PlainCopying:
    """See `knowbase.store.contract.Copying` for what each method promises."""

    def __init__(self, store: PlainVectors) -> None:
        self._store = store
        self._state = store._state

    def identity(self) -> str:
        return f"memory {id(self._state)}"

    def source(self) -> str | None:
        return self._state.copy_of

    def frame(self) -> Frame:
        stored = {one.model: one for one in self._store.models()}
        models = tuple(stored[model] for model in self._store._sources)
        return Frame(models, self._state.next_seq, self._state.next_chunk)

    @contextmanager
    def snapshot(self) -> "Iterator[PlainCopying]":
        yield self

    def pages_to(self, path: str, step: Callable[[int, int], None]) -> bool:  # noqa: ARG002
        return False

    def seals(self, seqs: Collection[int]) -> dict[int, Seals]:
        return {one.document.seq: seals_of(one) for one in self.copies(seqs)}

    def vector_seals(self, seqs: Collection[int]) -> dict[tuple[int, Model], bytes | None]:
        return {
            (chunk.id, model): vector_seal(vector)
            for one in self.copies(seqs)
            for chunk in one.chunks
            for model, vector in chunk.vectors
        }

    def findings(self, *, deep: bool) -> Iterator[Finding]:  # noqa: ARG002
        return iter(())

    def replace(self, source: CopySource, before: Callable[[], None]) -> None:
        before()
        for one in list(self._state.documents):
            remove(self._state, one)
        self.start("", source.frame())
        self.paste(source.copies(source.seqs()))
        self.paste_shared(source.shared())
        self.paste_history(source.history())
        self.end()

    def history(self) -> Iterator[HistoryPart]:
        return iter(self._state.history)

    def paste_history(self, parts: Iterable[HistoryPart]) -> None:
        replace(self._state, parts)

    def seal(self) -> int:
        return 0

    def start(self, source: str, frame: Frame) -> None:
        self._state.copy_of = source
        self._take(frame.models)
        self._state.next_seq, self._state.next_chunk = frame.next_seq, frame.next_chunk

    def _take(self, models: Sequence[StoredModel]) -> None:
        wanted = {one.model: one.source for one in models}
        self._store._model = None
        for model in set(self._store._sources) - set(wanted):
            self._store.drop_model(model)
        self._store._sources.update(wanted)
        self._store._model = next((one.model for one in models if one.active), None)

    def seqs(self) -> list[int]:
        return sorted(document.seq for document in self._state.documents.values())

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        found = [one for one in self._state.documents.values() if one.seq in seqs]
        return [self._copy(document) for document in sorted(found, key=lambda one: one.seq)]

    def _copy(self, document: Document) -> Copy:
        state = self._state
        chunks = [(s.position, key) for key, s in state.chunks.items() if s.document == document.id]
        return Copy(
            document,
            dict(sorted(state.said.get(document.id, {}).items())),
            tuple(sorted(set(state.links[document.id]))),
            tuple(sorted(one for key, one in state.verdicts.items() if key[0] == document.id)),
            tuple(self._chunk(key, document.title) for _, key in sorted(chunks)),
        )

    def _chunk(self, key: int, title: str) -> ChunkCopy:
        stored = self._state.chunks[key]
        vectors = ((model, stored.vectors.get(model)) for model in self._store._sources)
        given = tuple((model, vector) for model, vector in vectors if vector is not None)
        return ChunkCopy(key, stored.position, stored.chunk, title, stored.terms, given)

    def paste(self, copies: Sequence[Copy]) -> None:
        state = self._state
        for document, said, links, verdicts, chunks in copies:
            same = [d.id for d in state.documents.values() if d.seq == document.seq]
            for one in {document.id, *same}:
                remove(state, one)
            state.documents[document.id] = document
            state.said[document.id] = dict(said)
            state.links[document.id] = links
            state.verdicts |= {(document.id, one.occasion): one for one in verdicts}
            for copy in chunks:
                row = row_of(copy.title, copy.chunk, copy.terms)
                kept = {model: as_kept(vector) for model, vector in copy.vectors}
                state.chunks[copy.id] = Stored(
                    document.id, copy.position, copy.chunk, copy.terms, row, kept
                )

    def shared(self) -> SharedParts:
        state = self._state
        seq = {one.id: one.seq for one in state.documents.values()}
        return SharedParts(
            sessions=tuple(Session(*one[:5]) for _, one in sorted(state.sessions.items())),
            uses=tuple(state.uses),
            relations=tuple(sorted(state.relations, key=lambda r: (seq[r[0]], seq[r[1]], r[2]))),
            files=tuple(file for _, file in sorted(state.files.items())),
            sources=tuple(sorted(state.sources.values())),
            saved=tuple(search for _, search in sorted(state.saved.items())),
            similar=tuple(
                sorted(
                    (seq[e.source], seq[e.target], e.weight)
                    for e in self._store._similar
                    if seq.keys() >= {e.source, e.target}
                )
            ),
            similar_above=None,
            unlinked=(),
            calibration=state.calibration,
        )

    def paste_shared(self, shared: SharedParts) -> None:
        state = self._state
        identity = {one.seq: one.id for one in state.documents.values()}
        state.sessions = {one.id: one for one in shared.sessions}
        state.uses = list(shared.uses)
        state.relations = list(shared.relations)
        state.files = {one.path: one for one in shared.files}
        state.sources = {one.path: one for one in shared.sources}
        state.saved = {one.name: one for one in shared.saved}
        state.calibration = shared.calibration
        self._store._similar = [
            Edge(identity[source], identity[target], "SIMILAR_TO", weight, "vectors")
            for source, target, weight in shared.similar
        ]

    def end(self) -> None:
        self._state.copy_of = None
