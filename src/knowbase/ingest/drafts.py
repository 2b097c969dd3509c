"""From a file's bytes or a note's text to a draft with chunks and vectors."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from knowbase.embed import Embedder
from knowbase.errors import EmbeddingError, ServiceUnavailable, VectorsUnavailable
from knowbase.logs import log
from knowbase.query.conditions import AllOf, AnyOf, Compare, Condition, Not, OneOf
from knowbase.read.confined import MOST_LINKS, Reader, left_out
from knowbase.read.links import code_links
from knowbase.store.contract import VectorStore
from knowbase.text.splitting import Limits, are_whole, chunks_of, embedding_text
from knowbase.values.changes import Draft
from knowbase.values.characters import composed_within, storable
from knowbase.values.codes import fit_code
from knowbase.values.documents import FIELDS, Passage
from knowbase.values.reading import Reading
from knowbase.values.vectors import Model, Vector

READERS = "readers:9"  # raised when files are to be read again: what is made of them has changed
UNSEEN = "unseen"  # of a document that has pages which were not looked at
WORDS = "words:8"  # raised when all documents are to be: what is indexed of them has changed
COMPARED = tuple(
    name
    for name, field in FIELDS.items()
    if {one.rule for one in field.filters} & {"equal", "role", "tagged"}
)
"""The fields whose texts are compared as a whole."""
SHORTEST = 64  # tokens of a chunk, however little a model reads


class Embedded(NamedTuple):
    """Drafts with their vectors, who made them, and how many were made, known, or wait."""

    drafts: tuple[Draft, ...]
    model: Model | None
    made: int
    reused: int
    waiting: int = 0
    warning: str | None = None
    later: Mapping[str, str] = MappingProxyType({})  # hash and text, to be embedded once stored


class Drafter:
    """Makes drafts; the model is loaded when the first one needs it."""

    makes_vectors = True  # False: they are switched off

    def __init__(
        self,
        embedder: Callable[[], Embedder],
        source: Callable[[], str],  # how the base is to load this embedder again
        limits: Limits,
        codes: re.Pattern[str] | None = None,  # what looks like the code of a document
        reader: Reader | None = None,
    ) -> None:
        self.embedder = embedder
        self.source = source
        self.limits = limits
        self.codes = codes
        self.reader = reader or Reader()

    def get_ready(self) -> None:
        """Load what splits texts. If that cannot be, the first text says so."""
        with suppress(EmbeddingError):
            self.embedder().token_spans("")

    def draft(self, document: str, reading: Reading, path: str | None, updated: str) -> Draft:
        """The document with its chunks, not yet embedded, and the codes that its text names. When
        it was written, it may know better than its file."""
        split_by = self.in_step(is_file=path is not None)[0]
        split_by += f" {UNSEEN}" if reading.scans else ""
        reading = _comparable(storable(reading)).stating(split_by=split_by)
        if reading.value("code"):  # one that is none is left out: the store gives another
            reading = reading.stating(code=fit_code(reading.value("code")))
        text = "".join(section.header + section.text for section in reading.sections)
        if self.codes is not None:
            links = (*reading.links, *code_links(text, self.codes))
            reading = reading._replace(links=links[:MOST_LINKS])
        spans, most = self.embedder().token_spans, self.reader.limits.chunks
        chunks = chunks_of(reading, spans, self._limits(), most)
        updated = reading.stated.get("updated_at") or updated
        return Draft(document, reading, path, updated, chunks, (None,) * len(chunks))

    def left_out(self, draft: Draft) -> str | None:
        """What is to be said of a draft that has not all of its text."""
        if are_whole(draft.chunks, draft.reading):
            return None
        return left_out(self.reader.limits.chunks)

    def in_step(self, *, is_file: bool) -> tuple[str, ...]:
        """What a document says of its reading and splitting today, and whatever means the same."""
        limits = self.limits
        numbers = f"{limits.max_tokens}/{limits.overlap:g}/{limits.min_overlap}"
        if not is_file:
            return (f"{numbers} {WORDS}",)
        whole = f"{numbers} {READERS} {WORDS}"
        return (whole,) if self.reader.scanner.is_on else (whole, f"{whole} {UNSEEN}")

    def embed(
        self,
        drafts: Sequence[Draft],
        store: VectorStore,
        each: Callable[[], None] = lambda: None,
        *,
        defer: bool = False,
        most: int | None = None,
    ) -> Embedded:
        """Vectors for every chunk: the stored one where the text is known, else a new one, or
        none yet when that is put off, or when there are more than `most` to make. A database
        that cannot hold vectors gets the text alone.
        """
        if not self.makes_vectors:
            return Embedded(tuple(drafts), None, 0, 0)
        hashes = {chunk.hash for draft in drafts for chunk in draft.chunks}
        try:
            model = store.model() if defer else self._used_by(store)
            vectors = dict(store.vectors(hashes, model)) if model is not None else {}
        except VectorsUnavailable as error:
            number = sum(len(draft.chunks) for draft in drafts)
            told = f"{error.message}: words alone find it ({error.hint})"
            return Embedded(tuple(drafts), None, 0, 0, number, told)
        missing = {} if defer else self._texts_without(vectors, drafts)
        later = missing if most is not None and len(missing) > most else {}
        now = {} if later else missing
        for digest, vector in zip(now, self.embedded(now.values()), strict=True):
            vectors[digest] = vector
            each()
        done = tuple(
            draft._replace(vectors=tuple(vectors.get(chunk.hash) for chunk in draft.chunks))
            for draft in drafts
        )
        chunks = [chunk.hash for draft in drafts for chunk in draft.chunks]
        waiting = sum(digest not in vectors and digest not in later for digest in chunks)
        reused = sum(digest in vectors for digest in chunks) - len(now)
        return Embedded(done, model, len(now), reused, waiting, later=later)

    def embed_or_wait(self, drafts: Sequence[Draft], store: VectorStore) -> Embedded:
        """The same, but a service that is away holds up the vectors, never the text."""
        try:
            return self.embed(drafts, store)
        except ServiceUnavailable as error:
            log("warning", "stored without vectors", reason=error.message)
            told = f"{error.message}: words alone find it until its vectors are made (kb embed)"
            return self.embed(drafts, store, defer=True)._replace(warning=told)

    def _used_by(self, store: VectorStore) -> Model:
        """The embedder's model, once it is the base's own."""
        model = self.embedder().model
        store.use_model(model, self.source())
        return model

    def _limits(self) -> Limits:
        """What a model does not read makes a chunk of its own, rather than being cut off."""
        most = max(SHORTEST, min(self.limits.max_tokens, self.embedder().max_tokens))
        return self.limits._replace(max_tokens=most)

    def embedded(self, texts: Iterable[str]) -> Iterator[Vector]:
        """A vector of each, without a model where there is none."""
        wanted = list(texts)
        return self.embedder().embed_documents(wanted) if wanted else iter(())

    def _texts_without(self, vectors: dict[str, Vector], drafts: Sequence[Draft]) -> dict[str, str]:
        """Hash and text of each chunk that has no vector yet; equal texts once."""
        spans, limits = self.embedder().token_spans, self._limits()
        return {
            chunk.hash: embedding_text(chunk, draft.reading.title, spans, limits)
            for draft in drafts
            for chunk in draft.chunks
            if chunk.hash not in vectors
        }

    def text_of(self, passage: Passage) -> str:
        """What the model reads of a stored chunk."""
        spans = self.embedder().token_spans
        return embedding_text(passage.chunk, passage.document.title, spans, self._limits())

    def is_cut(self, text: str) -> bool:
        """Whether the model does not read all of the text."""
        embedder = self.embedder()
        return len(embedder.token_spans(text)) + self.limits.markers > embedder.max_tokens


def _comparable(reading: Reading) -> Reading:
    """The same with its names written as they are asked for."""
    names = (*COMPARED, "metadata")
    values = {name: reading.stated[name] for name in names if reading.stated.get(name)}
    return reading.stating(**{name: _composed(value) for name, value in values.items()})


def _composed(value: Any) -> Any:
    made = composed_within(value)
    return tuple(dict.fromkeys(made)) if isinstance(made, tuple) else made


def out_of_step(drafter: Drafter) -> Condition:
    """What was read and split otherwise than it would be today."""
    files = Not(OneOf("split_by", drafter.in_step(is_file=True)))
    notes = Not(OneOf("split_by", drafter.in_step(is_file=False)))
    is_file = Compare("path", "present")
    return AnyOf((AllOf((is_file, files)), AllOf((Not(is_file), notes))))
