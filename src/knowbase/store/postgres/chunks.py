"""Writing the chunks of documents, with their words and vectors: those of many at once."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg.sql import SQL, Identifier

from knowbase.store.postgres.bulk import copy_rows, copy_vectors, numbers
from knowbase.store.postgres.postings import Postings
from knowbase.store.postgres.vector_tables import vector_table
from knowbase.text.indexed import index_terms
from knowbase.values.changes import Draft
from knowbase.values.copies import ChunkCopy
from knowbase.values.documents import Chunk, names_of
from knowbase.values.vectors import Model, Vector

if TYPE_CHECKING:
    from knowbase.store.postgres.counting import Fields

CHUNK = (
    "id", "document", "slug", "chunk_index", "position", "hash", "line", "page", "tokens",
    "overlap", "header", "title", "heading", "text", "terms", "length",
)  # fmt: skip


class Planned(NamedTuple):
    """A document whose row is to be written."""

    seq: int
    code: str
    is_new: bool
    draft: Draft
    values: dict[str, Any]


class _Stored(NamedTuple):
    """What is there of a chunk before it is written."""

    id: int
    hash: str
    terms: str
    length: int


class Lines(NamedTuple):
    """What is written of chunks: rows as `CHUNK` has them, but for the length at their end."""

    new: list[tuple[Any, ...]]
    old: list[tuple[Any, ...]]
    lengths: dict[int, int]
    vectors: dict[int, Vector]
    changed: list[int]  # those whose text is another one
    indexed: "dict[int, Fields]"  # those whose words are other ones
    copies: dict[int, list[ChunkCopy]]  # those of new documents, as they will be read


class Chunks(Postings):
    """The part of a transaction that writes chunks."""

    _model: tuple[int, Model] | None
    _unlinked: set[int]  # documents whose vectors changed
    _documents: dict[int, int]  # of chunks that are written

    def _planned_chunks(self, documents: Sequence[Planned]) -> Lines:
        """A chunk at the same place keeps its number; its words only change when its text did."""
        stored = self._stored([one.seq for one in documents if not one.is_new])
        self._drop_orphans(documents, stored)
        embedded = self._embedded([old.id for those in stored.values() for old in those.values()])
        lines = Lines([], [], {}, {}, [], {}, {})
        for one in documents:
            self._plan_chunks(one, stored.get(one.seq, {}), embedded, lines)
        return lines

    def _write_chunks(self, lines: Lines) -> None:
        self._forget_words(lines.indexed.keys() - {one[0] for one in lines.new})
        lengths = lines.lengths | self._index(lines.indexed)
        self._copy_chunks([(*one, lengths[one[0]]) for one in lines.new])
        self._update_chunks([(*one, lengths[one[0]]) for one in lines.old])
        self._forget_vectors(lines.changed)
        self._write_vectors(lines.vectors)

    def _stored(self, documents: list[int]) -> dict[int, dict[tuple[str, int], _Stored]]:
        if not documents:
            return {}
        found: dict[int, dict[tuple[str, int], _Stored]] = {}
        for seq, slug, index, *rest in self._connection.execute(
            "SELECT document, slug, chunk_index, id, hash, terms, length FROM chunks"
            " WHERE base_id = %s AND document = ANY(%s)",
            (self._base, documents),
        ):
            found.setdefault(seq, {})[slug, index] = _Stored(*rest)
        return found

    def _drop_orphans(
        self, documents: Sequence[Planned], stored: dict[int, dict[tuple[str, int], _Stored]]
    ) -> None:
        """Chunks whose place is not there any more."""
        orphans: list[_Stored] = []
        for one in documents:
            wanted = {(chunk.slug, chunk.chunk_index) for chunk in one.draft.chunks}
            gone = [old for key, old in stored.get(one.seq, {}).items() if key not in wanted]
            if gone:
                self._unlinked.add(one.seq)
                orphans += gone
        self._forget_chunks({old.id: old.length for old in orphans})
        if orphans:
            self._connection.execute(
                "DELETE FROM chunks WHERE base_id = %s AND id = ANY(%s)",
                (self._base, [old.id for old in orphans]),
            )

    def _drop_chunks(self, documents: Iterable[int]) -> None:
        """All those of these documents."""
        self._connection.execute(
            "DELETE FROM chunks WHERE base_id = %s AND document = ANY(%s)",
            (self._base, list(documents)),
        )

    def _forget_chunks(self, lengths: Mapping[int, int]) -> None:
        """Chunks that go, with their lengths."""
        self._forget_words(lengths.keys())
        self._chunks -= len(lengths)
        self._length -= sum(lengths.values())

    def _plan_chunks(
        self,
        document: Planned,
        stored: dict[tuple[str, int], _Stored],
        embedded: set[int],
        lines: Lines,
    ) -> None:
        draft, seq = document.draft, document.seq
        names = names_of(document.code, draft.path)
        title = draft.reading.title
        for position, (chunk, vector) in enumerate(zip(draft.chunks, draft.vectors, strict=True)):
            old = stored.get((chunk.slug, chunk.chunk_index))
            number = old.id if old else self._numbered()
            terms = index_terms(draft.reading.type, names, title, chunk.heading, chunk.text)
            self._documents[number] = seq
            if old is not None and (old.hash, old.terms) == (chunk.hash, terms):
                lines.lengths[number] = old.length
            else:
                lines.indexed[number] = (title, chunk.heading or "", chunk.text, terms)
                self._length -= old.length if old else 0
            line = chunk_line(number, seq, position, chunk, (title, terms))
            (lines.old if old else lines.new).append(line)
            if document.is_new:
                copy = ChunkCopy(number, position, chunk, title, terms, ())
                lines.copies.setdefault(seq, []).append(copy)
            is_other = old is not None and old.hash != chunk.hash
            if is_other:
                lines.changed.append(number)
            if vector is not None and (is_other or number not in embedded):
                lines.vectors[number] = vector
                self._unlinked.add(seq)
            elif is_other:
                self._unlinked.add(seq)

    def _numbered(self) -> int:
        self._next_chunk += 1
        self._chunks += 1
        return self._next_chunk - 1

    def _index(self, texts: "Mapping[int, Fields]") -> dict[int, int]:
        """Note the words of chunks; how many each has."""
        from knowbase.store.postgres.counting import Counted

        counted = Counted.of(texts)
        self._indexed |= dict.fromkeys(texts, counted)
        self._length += int(counted.lengths.sum())
        return counted.lengths_by_chunk()

    def _copy_chunks(self, lines: Sequence[tuple[Any, ...]]) -> None:
        """Chunks that are new."""
        copy_rows(
            self._connection, "chunks", ("base_id", *CHUNK), [(self._base, *one) for one in lines]
        )

    def _update_chunks(self, lines: Sequence[tuple[Any, ...]]) -> None:
        settings = SQL(", ").join(SQL("{} = %s").format(Identifier(name)) for name in CHUNK[2:])
        statement = SQL(
            "UPDATE chunks SET {} WHERE base_id = %s AND id = %s AND document = %s"
        ).format(settings)
        if lines:
            self._connection.cursor().executemany(
                statement, [(*one[2:], self._base, *one[:2]) for one in lines]
            )

    def _embedded(self, chunks: list[int]) -> set[int]:
        """Those of the chunks that have a vector of the model."""
        if self._model is None or not chunks:
            return set()
        statement = SQL(
            "SELECT chunk FROM {} WHERE base_id = %s AND model = %s AND chunk = ANY(%s::bigint[])"
        ).format(vector_table(self._model[1].dimensions))
        found = self._connection.execute(statement, (self._base, self._model[0], numbers(chunks)))
        return {chunk for (chunk,) in found}

    def _forget_vectors(self, chunks: list[int]) -> None:
        """Of a text that has changed, whichever model made them."""
        if not chunks:
            return
        found = self._connection.execute(
            "SELECT DISTINCT dimensions FROM models WHERE base_id = %s", (self._base,)
        ).fetchall()
        for (dimensions,) in found:
            self._connection.execute(
                SQL("DELETE FROM {} WHERE base_id = %s AND chunk = ANY(%s)").format(
                    vector_table(dimensions)
                ),
                (self._base, chunks),
            )

    def _write_vectors(self, vectors: dict[int, Vector]) -> None:
        if self._model is not None:
            number, model = self._model
            kind = (number, model.dimensions)
            copy_vectors(self._connection, self._base, kind, vectors.items(), self._documents)


def chunk_line(
    number: int, seq: int, position: int, chunk: Chunk, more: tuple[str, str]
) -> tuple[Any, ...]:
    """A chunk with its document's title and its terms, as `CHUNK` has them before the length."""
    title, terms = more
    return (
        *(number, seq, chunk.slug, chunk.chunk_index, position, chunk.hash),
        *(chunk.line, chunk.page, chunk.tokens, chunk.overlap, chunk.header),
        *(title, chunk.heading, chunk.text, terms),
    )
