"""The default store: one SQLite file with FTS5 and sqlite-vec."""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import apsw

from knowbase.errors import BaseReadOnly, ModelMismatch
from knowbase.query.conditions import EVERYTHING, AllOf, Condition, Visible, is_everything
from knowbase.query.words import KeywordQuery
from knowbase.store.sqlite import rows, schema
from knowbase.store.sqlite.compile import (
    Compiled,
    compile_condition,
    compile_for_chunks,
    match_expression,
)
from knowbase.store.sqlite.connection import Connections, translated
from knowbase.store.values import FieldWeights, Page
from knowbase.text.analysis import Word
from knowbase.text.spelling import as_written, nearest, stem_of
from knowbase.types import (
    Candidate,
    Changes,
    Counts,
    Document,
    FileRecord,
    Model,
    Passage,
    Source,
    Vector,
)

BUSY_TIMEOUT = 5.0
LAST = "\U0010ffff"  # sorts after every word
MOST_NEIGHBOURS = 4096  # sqlite-vec's own limit for a nearest-neighbour query


def create(path: str) -> "SqliteStore":
    """Make a new base; an existing one is opened."""
    with translated():
        if not os.path.exists(path) or os.path.getsize(path) == 0:
            _make_folder(os.path.dirname(os.path.abspath(path)))
            _make_file(path)
    return SqliteStore(path)


def _make_file(path: str) -> None:
    """A whole base appears at once; whoever is second finds the first one's."""
    new = f"{path}.{os.getpid()}.new"
    connection = apsw.Connection(new)
    try:
        schema.create(connection)
        connection.close()
        if os.path.exists(path) and os.path.getsize(path) == 0:
            os.replace(new, path)
        else:
            os.link(new, path)
    except FileExistsError:
        pass
    finally:
        connection.close()
        if os.path.exists(new):
            os.remove(new)


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise BaseReadOnly(
            f"no folder can be made there: {error.strerror}", hint="choose another --base"
        ) from error


class SqliteStore:
    """See `knowbase.store.Store` for what each method promises."""

    def __init__(self, path: str, busy_timeout: float = BUSY_TIMEOUT) -> None:
        self.path = path
        with translated():
            self._connections = Connections(path, busy_timeout, [])
            schema.check(self._connections.get())

    def close(self) -> None:
        self._connections.close()

    def copy_to(self, path: str) -> None:
        """The whole base as a new file, as it is at this moment."""
        with translated():
            target = apsw.Connection(path)
            try:
                with target.backup("main", self._connections.get(), "main") as backup:
                    backup.step()
            finally:
                target.close()

    # writing

    def apply(self, changes: Changes, now: str) -> list[Document]:
        from knowbase.store.sqlite import write

        with translated(), self._connections.writing() as connection:
            model = self._model_id(connection)
            written = write.apply(connection, changes, model, now)
            return [self._document(connection, seq) for seq in written]

    def use_model(self, model: Model) -> None:
        if self.model() == model:
            return
        with translated(), self._connections.writing() as connection:
            known = self.model()  # again: another process may have been faster
            if known == model:
                return
            if known is not None:
                raise ModelMismatch(
                    f"the base was made with the model {known.name} ({known.revision}),"
                    f" not {model.name} ({model.revision})",
                    field="embed.model",
                    hint="make a new base with this model: kb init --base PATH, then kb add",
                )
            connection.execute(
                "INSERT INTO models (name, revision, dimensions) VALUES (?, ?, ?)", model
            )
            number = connection.last_insert_rowid()
            schema.create_vector_table(connection, number, model.dimensions)

    # documents

    def find(self, reference: str) -> Document | None:
        tries: list[tuple[str, Any]] = [
            ("d.id = ?", reference), ("d.code = ?", reference), ("d.path = ?", reference),
        ]  # fmt: skip
        if reference.isdigit() and len(reference) < 18 and str(int(reference)) == reference:
            tries.append(("d.seq = ?", int(reference)))
        with translated():
            connection = self._connections.get()
            for where, value in tries:
                row = connection.execute(
                    f"SELECT {rows.DOCUMENT} FROM documents d WHERE {where}", (value,)
                ).fetchone()
                if row is not None:
                    return rows.document(row)
        return None

    def documents(self, condition: Condition, page: Page) -> list[Document]:
        sql, values = compile_condition(condition)
        found = self._read(
            f"SELECT {rows.DOCUMENT} FROM documents d WHERE {sql}"
            " ORDER BY d.updated_at DESC, d.seq LIMIT ? OFFSET ?",
            (*values, page.limit, page.offset),
        )
        return [rows.document(row) for row in found]

    def count(self, condition: Condition) -> int:
        sql, values = compile_condition(condition)
        return int(self._read(f"SELECT count(*) FROM documents d WHERE {sql}", values)[0][0])

    def chunks(self, document: str) -> list[Passage]:
        found = self._read(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM chunks c"
            " JOIN documents d ON d.seq = c.document WHERE d.id = ? ORDER BY c.position",
            (document,),
        )
        return [rows.passage(row) for row in found]

    def codes(self) -> list[str]:
        return [code for (code,) in self._read("SELECT code FROM documents ORDER BY seq")]

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        sql, values = compile_condition(condition)
        return [
            (name, number)
            for name, number in self._read(
                "SELECT t.name, count(*) AS number FROM tags t JOIN documents d"
                f" ON d.seq = t.document WHERE {sql} GROUP BY t.name ORDER BY number DESC, t.name",
                values,
            )
        ]

    # retrieval

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        if not query.words or limit < 1:
            return []
        # The unary + keeps FTS5 in the lead: driven by ids, it would run the whole match
        # again for each of them.
        where, values = self._passing("+rowid", condition)
        found = self._read(
            "SELECT rowid, -bm25(chunks_fts, ?, ?, ?, ?) AS score FROM chunks_fts"
            f" WHERE chunks_fts MATCH ?{where} ORDER BY score DESC, rowid LIMIT ?",
            (*weights, match_expression(query), *values, limit),
        )
        return [Candidate(chunk, score) for chunk, score in found]

    def semantic(self, vector: Vector, condition: Condition, limit: int) -> list[Candidate]:
        if not vector or limit < 1:
            return []
        with translated():
            model = self._model_id(self._connections.with_vectors())
        if model is None:
            return []
        where, values = self._passing("chunk_id", condition)
        table = schema.vector_table(model)
        if limit > MOST_NEIGHBOURS:
            sql = (
                f"SELECT chunk_id, 1 - vec_distance_cosine(embedding, ?) AS similarity FROM {table}"
                f" WHERE 1{where} ORDER BY similarity DESC, chunk_id LIMIT ?"
            )
            found = self._read(sql, (vector, *values, limit))
        else:
            sql = f"SELECT chunk_id, 1 - distance FROM {table} WHERE embedding MATCH ? AND k = ?"
            found = self._read(sql + where, (vector, limit, *values))
        nearest = [Candidate(chunk, score) for chunk, score in found]
        return sorted(nearest, key=lambda candidate: (-candidate.score, candidate.chunk))

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        unknown = []
        for word in words:
            stem = stem_of(word.surface)
            found = stem and self._vocabulary(
                "SELECT 1 FROM temp.words WHERE term >= ? AND term < ? LIMIT 1",
                (stem, stem + (LAST if word.prefix else "\0")),
            )
            unknown += [word] if stem and not found else []
        return unknown

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        stem = stem_of(word.surface)
        found = self._vocabulary(
            "SELECT term FROM temp.words WHERE term >= ? AND term < ?", (stem[:1], stem[:1] + LAST)
        )
        return [self._as_written(near) for near in nearest(stem, (t for (t,) in found), limit)]

    def _as_written(self, stem: str) -> str:
        found = self._read(
            "SELECT title || ' ' || coalesce(heading, '') || ' ' || text FROM chunks WHERE id ="
            " (SELECT doc FROM temp.places WHERE term = ? LIMIT 1)",
            (stem,),
        )
        return as_written(stem, found[0][0]) if found else stem

    def _vocabulary(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Read the index's own list of words, through a table of this connection alone."""
        with translated():
            self._connections.get().execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.words USING"
                " fts5vocab(main, chunks_fts, row);"
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.places USING"
                " fts5vocab(main, chunks_fts, instance)"
            )
        return self._read(sql, values)

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        sql, values = compile_for_chunks(condition)
        found = self._read(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM"
            f" (SELECT c.document, min(c.position) AS position FROM chunks c WHERE {sql}"
            " GROUP BY c.document) first"
            " CROSS JOIN documents d ON d.seq = first.document"
            " CROSS JOIN chunks c ON c.document = d.seq AND c.position = first.position"
            " ORDER BY d.updated_at DESC, d.seq LIMIT ?",
            (*values, limit),
        )
        return [rows.passage(row) for row in found]

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        found = self._read(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM json_each(?) wanted"
            " CROSS JOIN chunks c ON c.id = wanted.value JOIN documents d ON d.seq = c.document",
            ("[" + ",".join(map(str, chunks)) + "]",),
        )
        return {row[0]: rows.passage(row) for row in found}

    # files

    def sources(self) -> list[Source]:
        import json

        found = self._read("SELECT path, tags, parent, tree FROM sources ORDER BY path")
        return [
            Source(path, tuple(json.loads(tags)), parent, bool(tree))
            for path, tags, parent, tree in found
        ]

    def files(self) -> dict[str, FileRecord]:
        found = self._read(f"SELECT {rows.FILE} FROM files")
        return {row[0]: rows.file_record(row) for row in found}

    def problems(self) -> list[FileRecord]:
        found = self._read(f"SELECT {rows.FILE} FROM files WHERE problem IS NOT NULL ORDER BY path")
        return [rows.file_record(row) for row in found]

    # vectors and the whole

    def model(self) -> Model | None:
        found = self._read("SELECT name, revision, dimensions FROM models ORDER BY id LIMIT 1")
        return Model(*found[0]) if found else None

    def vectors(self, hashes: Collection[str]) -> Mapping[str, Vector]:
        import json

        with translated():
            connection = self._connections.with_vectors()
            model = self._model_id(connection)
            if model is None:
                return {}
            found = connection.execute(
                "SELECT c.hash, v.embedding FROM json_each(?) wanted"
                " CROSS JOIN chunks c ON c.id ="
                " (SELECT id FROM chunks WHERE hash = wanted.value AND model = ? LIMIT 1)"
                f" CROSS JOIN {schema.vector_table(model)} v ON v.chunk_id = c.id",
                (json.dumps(list(hashes)), model),
            )
            return dict(found)

    def counts(self) -> Counts:
        documents = self.count(EVERYTHING)
        chunks, embedded = self._read("SELECT count(*), count(model) FROM chunks")[0]
        tags = self._read("SELECT count(DISTINCT name) FROM tags")[0][0]
        by_type = self._read(
            "SELECT type, count(*) FROM documents GROUP BY type ORDER BY 2 DESC, 1"
        )
        return Counts(documents, chunks, embedded, tags, dict(by_type))

    # inside

    def _read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translated():
            return self._connections.get().execute(sql, values).fetchall()

    def _document(self, connection: apsw.Connection, seq: int) -> Document:
        sql = f"SELECT {rows.DOCUMENT} FROM documents d WHERE d.seq = ?"
        return rows.document(connection.execute(sql, (seq,)).fetchall()[0])

    def _model_id(self, connection: apsw.Connection) -> int | None:
        found: int | None = connection.execute("SELECT id FROM models ORDER BY id LIMIT 1").get
        return found

    def _passing(self, column: str, condition: Condition) -> Compiled:
        """`AND column IN` the chunks of documents that pass; nothing when all of them do."""
        if _is_lifecycle(condition) and (is_everything(condition) or not self._has_lifecycle()):
            return "", []
        sql, values = compile_for_chunks(condition)
        return f" AND {column} IN (SELECT c.id FROM chunks c WHERE {sql})", values

    def _has_lifecycle(self) -> bool:
        """Whether any document could be hidden: one look at a partial index."""
        found = self._read(
            "SELECT 1 FROM documents WHERE archived OR expires_at IS NOT NULL"
            " OR superseded_by IS NOT NULL OR valid_until IS NOT NULL LIMIT 1"
        )
        return bool(found)


def _is_lifecycle(condition: Condition) -> bool:
    if isinstance(condition, AllOf):
        return all(_is_lifecycle(part) for part in condition.parts)
    return isinstance(condition, Visible)
