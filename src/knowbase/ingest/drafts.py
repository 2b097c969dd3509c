"""From a file's bytes or a note's text to a draft with chunks and vectors."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from knowbase.changes import Draft, Reading
from knowbase.embed import Embedder
from knowbase.read import read
from knowbase.read.links import code_links
from knowbase.store.contract import Store
from knowbase.text.splitting import Limits, chunks_of, embedding_text
from knowbase.types import Vector


class Read(NamedTuple):
    """What a file says, and what is to be said about it."""

    reading: Reading
    warnings: tuple[str, ...] = ()


class Embedded(NamedTuple):
    """Drafts with their vectors, and how many of those had to be made."""

    drafts: tuple[Draft, ...]
    made: int
    reused: int


class Drafter(NamedTuple):
    """Makes drafts; the model is loaded when the first one needs it."""

    embedder: Callable[[], Embedder]
    limits: Limits
    types: tuple[str, ...]
    codes: re.Pattern[str]  # what looks like the code of a document

    def read(self, path: str, data: bytes, tags: Sequence[str]) -> Read:
        """The file's reading, with the tags that its source adds."""
        reading = read(path, data)
        reading = reading._replace(tags=clean_tags((*reading.tags, *tags)))
        declared = reading.metadata.get("type")  # one that is not built in
        if declared is None:
            return Read(reading, reading.warnings)
        if declared in self.types:
            metadata = {key: value for key, value in reading.metadata.items() if key != "type"}
            return Read(reading._replace(type=str(declared), metadata=metadata))
        return Read(reading, (f"unknown type {declared!r}; stored as {reading.type}",))

    def draft(self, document: str, reading: Reading, path: str | None, updated: str) -> Draft:
        """The document with its chunks, not yet embedded, and the codes that its text names."""
        text = "".join(section.header + section.text for section in reading.sections)
        reading = reading._replace(links=(*reading.links, *code_links(text, self.codes)))
        chunks = chunks_of(reading, self.embedder().token_spans, self.limits)
        return Draft(document, reading, path, updated, chunks, (None,) * len(chunks))

    def embed(
        self, drafts: Sequence[Draft], store: Store, each: Callable[[], None] = lambda: None
    ) -> Embedded:
        """Vectors for every chunk: the stored one where the text is known, else a new one."""
        store.use_model(self.embedder().model)
        vectors = dict(store.vectors({c.hash for draft in drafts for c in draft.chunks}))
        missing = self._texts_without(vectors, drafts)
        for digest, vector in zip(missing, self._embedded(missing), strict=True):
            vectors[digest] = vector
            each()
        done = tuple(
            draft._replace(vectors=tuple(vectors[chunk.hash] for chunk in draft.chunks))
            for draft in drafts
        )
        total = sum(len(draft.chunks) for draft in drafts)
        return Embedded(done, len(missing), total - len(missing))

    def _embedded(self, texts: dict[str, str]) -> Iterator[Vector]:
        return self.embedder().embed_documents(list(texts.values()))

    def _texts_without(self, vectors: dict[str, Vector], drafts: Sequence[Draft]) -> dict[str, str]:
        """Hash and text of each chunk that has no vector yet; equal texts once."""
        spans = self.embedder().token_spans
        return {
            chunk.hash: embedding_text(chunk, draft.reading.title, spans, self.limits)
            for draft in drafts
            for chunk in draft.chunks
            if chunk.hash not in vectors
        }


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Without the leading #, in lower case, each once."""
    cleaned = (tag.strip().lstrip("#").lower() for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag))
