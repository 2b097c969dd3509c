"""What the plain store was: its changes, and documents at any of them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from knowbase.store.keeping import Keeping, Keeps, keep_all
from knowbase.store.versions import as_it_was, from_the_start, number_before, version_of
from knowbase.values.copies import ChunkCopy, Copy
from knowbase.values.history import (
    BEFORE,
    Change,
    HistoryPart,
    Kept,
    PastChunk,
    PastVersion,
    Version,
    Wanted,
)

if TYPE_CHECKING:
    from knowbase.store.plain.contents import Contents
    from knowbase.store.plain.state import State
    from knowbase.values.vectors import Model, Vector


class PlainKeeping(Keeping):
    """See `knowbase.store.keeping.Keeping`."""

    def __init__(
        self, state: "State", now: str, keeps: Keeps | None, model: "Model | None"
    ) -> None:
        super().__init__(now, keeps or keep_all)
        self._state = state
        self._model = model

    def _numbers(self, ids: Sequence[str], paths: Sequence[str]) -> set[int]:
        documents = self._state.documents.values()
        return {one.seq for one in documents if one.id in ids or (one.path and one.path in paths)}

    def _pointing(self, seqs: Collection[int]) -> set[int]:
        seq = {one.id: one.seq for one in self._state.documents.values()}
        return {seq[one.source] for one in self._state.relations if seq[one.target] in seqs}

    def _read(self, seqs: Collection[int], *, whole: bool) -> dict[int, Kept]:
        return read(self._state, seqs, whole=whole)

    def _read_vectors(
        self, chunks: Collection[int]
    ) -> "Mapping[int, tuple[tuple[Model, Vector], ...]]":
        model = self._model
        stored = {number: self._state.chunks[number].vectors for number in chunks}
        return {
            number: ((model, vectors[model]),)
            for number, vectors in stored.items()
            if model is not None and model in vectors
        }

    def _next(self) -> tuple[int, int, int]:
        last = self._state.history[-1].change.number
        return last + 1, self._state.next_seq, self._state.next_chunk

    def _new(self, seqs: Collection[int]) -> list[tuple[str, str, str | None]]:
        found = (one.document for one in self._read(seqs, whole=False).values())
        return [(one.id, one.code, one.project) for one in found]

    def _since(self, seqs: Collection[int]) -> dict[int, int]:
        return {seq: since(self._state, seq) for seq in seqs}

    def _past(self, ids: Collection[str]) -> dict[int, str]:
        return {one.document: one.id for one in past(self._state) if one.id in ids and one.data}

    def _drop(self, seq: int, until: int) -> tuple[int, int] | None:
        return drop(self._state, seq, until)

    def _write(
        self, change: Change, versions: Sequence[PastVersion], chunks: Sequence[PastChunk]
    ) -> None:
        own = [one for one in versions if one.until == change.number]
        self._state.history.append(HistoryPart(change, tuple(own), tuple(chunks)))
        for one in versions:
            if one.until != change.number:
                put(self._state, one)


def past(state: "State", document: str | None = None) -> list[PastVersion]:
    found = [one for part in state.history for one in part.versions]
    kept = [one for one in found if document in (None, one.id)]
    return sorted(kept, key=lambda one: (one.document, one.until))


def since(state: "State", seq: int) -> int:
    ended = [one.until for one in past(state) if one.document == seq]
    born = [part.change.number for part in state.history if part.change.next_seq > seq]
    return max(ended) if ended else (born or [0])[0]


def drop(state: "State", seq: int, until: int) -> tuple[int, int] | None:
    gone = [one for one in past(state) if one.document == seq and one.until <= until]
    if not gone:
        return None

    def is_gone(one: PastVersion | PastChunk) -> bool:
        return one.document == seq and one.until <= until

    state.history = [
        part._replace(
            versions=tuple(one for one in part.versions if not is_gone(one)),
            chunks=tuple(one for one in part.chunks if not is_gone(one)),
        )
        for part in state.history
    ]
    return min(one.since for one in gone), max(one.until for one in gone)


def put(state: "State", version: PastVersion) -> None:
    """Into the part of the change that ended it."""
    for place, part in enumerate(state.history):
        if part.change.number == version.until:
            state.history[place] = part._replace(
                versions=tuple(sorted((*part.versions, version), key=lambda one: one.document))
            )


def read(state: "State", seqs: Collection[int], *, whole: bool) -> dict[int, Kept]:
    """Documents as they are, without vectors."""
    found = {}
    for one in sorted(state.documents.values(), key=lambda one: one.seq):
        if one.seq not in seqs:
            continue
        chunks = sorted(
            (stored.position, number)
            for number, stored in state.chunks.items()
            if whole and stored.document == one.id
        )
        copies = [
            ChunkCopy(
                number, place, state.chunks[number].chunk, one.title, state.chunks[number].terms, ()
            )
            for place, number in chunks
        ]
        said = dict(sorted(state.said.get(one.id, {}).items()))
        links = tuple(sorted(set(state.links[one.id])))
        related = tuple(sorted(r for r in state.relations if r.source == one.id))
        found[one.seq] = Kept(Copy(one, said, links, (), tuple(copies)), related)
    return found


def replace(state: "State", parts: Iterable[HistoryPart]) -> None:
    given = list(parts)
    state.history = given or [HistoryPart(from_the_start(state.next_seq, state.next_chunk))]


class PlainHistory:
    """See `knowbase.store.contract.HistoryStore` for what each method promises."""

    def __init__(self, store: "Contents") -> None:
        self._store = store

    @property
    def _state(self) -> "State":
        return self._store._state

    def changes(self, wanted: Wanted) -> list[Change]:
        numbered = [part.change for part in self._state.history if part.change.number]
        return [one for one in reversed(numbered) if wanted.passes(one)][: wanted.limit]

    def numbered(self, numbers: Collection[int]) -> dict[int, Change]:
        found = (part.change for part in self._state.history)
        return {one.number: one for one in found if one.number in numbers}

    def last(self) -> int:
        return self._state.history[-1].change.number

    def number_at(self, moment: str) -> int | None:
        later = [part.change.number for part in self._state.history if part.change.at > moment]
        before = self.numbered([0]).get(0, BEFORE)
        return number_before(min(later, default=None), self.last(), before)

    def versions(self, document: str | None = None) -> list[Version]:
        found = [version_of(one) for one in past(self._state, document)]
        now = self._state.documents.get(document or "")
        if now is not None:
            found.append(Version(now.id, since(self._state, now.seq), None, now))
        return sorted(found, key=lambda one: (one.since, one.until is None, one.until))

    def version(self, document: str, number: int) -> Kept | None:
        state = self._state
        known = past(state, document)
        for one in known:
            if one.since <= number < one.until:
                after = [v for v in known if v.document == one.document and v.until > one.until]
                chunks = [c for p in state.history for c in p.chunks if c.document == one.document]
                now = read(state, [one.document], whole=True).get(one.document)
                return as_it_was(one, after, chunks, now.copy if now is not None else None)
        current = state.documents.get(document)
        if current is None or since(state, current.seq) > number:
            return None
        return read(state, [current.seq], whole=True)[current.seq]

    def lost(self, number: int) -> int:
        known = past(self._state)
        return sum(one.data is None and one.since <= number < one.until for one in known)

    def past(self, reference: str, number: int | None = None) -> str | None:
        known = [version_of(one) for one in past(self._state)]
        known = [one for one in known if number is None or one.has(number)]
        known.sort(key=lambda one: one.until or 0)
        kept = [(one.id, one.document) for one in known if one.document is not None]
        by_id = [one.id for one in known if one.id == reference]
        by_code = [one for one, now in kept if now.code.lower() == reference.lower()]
        by_path = [one for one, now in kept if now.path == reference]
        return next((one[-1] for one in (by_id, by_code, by_path) if one), None)

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:
        for document, until in ended:
            for seq in {one.document for one in past(self._state, document)}:
                span = drop(self._state, seq, until)
                if span is not None:
                    put(self._state, PastVersion(seq, document, *span, None, None))

    def leftovers(self) -> int:
        return 0
