"""Vectors of several models side by side: each model has a table of its own, one is active."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import apsw

from knowbase.errors import ModelMismatch
from knowbase.store.seals import vector_seal
from knowbase.store.sqlite import rows
from knowbase.store.sqlite.connection import Connected, as_json, translated
from knowbase.store.sqlite.extension import remove_vector
from knowbase.store.sqlite.vector_tables import create_vector_table, vector_table
from knowbase.values.documents import Passage

if TYPE_CHECKING:
    from knowbase.values.vectors import Model, StoredModel, Vector


class SqliteVectors(Connected):
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
        with translated():
            self._connections.with_vectors()
        with translated(), self._connections.writing() as connection:
            known = self.model()  # again: another process may have been faster
            if known == model:
                return
            if known is not None:
                raise ModelMismatch.between(known, model)
            number = registered(connection, model, source)
            connection.execute("UPDATE models SET active = (id = ?)", (number,))

    def put_vectors(self, model: "Model", source: str, vectors: "Mapping[str, Vector]") -> None:
        with translated():
            self._connections.with_vectors()
            with self._connections.writing() as connection:
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

    def leases(self) -> None:
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
            self._connections.with_vectors()
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
        with translated():
            connection = self._connections.with_vectors()
            number = self._model_id(connection, model)
            if number is None:
                return {}
            found = connection.execute(
                "SELECT wanted.value, v.embedding FROM json_each(?) wanted"
                f" CROSS JOIN {vector_table(number)} v ON v.chunk_id ="
                " (SELECT c.id FROM chunks c CROSS JOIN embedded e ON e.model = ? AND"
                " e.chunk = c.id WHERE c.hash = wanted.value LIMIT 1)",
                (as_json(hashes), number),
            )
            return dict(found)


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
    create_vector_table(connection, number, model.dimensions)
    return number


def drop(connection: apsw.Connection, model: int) -> None:
    """Remove a model with its vectors."""
    connection.execute(f"DROP TABLE {vector_table(model)}")
    connection.execute("DELETE FROM embedded WHERE model = ?", (model,))
    connection.execute("DELETE FROM models WHERE id = ?", (model,))


def _chunks_without(connection: apsw.Connection, model: int, digest: str) -> list[int]:
    found = connection.execute(
        "SELECT c.id FROM chunks c WHERE c.hash = ? AND NOT EXISTS"
        " (SELECT 1 FROM embedded e WHERE e.model = ? AND e.chunk = c.id)",
        (digest, model),
    )
    return [chunk for (chunk,) in found]


def insert(connection: apsw.Connection, model: int, chunk: int, vector: "Vector") -> None:
    """The first vector of a chunk."""
    connection.execute(
        f"INSERT INTO {vector_table(model)} (chunk_id, embedding) VALUES (?, ?)",
        (chunk, vector),
    )
    connection.execute(
        "INSERT INTO embedded (model, chunk, seal) VALUES (?, ?, ?)",
        (model, chunk, vector_seal(vector)),
    )


def update(connection: apsw.Connection, model: int, chunk: int, vector: "Vector") -> None:
    """Another vector in the same place: sqlite-vec never refills the hole of a deleted one."""
    connection.execute(
        f"UPDATE {vector_table(model)} SET embedding = ? WHERE chunk_id = ?",
        (vector, chunk),
    )
    connection.execute(
        "UPDATE embedded SET seal = ? WHERE model = ? AND chunk = ?",
        (vector_seal(vector), model, chunk),
    )


def remove(connection: apsw.Connection, chunk: int, kept: int | None = None) -> None:
    """The chunk's vectors of every model, but for the one that is kept."""
    for model in numbers(connection):
        if model == kept:
            continue
        sql = "DELETE FROM embedded WHERE model = ? AND chunk = ?"
        connection.execute(sql, (model, chunk))
        if connection.changes():
            remove_vector(connection, model, chunk)


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
