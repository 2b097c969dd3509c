"""Writing: a document, its chunks, words and vectors change together.

Statements go by document, not by chunk; words are written once for the whole transaction.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from psycopg import Connection
from psycopg.sql import SQL, Composed, Identifier

from knowbase.store.keeping import Keeps
from knowbase.store.postgres import rows
from knowbase.store.postgres.compile import compile_condition
from knowbase.store.postgres.keeping import PostgresKeeping
from knowbase.store.postgres.links import Linking
from knowbase.store.postgres.postings import Postings
from knowbase.store.postgres.rows import clean
from knowbase.store.postgres.sealing import seal, seal_fields, seal_use
from knowbase.store.postgres.vector_tables import as_text, vector_table
from knowbase.store.postgres.words import Counts, counted
from knowbase.store.rules import check_chain, known_text
from knowbase.store.seals import vector_seal
from knowbase.text.indexed import index_terms
from knowbase.values.changes import Changes, Draft, assigned_codes, renamed
from knowbase.values.documents import DEFAULT_SALIENCE, Chunk, Document, names_of
from knowbase.values.files import FileRecord, Source
from knowbase.values.vectors import Model, Vector

_CHUNK = (
    "id", "document", "slug", "chunk_index", "position", "hash", "line", "page", "tokens",
    "overlap", "header", "title", "heading", "text", "terms", "length",
)  # fmt: skip


T = TypeVar("T")


class _Stored(NamedTuple):
    """What is there of a chunk before it is written."""

    id: int
    hash: str
    terms: str
    length: int


class Writing(Postings):
    """One transaction; the base's row is locked for as long as it takes."""

    def __init__(
        self,
        connection: Connection,
        base: int,
        now: str,
        model: tuple[int, Model] | None,
        keeps: Keeps | None = None,
    ) -> None:
        super().__init__(connection, base, now)
        self.keeping: PostgresKeeping | None = PostgresKeeping(connection, base, now, keeps)
        self._model = model
        row = connection.execute(
            "SELECT next_seq, next_chunk, next_word, chunks FROM bases WHERE id = %s FOR UPDATE",
            (base,),
        ).fetchone()
        counters = map(int, row or (1, 1, 1, 0))
        self._next_seq, self._next_chunk, self._next_word, self._before = counters
        self._linking = Linking(connection, base)
        self._unlinked: set[int] = set()  # documents whose vectors changed
        self._unindexed: set[int] = set()  # chunks whose words are to be forgotten
        self._indexed: dict[int, tuple[int, dict[str, Counts]]] = {}
        self._chunks = self._length = 0  # how many more there are

    def apply(self, changes: Changes) -> list[int]:
        """Everything in `changes`; returns the seq of each draft's document."""
        for edit in changes.edits:
            check_chain(edit, self._find)
        if self.keeping is not None:
            self.keeping.keep_written(changes)
        self._remove(changes.removed)
        written: list[int] = []
        changed: set[int] = set()
        ids: dict[str, str] = {}
        for given in changes.drafts:
            known = self._known(given) if given.once else None
            if known is not None:
                ids[given.id], seq = known
                written.append(seq)
                continue
            draft = self._adopted(given)
            ids[given.id] = draft.id
            written.append(self._write_document(draft))
            changed.add(written[-1])
        self._write_files(changes.files, ids)
        self._many(
            "DELETE FROM files WHERE base_id = %s AND path = %s", [(p,) for p in changes.forgotten]
        )
        self._write_sources(changes.sources)
        self._many(
            "DELETE FROM sources WHERE base_id = %s AND path = %s",
            [(path,) for path in changes.dropped_sources],
        )
        self._write_words()
        said = renamed(changes, ids)
        if self.keeping is not None:
            self.keeping.keep_said(said, changed)
        self.record(said)
        touched = self._link(said, changed)
        if self.keeping is not None:
            self.keeping.finish(said, changed)
        seal(self._connection, self._base, changed)
        seal_fields(self._connection, self._base, touched - changed)
        seal_use(self._connection, self._base, self._used(changes) - changed - touched)
        return written

    def _used(self, changes: Changes) -> set[int]:
        """The numbers of the documents that `changes` says were of use, or not."""
        named = {one.document for one in changes.reinforced}
        named |= {one.document for one in changes.verdicts}
        return self._seqs(named) if named else set()

    def _seqs(self, ids: Iterable[str]) -> set[int]:
        found = self._connection.execute(
            "SELECT seq FROM documents WHERE base_id = %s AND id = ANY(%s)", (self._base, [*ids])
        )
        return {seq for (seq,) in found}

    def _known(self, draft: Draft) -> tuple[str, int] | None:
        """The id and seq of a document that has the draft's text already."""
        test, values = compile_condition(known_text(draft, self._now))
        statement = SQL(
            "SELECT d.id, d.seq FROM documents d WHERE d.base_id = %s AND {} ORDER BY d.seq LIMIT 1"
        ).format(test)
        row = self._connection.execute(statement, (self._base, *values)).fetchone()
        return (row[0], row[1]) if row else None

    def _find(self, reference: str) -> Document | None:
        """A document by its id, code or path, as this transaction sees it."""
        statement = SQL(
            f"SELECT {rows.DOCUMENT} FROM documents d WHERE d.base_id = %s"
            " AND (d.id = %s OR d.code_key = lower(%s) OR d.path = %s)"
            " ORDER BY (d.id = %s) DESC, (d.code_key = lower(%s)) DESC LIMIT 1"
        )
        row = self._connection.execute(statement, (self._base, *[reference] * 5)).fetchone()
        return rows.document(row) if row else None

    def _link(self, changes: Changes, written: Collection[int]) -> set[int]:
        """Bring the links in step, and note which documents are to be compared; those whose
        links may have changed."""
        self._linking.write_codes(changes.codes)
        self._linking.note_forgotten(
            [one.document for one in changes.edits if "deleted_at" in one.values]
        )
        ends = (*changes.relations, *changes.dropped_relations)
        touched = [one.document for one in changes.edits]
        touched += [one.document for one in changes.codes]
        touched += [one.source for one in ends]
        documents = {*written, *self._seqs(touched)}
        if written or changes.removed:
            self._linking.changed()
        if documents or changes.removed:
            self._linking.refresh(documents)
        self._many(
            "INSERT INTO unlinked (base_id, document) VALUES (%s, %s) ON CONFLICT DO NOTHING",
            [(seq,) for seq in sorted(self._unlinked)],
        )
        return documents

    # documents

    def _remove(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        chunks = self._connection.execute(
            "SELECT c.id, c.length FROM chunks c JOIN documents d ON d.base_id = c.base_id"
            " AND d.seq = c.document WHERE d.base_id = %s AND d.id = ANY(%s)",
            (self._base, list(ids)),
        ).fetchall()
        self._forget_words(chunks)
        self._linking.forget(ids)
        self._linking.note_loss(ids)
        self._connection.execute(
            "DELETE FROM documents WHERE base_id = %s AND id = ANY(%s)", (self._base, list(ids))
        )

    def _forget_words(self, chunks: Iterable[Sequence[Any]]) -> None:
        """Chunks that go, with their lengths."""
        for chunk, length in chunks:
            self._unindexed.add(chunk)
            self._indexed.pop(chunk, None)
            self._chunks -= 1
            self._length -= length

    def _adopted(self, draft: Draft) -> Draft:
        """The draft under the id of the document that its path has already, if there is one."""
        if draft.path is None:
            return draft
        known = self._value("SELECT id FROM documents WHERE base_id = %s AND path = %s", draft.path)
        if known is None or known == draft.id:
            return draft
        exists = self._value("SELECT 1 FROM documents WHERE base_id = %s AND id = %s", draft.id)
        if not exists:
            return draft._replace(id=known)
        self._remove([known])  # the path now belongs to the one that moved there
        return draft

    def _write_document(self, draft: Draft) -> int:
        reading = draft.reading
        values = {name: rows.written(name, value) for name, value in reading.stored().items()}
        values |= {
            "path": draft.path,
            "updated_at": draft.updated_at,
            "tags": sorted({clean(tag) for tag in reading.tags}),
        }
        seq = self._value("SELECT seq FROM documents WHERE base_id = %s AND id = %s", draft.id)
        if seq is None:
            seq = self._insert_document(draft, values)
        else:
            self._update_document(seq, draft, values)
        self._write_links(seq, draft)
        self._write_chunks(seq, draft)
        return int(seq)

    def _insert_document(self, draft: Draft, values: dict[str, Any]) -> int:
        seq = self._next_seq
        self._next_seq += 1
        code = next(code for code in assigned_codes(seq) if self._is_free(code, seq))
        wanted = clean(draft.reading.value("code"))
        if wanted is not None and self._is_free(wanted, seq):
            code = wanted
        new = {
            "base_id": self._base, "seq": seq, "id": draft.id, "code": code,
            "created_at": self._now, "salience": DEFAULT_SALIENCE, **values,
        }  # fmt: skip
        self._connection.execute(insert("documents", tuple(new)), tuple(new.values()))
        return seq

    def _update_document(self, seq: int, draft: Draft, values: dict[str, Any]) -> None:
        values |= self.said(draft.id) or {}
        wanted = clean(draft.reading.value("code"))
        if wanted is not None and self._is_free(wanted, seq):
            values["code"] = wanted
        settings = SQL(", ").join(SQL("{} = %s").format(Identifier(name)) for name in values)
        self._connection.execute(
            SQL("UPDATE documents SET {} WHERE base_id = %s AND seq = %s").format(settings),
            (*values.values(), self._base, seq),
        )

    def _is_free(self, code: str, seq: int) -> bool:
        owner = self._value(
            "SELECT seq FROM documents WHERE base_id = %s AND code_key = lower(%s)", code
        )
        return owner is None or owner == seq

    def _write_links(self, seq: int, draft: Draft) -> None:
        self._connection.execute(
            "DELETE FROM links WHERE base_id = %s AND document = %s", (self._base, seq)
        )
        self._many(
            "INSERT INTO links (base_id, document, target, kind) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            [(seq, clean(link.target), link.kind) for link in draft.reading.links],
        )

    # chunks

    def _write_chunks(self, seq: int, draft: Draft) -> None:
        """A chunk at the same place keeps its number; its words only change when its text did."""
        rows = self._connection.execute(
            "SELECT slug, chunk_index, id, hash, terms, length FROM chunks"
            " WHERE base_id = %s AND document = %s",
            (self._base, seq),
        )
        stored = {(slug, index): _Stored(*rest) for slug, index, *rest in rows}
        wanted = {(chunk.slug, chunk.chunk_index) for chunk in draft.chunks}
        orphans = [old for key, old in stored.items() if key not in wanted]
        if orphans:
            self._unlinked.add(seq)
        self._forget_words((old.id, old.length) for old in orphans)
        self._connection.execute(
            "DELETE FROM chunks WHERE base_id = %s AND id = ANY(%s)",
            (self._base, [old.id for old in orphans]),
        )
        code = self._value("SELECT code FROM documents WHERE base_id = %s AND seq = %s", seq)
        names = names_of(str(code), draft.path)
        lines, vectors, changed = [], {}, []
        embedded = self._embedded([old.id for old in stored.values()])
        for position, (chunk, vector) in enumerate(zip(draft.chunks, draft.vectors, strict=True)):
            old = stored.get((chunk.slug, chunk.chunk_index))
            number = old.id if old else self._numbered()
            title = draft.reading.title
            terms = clean(index_terms(draft.reading.type, names, title, chunk.heading, chunk.text))
            length = self._index(number, old, chunk, (title, terms))
            if old is not None and old.hash != chunk.hash:
                changed.append(number)
                self._unlinked.add(seq)
            elif number in embedded:
                vector = None  # what is there is as good
            if vector is not None:
                vectors[number] = vector
                self._unlinked.add(seq)
            lines.append(
                (
                    *(number, seq, chunk.slug, chunk.chunk_index, position, chunk.hash),
                    *(chunk.line, chunk.page, chunk.tokens, chunk.overlap, clean(chunk.header)),
                    *(clean(title), clean(chunk.heading), clean(chunk.text)),
                    *(terms, length),
                )
            )
        self._many_chunks(lines)
        self._forget_vectors(changed)
        self._write_vectors(vectors)

    def _numbered(self) -> int:
        self._next_chunk += 1
        self._chunks += 1
        return self._next_chunk - 1

    def _index(self, number: int, old: _Stored | None, chunk: Chunk, more: tuple[str, str]) -> int:
        """Note the chunk's words, unless they are the old ones; how many there are."""
        title, terms = more
        if old is not None and (old.hash, old.terms) == (chunk.hash, terms):
            return old.length
        if old is not None:
            self._unindexed.add(number)
            self._length -= old.length
        length, counts = counted((title, chunk.heading or "", chunk.text, terms))
        self._indexed[number] = (length, counts)
        self._length += length
        return length

    def _many_chunks(self, lines: Sequence[tuple[Any, ...]]) -> None:
        settings = SQL(", ").join(
            SQL("{0} = excluded.{0}").format(Identifier(name)) for name in _CHUNK[1:]
        )
        statement = SQL("{} ON CONFLICT (base_id, id) DO UPDATE SET {}").format(
            insert("chunks", ("base_id", *_CHUNK)), settings
        )
        if lines:
            self._connection.cursor().executemany(
                statement, [(self._base, *line) for line in lines]
            )

    def _embedded(self, chunks: list[int]) -> set[int]:
        """Those of the chunks that have a vector of the model."""
        if self._model is None or not chunks:
            return set()
        statement = SQL(
            "SELECT chunk FROM {} WHERE base_id = %s AND model = %s AND chunk = ANY(%s)"
        ).format(vector_table(self._model[1].dimensions))
        found = self._connection.execute(statement, (self._base, self._model[0], chunks))
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
        if self._model is None or not vectors:
            return
        number, model = self._model
        statement = SQL(
            "INSERT INTO {} (base_id, model, chunk, embedding, seal)"
            " VALUES (%s, %s, %s, %s::vector, %s)"
        ).format(vector_table(model.dimensions))
        lines = [
            (self._base, number, chunk, as_text(one), vector_seal(one))
            for chunk, one in vectors.items()
        ]
        self._connection.cursor().executemany(statement, lines)

    # files

    def _write_files(self, files: Iterable[FileRecord], ids: dict[str, str]) -> None:
        names = FileRecord._fields
        settings = ", ".join(f"{name} = excluded.{name}" for name in names[1:])
        self._many(
            f"INSERT INTO files (base_id, {', '.join(names)})"
            f" VALUES (%s{', %s' * len(names)}) ON CONFLICT (base_id, path)"
            f" DO UPDATE SET {settings}",
            [
                record._replace(document=ids.get(record.document or "", record.document))
                for record in files
            ],
        )

    def _write_sources(self, sources: Iterable[Source]) -> None:
        self._many(
            "INSERT INTO sources (base_id, path, tags, parent, tree) VALUES (%s, %s, %s, %s, %s)"
            " ON CONFLICT (base_id, path) DO UPDATE SET tags = excluded.tags,"
            " parent = excluded.parent, tree = excluded.tree",
            [(s.path, list(s.tags), s.parent, s.tree) for s in sources],
        )

    def _value(self, statement: str, value: object) -> Any:
        """The first column of the first row, of this base."""
        row = self._connection.execute(SQL(statement), (self._base, value)).fetchone()
        return row[0] if row else None


def insert(table: str, columns: Sequence[str]) -> Composed:
    return SQL("INSERT INTO {} ({}) VALUES ({})").format(
        Identifier(table),
        SQL(", ").join(map(Identifier, columns)),
        SQL(", ").join(SQL("%s") for _ in columns),
    )
