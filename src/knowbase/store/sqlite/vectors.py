"""Vectors of several models side by side: each model has a table of its own, one is active."""

import os
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import apsw

from knowbase.errors import ModelMismatch
from knowbase.store.halves import as_kept, halved, halved_all, whole
from knowbase.store.seals import vector_seal
from knowbase.store.sqlite import rows
from knowbase.store.sqlite.beside import index_of, words_of
from knowbase.store.sqlite.connection import Connected, as_json, translated
from knowbase.store.sqlite.packing import has_hash
from knowbase.store.sqlite.vector_tables import (
    create_vector_table,
    stored_by_hash,
    vector_table,
)
from knowbase.values.documents import Passage

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.store.sqlite.scan import Among
    from knowbase.store.sqlite.vector_index import InStep, VectorIndex
    from knowbase.store.sqlite.word_index import InStep as WordsInStep
    from knowbase.store.sqlite.word_index import Loaded as LoadedWords
    from knowbase.store.sqlite.word_index import WordIndex
    from knowbase.values.vectors import IndexState, Model, StoredModel, Vector

    Propose = Callable[[int], list[tuple[int, Vector]]]

INDEX_AFTER = 20_000  # vectors; fewer are compared in a moment


class WithIndex(Connected):
    """The indexes beside a large base, for whoever searches and whoever writes."""

    _index_after = INDEX_AFTER

    @cached_property
    def _index_folder(self) -> str:
        return index_of(self._connections.path)

    @cached_property
    def _index(self) -> "VectorIndex":
        from knowbase.store.sqlite.vector_index import VectorIndex

        return VectorIndex(self._index_folder)

    @cached_property
    def _word_index(self) -> "WordIndex":
        from knowbase.store.sqlite.word_index import WordIndex

        return WordIndex(words_of(self._connections.path))

    def _words(self) -> "WordsInStep | None":
        """The index of words, when there is one that can be used in this transaction: not by who
        writes, since what is not written yet could be taken back. FTS5 takes less time than to
        load numpy."""
        if "numpy" not in sys.modules or not self._index_after:
            return None
        connection = self._connections.get()
        if not os.path.isdir(self._word_index.folder):
            return None
        if connection.txn_state("main") == apsw.SQLITE_TXN_WRITE:
            return None
        loaded, state = self._word_index.loaded(), self._connections.state()
        known = self._connections.words
        if known is None or known[0] != state or known[1] is not loaded:
            found = self._words_in_step(connection, loaded) if loaded else None
            known = self._connections.words = (state, loaded, found)
        in_step: WordsInStep | None = known[2]
        return in_step

    def _words_in_step(
        self, connection: apsw.Connection, loaded: "LoadedWords"
    ) -> "WordsInStep | None":
        return self._word_index.in_step(connection, loaded)

    def _in_step(self, model: int) -> "InStep | None":
        """The index, when there is one that can be used in this transaction."""
        if not self._has_index():
            return None
        found = self._index.in_step(self._connections.get(), model)
        if found is not None:
            self._connections.map_file()
        return found

    def _indexed(self, model: int, vector: "Vector", among: "Among | None") -> "Propose | None":
        """The nearest by the index, when there is one that can be used."""
        in_step = self._in_step(model)
        if in_step is None:
            return None
        from knowbase.store.sqlite.vector_index import Indexed

        return Indexed(self._connections.get(), in_step, vector, among).nearest

    def _has_index(self) -> bool:
        current = os.path.join(self._index_folder, "current")
        return bool(self._index_after) and os.path.exists(current)


class SqliteVectors(WithIndex):
    """See `knowbase.store.contract.VectorStore` for what each method promises."""

    def model(self) -> "Model | None":
        from knowbase.values.vectors import Model

        found = self._read("SELECT name, revision, dimensions FROM models WHERE active")
        return Model(*found[0]) if found else None

    def models(self) -> "list[StoredModel]":
        from knowbase.values.vectors import Model, StoredModel

        found = self._read(
            "SELECT name, revision, dimensions, source, active,"
            " (SELECT count(*) FROM embedded e WHERE e.model = m.id)"
            " FROM models m ORDER BY active DESC, id"
        )
        return [
            StoredModel(Model(*identity), source, vectors, bool(active))
            for *identity, source, active, vectors in found
        ]

    def use_model(self, model: "Model", source: str = "") -> None:
        if self.model() == model:
            return
        with translated(), self._connections.writing() as connection:
            known = self.model()  # again: another process may have been faster
            if known == model:
                return
            if known is not None:
                raise ModelMismatch.between(known, model)
            number = registered(connection, model, source)
            connection.execute("UPDATE models SET active = (id = ?)", (number,))

    def put_vectors(self, model: "Model", source: str, vectors: "Mapping[str, Vector]") -> None:
        with translated(), self._connections.writing() as connection:
            number = registered(connection, model, source)
            for digest, vector in vectors.items():
                for chunk in _chunks_without(connection, number, digest):
                    insert(connection, number, chunk, vector)
            _compare_anew(connection)

    def unembedded(self, model: "Model", after: int, limit: int) -> list[Passage]:
        with translated():
            number = self._model_id(self._connections.get(), model)
        found = self._read(
            f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM chunks c"
            " JOIN documents d ON d.seq = c.document WHERE c.id > ? AND NOT EXISTS"
            " (SELECT 1 FROM embedded e WHERE e.model = ? AND e.chunk = c.id)"
            " ORDER BY c.id LIMIT ?",
            (after, number, limit),
        )
        return [rows.passage(row) for row in found]

    def claims(self) -> None:
        return None

    def switch_model(self, model: "Model") -> bool:
        with translated(), self._connections.writing() as connection:
            number = self._model_id(connection, model)
            if number is None:
                return False
            missing = connection.execute(
                "SELECT EXISTS (SELECT 1 FROM chunks c WHERE NOT EXISTS"
                " (SELECT 1 FROM embedded e WHERE e.model = ? AND e.chunk = c.id))",
                (number,),
            ).get
            if not missing:
                connection.execute("UPDATE models SET active = (id = ?)", (number,))
                _compare_anew(connection)
            return not missing

    def drop_model(self, model: "Model") -> None:
        with translated():
            with self._connections.writing() as connection:
                number = self._model_id(connection, model)
                if number is None:
                    return
                if number == self._model_id(connection):
                    raise ModelMismatch(f"{model.name} is the model in use", field="embed.model")
                drop(connection, number)
            _shrink(self._connections.get())

    def vectors(
        self, hashes: Collection[str], model: "Model | None" = None
    ) -> "Mapping[str, Vector]":
        if not hashes:
            return {}
        with translated():
            connection = self._connections.get()
            number = self._model_id(connection, model)
            if number is None:
                return {}
            found: Any = connection.execute(stored_by_hash(number), (as_json(hashes), number))
            return {digest: whole(half) for digest, half in found}

    def renew_index(
        self,
        *,
        anew: bool = False,
        tell: "Callable[[int, int], None] | None" = None,  # noqa: ARG002 - it takes no minutes
    ) -> bool:
        with translated():
            if not self._may_be_due(anew=anew):
                return False
            from knowbase.store.sqlite.indexing import VectorIndexing
            from knowbase.store.sqlite.word_indexing import WordIndexing

            given = self._connections, self._index_after
            words = WordIndexing(given[0], self._word_index, given[1]).renew(anew=anew)
            return VectorIndexing(given[0], self._index, given[1]).renew(anew=anew) or words

    def _may_be_due(self, *, anew: bool) -> bool:
        """A small base needs no numpy to say that it needs no index."""
        if anew:
            return True
        if os.path.isdir(index_of(self._connections.path)):
            from knowbase.store.sqlite.change_log import DUE, VECTORS, WORDS

            few, connection = self._index_after // DUE, self._connections.get()
            if not self._index_after or "numpy" in sys.modules:
                return True
            return not (WORDS.is_short(connection, few) and VECTORS.is_short(connection, few))
        last = self._read("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'")
        return bool(self._index_after) and bool(last) and last[0][0] >= self._index_after

    def vector_index(self) -> "IndexState | None":
        if not self._has_index():
            return None
        from knowbase.values.vectors import IndexState

        with translated(), self._connections.get() as connection:
            model = self._model_id(connection)
            found = None if model is None else self._index.in_step(connection, model)
        if found is None:
            return IndexState(0, 0, 0)
        rows = sum(len(part.segment.chunks) - len(part.dead) for part in found.loaded.parts)
        return IndexState(rows, len(found.changed), len(found.loaded.parts))


def _compare_anew(connection: apsw.Connection) -> None:
    """Which documents are similar is to be found again."""
    connection.execute("UPDATE graph SET similar_above = NULL, version = version + 1")


def registered(connection: apsw.Connection, model: "Model", source: str) -> int:
    """The model's number; one that is new gets its table."""
    sql = "SELECT id FROM models WHERE name = ? AND revision = ?"
    known: int | None = connection.execute(sql, model[:2]).get
    if known is not None:
        stored = "SELECT dimensions FROM models WHERE id = ?"
        if connection.execute(stored, (known,)).get != model.dimensions:
            raise ModelMismatch(
                f"{model.name} ({model.revision}) has other dimensions in this base",
                field="embed.model",
                hint="kb embed --drop-old drops vectors that are not in use",
            )
        connection.execute("UPDATE models SET source = ? WHERE id = ?", (source, known))
        return known
    connection.execute(
        "INSERT INTO models (name, revision, dimensions, source) VALUES (?, ?, ?, ?)",
        (*model, source),
    )
    number = connection.last_insert_rowid()
    create_vector_table(connection, number)
    return number


def drop(connection: apsw.Connection, model: int) -> None:
    """Remove a model with its vectors."""
    from knowbase.store.sqlite.change_log import VECTORS

    VECTORS.forget(connection, model)
    connection.execute(f"DROP TABLE {vector_table(model)}")
    connection.execute("DELETE FROM embedded WHERE model = ?", (model,))
    connection.execute("DELETE FROM models WHERE id = ?", (model,))


def _chunks_without(connection: apsw.Connection, model: int, digest: str) -> list[int]:
    found = connection.execute(
        f"SELECT c.id FROM chunks c WHERE {has_hash('?1')} AND NOT EXISTS"
        " (SELECT 1 FROM embedded e WHERE e.model = ?2 AND e.chunk = c.id)",
        (digest, model),
    )
    return [chunk for (chunk,) in found]


def insert(connection: apsw.Connection, model: int, chunk: int, vector: "Vector") -> None:
    """The first vector of a chunk."""
    connection.execute(
        f"INSERT INTO {vector_table(model)} (chunk_id, embedding) VALUES (?, ?)",
        (chunk, halved(vector)),
    )
    connection.execute(
        "INSERT INTO embedded (model, chunk, seal) VALUES (?, ?, ?)",
        (model, chunk, vector_seal(as_kept(vector))),
    )


def insert_all(
    connection: apsw.Connection, model: int, pairs: "Sequence[tuple[int, Vector]]"
) -> None:
    """The first vectors of many chunks."""
    chunks = [chunk for chunk, _ in pairs]
    made = [*zip(chunks, halved_all([vector for _, vector in pairs]), strict=True)]
    connection.executemany(
        f"INSERT INTO {vector_table(model)} (chunk_id, embedding) VALUES (?, ?)",
        [(chunk, half) for chunk, (half, _) in made],
    )
    connection.executemany(
        "INSERT INTO embedded (model, chunk, seal) VALUES (?, ?, ?)",
        [(model, chunk, vector_seal(kept)) for chunk, (_, kept) in made],
    )


def update(connection: apsw.Connection, model: int, chunk: int, vector: "Vector") -> None:
    """Another vector in the same place."""
    connection.execute(
        f"UPDATE {vector_table(model)} SET embedding = ? WHERE chunk_id = ?",
        (halved(vector), chunk),
    )
    connection.execute(
        "UPDATE embedded SET seal = ? WHERE model = ? AND chunk = ?",
        (vector_seal(as_kept(vector)), model, chunk),
    )


def remove(connection: apsw.Connection, chunk: int, kept: int | None = None) -> None:
    """The chunk's vectors of every model, but for the one that is kept."""
    for model in numbers(connection):
        if model == kept:
            continue
        sql = "DELETE FROM embedded WHERE model = ? AND chunk = ?"
        connection.execute(sql, (model, chunk))
        if connection.changes():
            connection.execute(f"DELETE FROM {vector_table(model)} WHERE chunk_id = ?", (chunk,))


def numbers(connection: apsw.Connection) -> list[int]:
    """Of every model that has vectors."""
    return [int(number) for (number,) in connection.execute("SELECT id FROM models").fetchall()]  # type: ignore[arg-type]


def _shrink(connection: apsw.Connection) -> None:
    """Give the space back to the disk; while others read, it is only kept for what comes."""
    try:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    except (apsw.BusyError, apsw.LockedError, apsw.FullError):
        return
