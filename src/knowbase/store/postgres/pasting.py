"""Writing parts of another base as they are, with all ids and moments."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres import calibration, rows, saved
from knowbase.store.postgres.bulk import analyze, copy_rows, copy_vectors
from knowbase.store.postgres.chunks import chunk_line
from knowbase.store.postgres.sealing import columns as seals
from knowbase.store.postgres.write import Writing
from knowbase.store.seals import SEALS
from knowbase.values.characters import storable
from knowbase.values.copies import ChunkCopy, Copy, SharedParts, batches
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from knowbase.values.vectors import Model, Vector

_COLUMNS = ("base_id", *Document._fields, "said", *SEALS)
_REPLACED = ("uses", "sessions", "relations", "files", "sources", "saved")


class Pasting(Writing):
    """One transaction of copying; the base's row is locked for as long as it takes."""

    _is_copy = True

    def __init__(self, connection: Connection, base: int) -> None:
        super().__init__(connection, base, "", None)

    def paste(self, copies: Sequence[Copy]) -> None:
        """These documents, in place of those with their ids or numbers."""
        copies = storable(copies)
        found = self._connection.execute(
            "SELECT id FROM documents WHERE base_id = %s AND (id = ANY(%s) OR seq = ANY(%s))",
            (self._base, [one.document.id for one in copies], [one.document.seq for one in copies]),
        ).fetchall()
        self._remove([identity for (identity,) in found])
        lines = [self._document(copy) for copy in copies]
        copy_rows(self._connection, "documents", _COLUMNS, lines)
        self._copy_links((one.document.seq, link) for one in copies for link in one.links)
        copy_rows(
            self._connection,
            "verdicts",
            ("base_id", "document", "occasion", "good", "given_at"),
            [(self._base, one.document.seq, *given) for one in copies for given in one.verdicts],
        )
        self._chunks_of(copies)
        self._vectors(one for copy in copies for one in copy.chunks)
        self._write_words()
        written = {copy.document.seq: copy for copy in copies}
        self._linking.refresh(written, written)

    def _document(self, copy: Copy) -> list[Any]:
        document = copy.document
        values = {name: rows.written(name, value) for name, value in document._asdict().items()}
        values |= {"base_id": self._base, "said": json.dumps(dict(copy.said))}
        values |= seals(copy)
        return [values[name] for name in _COLUMNS]

    def _chunks_of(self, copies: Sequence[Copy]) -> None:
        chunks = [(copy.document.seq, one) for copy in copies for one in copy.chunks]
        self._documents |= {one.id: seq for seq, one in chunks}
        self._chunks += len(chunks)
        lengths = self._index(
            {
                one.id: (one.title, one.chunk.heading or "", one.chunk.text, one.terms)
                for _, one in chunks
            }
        )
        self._copy_chunks(
            [
                (
                    *chunk_line(one.id, seq, one.position, one.chunk, (one.title, one.terms)),
                    lengths[one.id],
                )
                for seq, one in chunks
            ]
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
            kind = (number[0] if number else 0, model.dimensions)
            copy_vectors(self._connection, self._base, kind, vectors, self._documents)

    def paste_shared(self, shared: SharedParts) -> None:
        """What belongs to no document alone, in place of what there is; and the last words."""
        self._settle_words()
        related = self._related()
        for table in _REPLACED:
            self._connection.execute(SQL(f"DELETE FROM {table} WHERE base_id = %s"), (self._base,))
        self._sessions(shared.sessions)
        self._uses(shared.uses)
        self._relations(shared.relations)
        self._write_files(shared.files, {})
        self._write_sources(shared.sources)
        self._many(saved.INSERT, [saved.row_of(one) for one in shared.saved])
        calibration.write(self._connection, self._base, shared.calibration)
        self._link_shared(related | self._related())
        columns = ("base_id", "source", "target", "weight", "relation", "origin")
        similar = [(self._base, *one, "SIMILAR_TO", "vectors") for one in shared.similar]
        copy_rows(self._connection, "edges", columns, similar)
        self._connection.execute("DELETE FROM unlinked WHERE base_id = %s", (self._base,))
        due = [(self._base, seq) for seq in shared.unlinked]
        copy_rows(self._connection, "unlinked", ("base_id", "document"), due)
        self._connection.execute(
            "UPDATE graph SET similar_above = %s, similar_most = %s WHERE base_id = %s",
            (shared.similar_above, shared.similar_most, self._base),
        )
        analyze(self._connection)

    def _settle_words(self) -> None:
        """What lay whole, in case more would come, as every base has it."""
        from knowbase.store.postgres.blocks import Packed
        from knowbase.store.postgres.segments import Segments

        Segments(self._connection, self._base).add(Packed.nothing())

    def _related(self) -> set[int]:
        """The documents that relations start from."""
        found = self._connection.execute(
            "SELECT DISTINCT source FROM relations WHERE base_id = %s", (self._base,)
        )
        return {seq for (seq,) in found}

    def _link_shared(self, related: set[int]) -> None:
        """Documents are linked as they are pasted; what relations add, and what a copy that an
        older knowbase began did not link, comes now."""
        self._linking.changed()
        self._connection.execute(
            "DELETE FROM edges WHERE base_id = %s AND relation = 'SIMILAR_TO'", (self._base,)
        )
        unnamed = self._connection.execute(
            "SELECT seq FROM documents d WHERE base_id = %s AND deleted_at IS NULL AND NOT EXISTS"
            " (SELECT 1 FROM names n WHERE n.base_id = d.base_id AND n.document = d.seq)",
            (self._base,),
        )
        for batch in batches(sorted(related | {seq for (seq,) in unnamed})):
            self._linking.refresh(batch)
