"""Vectors of several models side by side; models of equal dimensions share a table."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.errors import ModelMismatch
from knowbase.store.postgres import retrieval, rows
from knowbase.store.postgres.bulk import copy_vectors
from knowbase.store.postgres.claims import PostgresClaims, end_claims
from knowbase.store.postgres.cluster import together
from knowbase.store.postgres.connection import LEAST_PGVECTOR, find_model
from knowbase.store.postgres.documents import PostgresDocuments
from knowbase.store.postgres.english import Indexes, index_english
from knowbase.store.postgres.vector_tables import (
    build_hnsw,
    built,
    create_vector_table,
    is_hnsw_due,
    learn_lists,
    unpacked,
    vector_table,
)
from knowbase.store.watching import watched
from knowbase.values.documents import Passage
from knowbase.values.vectors import IndexState, Model, StoredModel, Vector

_WITHOUT = (
    "NOT EXISTS (SELECT 1 FROM {} v WHERE v.base_id = c.base_id AND v.model = %s AND"
    " v.chunk = c.id{})"
)


class PostgresVectors(PostgresDocuments):
    """See `knowbase.store.contract.VectorStore` for what each method promises."""

    _indexes: Indexes

    def model(self) -> Model | None:
        found = self._model()
        return found[1] if found else None

    def models(self) -> list[StoredModel]:
        return self._connections.consistently(self._models)

    def _models(self, connection: Connection) -> list[StoredModel]:
        return sorted(self.models_by_arrival(connection), key=lambda one: not one.active)

    def models_by_arrival(self, connection: Connection) -> list[StoredModel]:
        """Every model that has vectors here, as this transaction sees it."""
        known = connection.execute(
            "SELECT id, source, active, name, revision, dimensions FROM models WHERE base_id = %s"
            " ORDER BY id",
            (self._base,),
        ).fetchall()
        return [
            StoredModel(
                Model(*rest), source, self._embedded_by(connection, number, Model(*rest)), active
            )
            for number, source, active, *rest in known
        ]

    def use_model(self, model: Model, source: str = "") -> None:
        self._check_vectors()
        if self.model() != model:
            self._connections.writing(lambda connection: self._use(connection, model, source))

    def _use(self, connection: Connection, model: Model, source: str) -> None:
        self._lock(connection)
        known = find_model(connection, self._base)
        if known is not None and known[1] != model:
            raise ModelMismatch.between(known[1], model)
        self._activate(connection, self._registered(connection, model, source))

    def put_vectors(self, model: Model, source: str, vectors: Mapping[str, Vector]) -> None:
        self._check_vectors()

        def write(connection: Connection) -> None:
            self._lock(connection)
            number = self._registered(connection, model, source)
            if vectors:
                self._put(connection, number, model, vectors)
                end_claims(connection, self._base, number, list(vectors))
            self._compare_anew(connection)
            self.index_large(connection)

        self._connections.writing(write)

    def _put(
        self, connection: Connection, number: int, model: Model, vectors: Mapping[str, Vector]
    ) -> None:
        """For every chunk that has such a text and no vector of it yet."""
        test, values = self._without(connection, number, model)
        statement = SQL(
            "SELECT c.id, c.document, c.hash FROM chunks c"
            " WHERE c.base_id = %s AND c.hash = ANY(%s) AND {}"
            " ORDER BY c.id"
        ).format(test)
        found = connection.execute(statement, (self._base, list(vectors), *values)).fetchall()
        lines = [(chunk, vectors[digest]) for chunk, _, digest in found]
        documents = {chunk: document for chunk, document, _ in found}
        copy_vectors(connection, self._base, (number, model.dimensions), lines, documents)

    def unembedded(self, model: Model, after: int, limit: int) -> list[Passage]:
        def read(connection: Connection) -> list[Passage]:
            known = find_model(connection, self._base, model)
            test, values = (SQL("true"), ()) if known is None else self._without(connection, *known)
            statement = SQL(
                f"SELECT c.id, {rows.CHUNK}, {rows.DOCUMENT} FROM chunks c JOIN documents d"
                " ON d.base_id = c.base_id AND d.seq = c.document"
                " WHERE c.base_id = %s AND c.id > %s AND {} ORDER BY c.id LIMIT %s"
            ).format(test)
            found = connection.execute(statement, (self._base, after, *values, limit))
            return [rows.passage(row) for row in found]

        return self._connections.run(read)

    def _without(self, connection: Connection, number: int, model: Model) -> Any:
        table, beside = vector_table(model.dimensions), together(connection, "v", "c")
        return SQL(_WITHOUT).format(table, beside), (number,)

    def claims(self) -> PostgresClaims:
        return PostgresClaims(self._connections, self._base)

    def switch_model(self, model: Model) -> bool:
        def switch(connection: Connection) -> bool:
            self._lock(connection)
            known = find_model(connection, self._base, model)
            if known is None:
                return False
            test, values = self._without(connection, *known)
            statement = SQL("SELECT 1 FROM chunks c WHERE c.base_id = %s AND {} LIMIT 1")
            missing = connection.execute(statement.format(test), (self._base, *values)).fetchone()
            if missing is None:
                self._activate(connection, known[0])
            return missing is None

        return self._connections.writing(switch)

    def drop_model(self, model: Model) -> None:
        """The server reuses the space."""

        def drop(connection: Connection) -> None:
            self._lock(connection)
            known = find_model(connection, self._base, model)
            if known is None:
                return
            if known == find_model(connection, self._base):
                raise ModelMismatch(f"{model.name} is the model in use", field="embed.model")
            self._drop(connection, *known)

        self._connections.writing(drop)

    def vectors(self, hashes: Collection[str], model: Model | None = None) -> Mapping[str, Vector]:
        known = self._model(model)
        if known is None or not self._vectors_known:
            return {}
        if not hashes and self._connections.is_distributed:
            return {}  # no need to ask every worker for nothing
        statement = SQL(
            "SELECT DISTINCT ON (c.hash) c.hash, v.embedding FROM chunks c JOIN {} v"
            " ON v.base_id = c.base_id AND v.chunk = c.id{} AND v.model = %s"
            " WHERE c.base_id = %s AND c.hash = ANY(%s) ORDER BY c.hash, c.id"
        )

        def read(connection: Connection) -> dict[str, Vector]:
            table, beside = vector_table(known[1].dimensions), together(connection, "v", "c")
            with connection.cursor(binary=True) as cursor:
                cursor.execute(
                    statement.format(table, beside), (known[0], self._base, list(hashes))
                )
                return {digest: unpacked(given) for digest, given in cursor}

        return self._connections.run(read)

    def renew_index(
        self, *, anew: bool = False, tell: Callable[[int, int], None] | None = None
    ) -> bool:
        """HNSW, of a table that has got so large that searches need it."""
        if self._indexes.vectors != "hnsw" or self._vectors_known < LEAST_PGVECTOR:
            return False
        found = self._read(
            SQL("SELECT DISTINCT dimensions FROM models WHERE base_id = %s"), (self._base,)
        )
        due = [size for (size,) in found if self._is_due(size, anew=anew)]
        for dimensions in due:
            with watched(tell, partial(self._built, dimensions)):
                self._connections.writing(partial(build_hnsw, dimensions=dimensions, anew=anew))
        return bool(due)

    def _is_due(self, dimensions: int, *, anew: bool) -> bool:
        return self._connections.run(
            lambda connection: is_hnsw_due(connection, dimensions, retrieval.EXACT, anew=anew)
        )

    def _built(self, dimensions: int) -> tuple[int, int] | None:
        return self._connections.run(lambda connection: built(connection, dimensions))

    def vector_index(self) -> IndexState | None:
        return None

    def index_large(self, connection: Connection) -> None:
        """Build the index of English words and the one that learns from the vectors, if they are
        wanted and not there yet."""
        if self._indexes.english:
            index_english(connection, retrieval.EXACT)
        if self._indexes.vectors == "ivfflat":
            for one in self.models_by_arrival(connection):
                learn_lists(connection, one.model.dimensions, retrieval.EXACT)

    def take_models(self, connection: Connection, models: Sequence[StoredModel]) -> None:
        """Exactly these, in this order; their vectors as far as they are there."""
        self._lock(connection)
        if models:
            self._check_vectors()
        wanted = {one.model for one in models}
        for one in self.models_by_arrival(connection):
            known = find_model(connection, self._base, one.model)
            if one.model not in wanted and known is not None:
                self._drop(connection, *known)
        for one in models:
            number = self._registered(connection, one.model, one.source)
            connection.execute(
                "UPDATE models SET active = %s WHERE base_id = %s AND id = %s",
                (one.active, self._base, number),
            )

    # inside

    def _drop(self, connection: Connection, number: int, model: Model) -> None:
        """Remove a model with its vectors."""
        statement = SQL("DELETE FROM {} WHERE base_id = %s AND model = %s")
        table = vector_table(model.dimensions)
        connection.execute(statement.format(table), (self._base, number))
        for gone in ("claims WHERE base_id = %s AND model", "models WHERE base_id = %s AND id"):
            connection.execute(SQL(f"DELETE FROM {gone} = %s"), (self._base, number))

    def _lock(self, connection: Connection) -> None:
        """As every writer does: a switch sees all vectors, or comes after them."""
        connection.execute("SELECT 1 FROM bases WHERE id = %s FOR UPDATE", (self._base,))

    def _activate(self, connection: Connection, number: int) -> None:
        connection.execute(
            "UPDATE models SET active = (id = %s) WHERE base_id = %s", (number, self._base)
        )
        self._compare_anew(connection)

    def _compare_anew(self, connection: Connection) -> None:
        """Which documents are similar is to be found again."""
        connection.execute(
            "UPDATE graph SET similar_above = NULL, version = version + 1 WHERE base_id = %s",
            (self._base,),
        )

    def _registered(self, connection: Connection, model: Model, source: str) -> int:
        """The model's number; one that is new gets its place."""
        row = connection.execute(
            "SELECT id, dimensions FROM models WHERE base_id = %s AND name = %s AND revision = %s",
            (self._base, *model[:2]),
        ).fetchone()
        if row is not None:
            if row[1] != model.dimensions:
                raise ModelMismatch(
                    f"{model.name} ({model.revision}) has other dimensions in this base",
                    field="embed.model",
                    hint="kb embed --drop-old drops vectors that are not in use",
                )
            connection.execute(
                "UPDATE models SET source = %s WHERE base_id = %s AND id = %s",
                (source, self._base, row[0]),
            )
            return int(row[0])
        create_vector_table(connection, model.dimensions)
        made = connection.execute(
            "INSERT INTO models (base_id, id, name, revision, dimensions, source)"
            " SELECT %s, coalesce(max(id), 0) + 1, %s, %s, %s, %s FROM models WHERE base_id = %s"
            " RETURNING id",
            (self._base, *model, source, self._base),
        ).fetchone()
        return int(made[0]) if made else 0
