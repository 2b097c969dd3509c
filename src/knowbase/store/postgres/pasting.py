"""Writing parts of another base as they are, with all ids and moments."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres import calibration, rows, saved
from knowbase.store.postgres.rows import clean
from knowbase.store.postgres.sealing import seal
from knowbase.store.postgres.vector_tables import as_text, vector_table
from knowbase.store.postgres.words import counted
from knowbase.store.postgres.write import Writing, insert
from knowbase.store.seals import vector_seal
from knowbase.values.copies import ChunkCopy, Copy, SharedParts
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from knowbase.values.vectors import Model, Vector

_COLUMNS = ("base_id", *Document._fields, "said")
_REPLACED = ("uses", "sessions", "relations", "files", "sources", "saved")


class Pasting(Writing):
    """One transaction of copying; the base's row is locked for as long as it takes."""

    def __init__(self, connection: Connection, base: int) -> None:
        super().__init__(connection, base, "", None)

    def paste(self, copies: Sequence[Copy]) -> None:
        """These documents, in place of those with their ids or numbers."""
        found = self._connection.execute(
            "SELECT id FROM documents WHERE base_id = %s AND (id = ANY(%s) OR seq = ANY(%s))",
            (self._base, [one.document.id for one in copies], [one.document.seq for one in copies]),
        ).fetchall()
        self._remove([identity for (identity,) in found])
        lines = [self._document(copy) for copy in copies]
        self._connection.cursor().executemany(insert("documents", _COLUMNS), lines)
        self._many(
            "INSERT INTO links (base_id, document, target, kind) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            [
                (copy.document.seq, clean(link.target), link.kind)
                for copy in copies
                for link in copy.links
            ],
        )
        self._many(
            "INSERT INTO verdicts (base_id, document, occasion, good, given_at)"
            " VALUES (%s, %s, %s, %s, %s)",
            [(copy.document.seq, *one) for copy in copies for one in copy.verdicts],
        )
        self._many_chunks(
            [self._chunk(copy.document.seq, one) for copy in copies for one in copy.chunks]
        )
        self._vectors(one for copy in copies for one in copy.chunks)
        self._write_words()
        seal(self._connection, self._base, [copy.document.seq for copy in copies])

    def _document(self, copy: Copy) -> list[Any]:
        document = copy.document
        values = {name: rows.written(name, value) for name, value in document._asdict().items()}
        values |= {"base_id": self._base, "said": json.dumps(dict(copy.said))}
        return [values[name] for name in _COLUMNS]

    def _chunk(self, seq: int, copy: ChunkCopy) -> tuple[Any, ...]:
        chunk, terms = copy.chunk, clean(copy.terms)
        length, counts = counted((copy.title, chunk.heading or "", chunk.text, terms))
        self._indexed[copy.id] = (length, counts)
        self._chunks += 1
        self._length += length
        return (
            *(copy.id, seq, chunk.slug, chunk.chunk_index, copy.position, chunk.hash),
            *(chunk.line, chunk.page, chunk.tokens, chunk.overlap, clean(chunk.header)),
            *(clean(copy.title), clean(chunk.heading), clean(chunk.text), terms, length),
        )

    def _vectors(self, copies: Iterable[ChunkCopy]) -> None:
        by_model: dict[Model, list[tuple[int, Vector]]] = {}
        for copy in copies:
            for model, vector in copy.vectors:
                by_model.setdefault(model, []).append((copy.id, vector))
        for model, vectors in by_model.items():
            number = self._connection.execute(
                "SELECT id FROM models WHERE base_id = %s AND name = %s AND revision = %s",
                (self._base, *model[:2]),
            ).fetchone()
            statement = SQL(
                "INSERT INTO {} (base_id, model, chunk, embedding, seal)"
                " VALUES (%s, %s, %s, %s::vector, %s)"
            ).format(vector_table(model.dimensions))
            self._connection.cursor().executemany(
                statement,
                [
                    (self._base, *(number or ()), chunk, as_text(one), vector_seal(one))
                    for chunk, one in vectors
                ],
            )

    def paste_shared(self, shared: SharedParts) -> None:
        """What belongs to no document alone, in place of what there is; then all links."""
        for table in _REPLACED:
            self._connection.execute(SQL(f"DELETE FROM {table} WHERE base_id = %s"), (self._base,))
        self._sessions(shared.sessions)
        self._uses(shared.uses)
        self._relations(shared.relations)
        self._write_files(shared.files, {})
        self._write_sources(shared.sources)
        self._many(saved.INSERT, [saved.row_of(one) for one in shared.saved])
        calibration.write(self._connection, self._base, shared.calibration)
        self._linking.relink()
        self._many(
            "INSERT INTO edges (base_id, source, target, relation, weight, origin)"
            " VALUES (%s, %s, %s, 'SIMILAR_TO', %s, 'vectors')",
            shared.similar,
        )
        self._connection.execute("DELETE FROM unlinked WHERE base_id = %s", (self._base,))
        self._many(
            "INSERT INTO unlinked (base_id, document) VALUES (%s, %s)",
            [(seq,) for seq in shared.unlinked],
        )
        self._connection.execute(
            "UPDATE graph SET similar_above = %s, similar_most = %s WHERE base_id = %s",
            (shared.similar_above, shared.similar_most, self._base),
        )
        self._connection.execute("ANALYZE documents, chunks, words, postings")
