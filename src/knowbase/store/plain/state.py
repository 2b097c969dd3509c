"""Everything that the plain store holds, and how a change of documents makes the next state."""

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.store.bm25 import Row
from knowbase.store.halves import as_kept
from knowbase.store.rules import check_unchanged
from knowbase.text.analysis import stems
from knowbase.text.indexed import index_terms
from knowbase.values.changes import Draft, SavedSearch, assigned_codes
from knowbase.values.documents import Chunk, Document, names_of
from knowbase.values.history import BEFORE, HistoryPart
from knowbase.values.vectors import Model, Vector

if TYPE_CHECKING:
    from knowbase.values.calibration import Calibration
    from knowbase.values.copies import GivenVerdict
    from knowbase.values.edges import Relation
    from knowbase.values.files import FileRecord, Source
    from knowbase.values.reading import Link
    from knowbase.values.sessions import Session, Use


class Stored(NamedTuple):
    """A chunk with what belongs to it."""

    document: str
    position: int
    chunk: Chunk
    terms: str  # as it is indexed
    row: Row
    vectors: Mapping[Model, Vector]


class State:
    """Everything; a change works on a copy, so that a failure leaves the old."""

    def __init__(self) -> None:
        self.documents: dict[str, Document] = {}
        self.chunks: dict[int, Stored] = {}
        self.files: dict[str, FileRecord] = {}
        self.sources: dict[str, Source] = {}
        self.next_seq = 1
        self.next_chunk = 1
        self.said: dict[str, dict[str, Any]] = {}  # by document
        self.sessions: dict[str, Session] = {}
        self.uses: list[Use] = []
        self.verdicts: dict[tuple[str, str], GivenVerdict] = {}  # by document and occasion
        self.relations: list[Relation] = []
        self.links: dict[str, tuple[Link, ...]] = {}  # by document
        self.saved: dict[str, SavedSearch] = {}  # by name
        self.calibration: Calibration | None = None
        self.leases: dict[str, tuple[str, float]] = {}
        self.copy_of: str | None = None
        self.history = [HistoryPart(BEFORE)]

    def copied(self) -> "State":
        new = State()
        vars(new).update({name: copy(value) for name, value in vars(self).items()})
        return new


def adopted(state: State, draft: Draft) -> Draft:
    known = [d.id for d in state.documents.values() if d.path and d.path == draft.path]
    return draft if draft.id in state.documents or not known else draft._replace(id=known[0])


def remove_rival(state: State, draft: Draft) -> None:
    """Remove another document at the draft's path: it belongs to the one that moved there."""
    rivals = [
        d.id
        for d in state.documents.values()
        if d.path and d.path == draft.path and d.id != draft.id
    ]
    for rival in rivals:
        remove(state, rival)


def remove(state: State, document: str) -> None:
    """Remove a document and everything about it."""
    state.documents.pop(document, None)
    state.said.pop(document, None)
    state.chunks = {key: s for key, s in state.chunks.items() if s.document != document}
    state.uses = [use for use in state.uses if use.document != document]
    state.verdicts = {key: one for key, one in state.verdicts.items() if key[0] != document}
    state.relations = [r for r in state.relations if document not in (r.source, r.target)]
    state.links.pop(document, None)


def write(state: State, draft: Draft, now: str, model: Model | None) -> None:
    """Write the draft's document; a chunk that stays keeps its number."""
    old = state.documents.get(draft.id)
    if old is not None:
        check_unchanged(draft, old.updated_at)
    seq = old.seq if old else state.next_seq
    state.next_seq += old is None
    state.documents[draft.id] = _document(state, draft, old, seq, now)
    state.links[draft.id] = draft.reading.links
    before = {
        (s.chunk.slug, s.chunk.chunk_index): (key, s)
        for key, s in state.chunks.items()
        if s.document == draft.id
    }
    state.chunks = {key: s for key, s in state.chunks.items() if s.document != draft.id}
    for position, chunk in enumerate(draft.chunks):
        key, stored = before.get((chunk.slug, chunk.chunk_index), (state.next_chunk, None))
        state.next_chunk += stored is None
        given, vectors = draft.vectors[position], {}
        if model is not None and given is not None:
            vectors[model] = as_kept(given)
        if stored is not None and stored.chunk.hash == chunk.hash:
            vectors |= stored.vectors
        terms = _terms(draft, chunk, state.documents[draft.id].code)
        row = row_of(draft.reading.title, chunk, terms)
        state.chunks[key] = Stored(draft.id, position, chunk, terms, row, vectors)


def _document(state: State, draft: Draft, old: Document | None, seq: int, now: str) -> Document:
    reading = draft.reading
    taken = {d.code.lower() for d in state.documents.values() if d.id != draft.id}
    free = (one for one in assigned_codes(seq) if one.lower() not in taken)
    code = old.code if old else next(free)
    wanted = reading.value("code")
    if wanted is not None and wanted.lower() not in taken:
        code = wanted
    before = old._asdict() if old else {"seq": seq, "created_at": now}
    document = Document(
        **{
            **before,
            **reading.stored(),
            "id": draft.id,
            "code": code,
            "tags": tuple(sorted(set(reading.tags))),
            "path": draft.path,
            "updated_at": draft.updated_at,
        }
    )
    return document._replace(**state.said.get(draft.id, {}))


def _terms(draft: Draft, chunk: Chunk, code: str) -> str:
    reading, names = draft.reading, names_of(code, draft.path)
    return index_terms(reading.type, names, reading.title, chunk.heading, chunk.text)


def row_of(title: str, chunk: Chunk, terms: str) -> Row:
    """The words of a chunk's four fields."""
    return tuple(map(stems, (title, chunk.heading or "", chunk.text, terms)))
