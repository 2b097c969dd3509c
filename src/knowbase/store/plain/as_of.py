"""The plain store as it was after a change: a store of its own, made of the versions."""

from typing import TYPE_CHECKING, Any

from knowbase.store.asked_of_the_past import refused
from knowbase.store.plain.history import past
from knowbase.store.plain.parts import PlainParts
from knowbase.store.plain.state import State, Stored, row_of
from knowbase.store.seals import OF_USE
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from knowbase.store.contract import HistoryStore, Present, Store
    from knowbase.values.copies import ChunkCopy
    from knowbase.values.vectors import Model, Vector


class PlainAsOf(PlainParts):
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(self, store: PlainParts, present: "Present", number: int) -> None:
        super().__init__()
        self._present = present
        self._model, self._sources = store._model, store._sources
        self._state = _state(store, present.history(), number)
        changed = {one.id for one in past(store._state) if one.until > number}
        there = self._state.documents.keys() - changed
        self._similar = [one for one in store._similar if there.issuperset(one[:2])]

    def apply(self, *_: Any, **__: Any) -> list[Document]:
        raise refused()

    def link_similar(self, *_: Any, **__: Any) -> int:
        return 0

    def as_of(self, number: int) -> "Store":
        return self._present.as_of(number)

    def history(self) -> "HistoryStore":
        return self._present.history()


def _state(store: PlainParts, history: "HistoryStore", number: int) -> State:
    now = store._state
    state = now.copied()
    state.documents, state.chunks = {}, {}
    state.said, state.links, state.relations = {}, {}, []
    for identity in {*now.documents, *(one.id for one in past(now))}:
        kept = history.version(identity, number)
        if kept is None:
            continue
        document = _as_known(kept.document, now.documents.get(identity))
        state.documents[identity] = document
        state.said[identity] = dict(kept.copy.said)
        state.links[identity] = kept.copy.links
        state.relations += kept.relations
        for one in kept.copy.chunks:
            state.chunks[one.id] = _stored(now, identity, one)
    there = state.documents.keys()
    state.relations = [one for one in state.relations if one.target in there]
    state.uses = [one for one in now.uses if one.document in there]
    return state


def _as_known(document: Document, now: Document | None) -> Document:
    """What use it was is known of today alone; and what is forgotten today is not shown."""
    if now is None or now.seq != document.seq:
        return document
    use = {name: getattr(now, name) for name in OF_USE}
    return document._replace(**use, deleted_at=now.deleted_at or document.deleted_at)


def _stored(now: State, document: str, one: "ChunkCopy") -> Stored:
    row = row_of(one.title, one.chunk, one.terms)
    vectors = _vectors(now, one)
    return Stored(document, one.position, one.chunk, one.terms, row, vectors)


def _vectors(now: State, one: "ChunkCopy") -> "Mapping[Model, Vector]":
    """Its own, or what is known of the same text."""
    stored = now.chunks.get(one.id)
    if stored is not None and stored.chunk.hash == one.chunk.hash:
        return stored.vectors
    alike = [chunk for part in now.history for chunk in part.chunks]
    found: dict[Model, Vector] = {}
    for same in now.chunks.values():
        if same.chunk.hash == one.chunk.hash:
            found |= same.vectors
    for chunk in alike:
        if chunk.hash == one.chunk.hash:
            found |= dict(chunk.vectors)
    return found
