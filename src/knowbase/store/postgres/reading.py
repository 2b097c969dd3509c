"""A base in PostgreSQL as a whole, read in parts over one connection."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres import rows
from knowbase.store.postgres.bulk import numbers
from knowbase.store.postgres.calibration import read as read_calibration
from knowbase.store.postgres.checking import findings
from knowbase.store.postgres.cluster import is_distributed
from knowbase.store.postgres.connection import translated
from knowbase.store.postgres.saved import searches
from knowbase.store.postgres.vector_tables import unpacked, vector_table
from knowbase.store.rows import from_json, in_order
from knowbase.store.seals import Seals
from knowbase.values.copies import ChunkCopy, Copy, Frame, GivenVerdict, SharedParts
from knowbase.values.edges import Relation
from knowbase.values.files import Source
from knowbase.values.findings import Finding
from knowbase.values.history import HistoryPart
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, Vector


class PostgresSnapshot:
    """See `knowbase.store.contract.Snapshot`: a transaction of this connection is under way, so
    that all of it is read from one state, whoever writes meanwhile."""

    def __init__(
        self, connection: Connection, base: int, frame: Callable[[Connection], Frame]
    ) -> None:
        self._connection = connection
        self._base = base
        self._frame = frame

    def frame(self) -> Frame:
        with translated():
            return self._frame(self._connection)

    def seqs(self) -> list[int]:
        with translated():
            return seqs(self._connection, self._base)

    def copies(self, numbers: Collection[int]) -> list[Copy]:
        with translated():
            return Reading(self._connection, self._base, list(numbers)).copies()

    def shared(self) -> SharedParts:
        with translated():
            return shared(self._connection, self._base)

    def history(self) -> Iterator[HistoryPart]:
        from knowbase.store.postgres.past import parts

        with translated():
            yield from parts(self._connection, self._base)

    def seals(self, numbers: Collection[int]) -> dict[int, Seals]:
        with translated():
            found = self._connection.execute(
                "SELECT seq, seal, text_seal, use_seal FROM documents"
                " WHERE base_id = %s AND seq = ANY(%s)",
                (self._base, list(numbers)),
            )
            return {seq: Seals(*seals) for seq, *seals in found}

    def vector_seals(self, numbers: Collection[int]) -> dict[tuple[int, Model], bytes | None]:
        with translated():
            documents = list(numbers)
            chunks = self._connection.execute(
                "SELECT id FROM chunks WHERE base_id = %s AND document = ANY(%s)",
                (self._base, documents),
            ).fetchall()
            whose = _Parts(self._base, documents, [chunk for (chunk,) in chunks])
            found = _of_vectors(self._connection, whose, "seal")
            return {(chunk, model): seal for model, chunk, seal in found}

    def findings(self, *, deep: bool) -> Iterator[Finding]:
        with translated():
            yield from findings(self._connection, self._base, deep=deep)

    def pages_to(self, path: str, step: Callable[[int, int], None]) -> bool:  # noqa: ARG002
        """There is no file of its own to copy."""
        return False


def seqs(connection: Connection, base: int) -> list[int]:
    found = connection.execute("SELECT seq FROM documents WHERE base_id = %s ORDER BY seq", (base,))
    return [seq for (seq,) in found]


class Reading:
    """The documents of these numbers, in one state of the base."""

    def __init__(self, connection: Connection, base: int, seqs: list[int]) -> None:
        self._connection = connection
        self._wanted = (base, seqs)

    def copies(self) -> list[Copy]:
        """With everything that belongs to them."""
        return self.with_chunks(self.heads(), vectors=True)

    def with_chunks(self, copies: list[Copy], *, vectors: bool) -> list[Copy]:
        chunks = self._chunks(vectors=vectors)
        return [one._replace(chunks=tuple(chunks.get(one.document.seq, ()))) for one in copies]

    def heads(self) -> list[Copy]:
        """Without their chunks."""
        links: dict[int, list[Link]] = {}
        for seq, *link in self._read("document, target, kind FROM links"):
            links.setdefault(seq, []).append(Link(*link))
        verdicts: dict[int, list[GivenVerdict]] = {}
        for seq, *given in self._read("document, occasion, good, given_at FROM verdicts"):
            verdicts.setdefault(seq, []).append(GivenVerdict(*given))
        found = self._connection.execute(
            SQL(
                f"SELECT d.said, {rows.DOCUMENT} FROM documents d"
                " WHERE d.base_id = %s AND d.seq = ANY(%s) ORDER BY d.seq"
            ),
            self._wanted,
        ).fetchall()
        return [
            Copy(
                document := rows.document(row),
                dict(sorted(from_json(said, dict).items())),
                in_order(links.get(document.seq, ())),
                in_order(verdicts.get(document.seq, ())),
                (),
            )
            for said, *row in found
        ]

    def _read(self, what: str) -> list[tuple[Any, ...]]:
        statement = SQL(f"SELECT {what} WHERE base_id = %s AND document = ANY(%s)")
        return self._connection.execute(statement, self._wanted).fetchall()

    def _chunks(self, *, vectors: bool) -> dict[int, list[ChunkCopy]]:
        found: dict[int, list[ChunkCopy]] = {}
        stored = self._connection.execute(
            SQL(
                f"SELECT c.document, c.id, c.position, c.title, c.terms, {rows.CHUNK}"
                " FROM chunks c WHERE c.base_id = %s AND c.document = ANY(%s)"
                " ORDER BY c.document, c.position"
            ),
            self._wanted,
        ).fetchall()
        embedded = self._vectors([number for _, number, *_ in stored]) if vectors else {}
        for seq, number, position, title, terms, *chunk in stored:
            given = tuple(embedded.get(number, ()))
            copy = ChunkCopy(number, position, rows.chunk(chunk), title, terms, given)
            found.setdefault(seq, []).append(copy)
        return found

    def _vectors(self, chunks: Sequence[int]) -> dict[int, list[tuple[Model, Vector]]]:
        found: dict[int, list[tuple[Model, Vector]]] = {}
        whose = _Parts(*self._wanted, chunks)
        for model, chunk, given in _of_vectors(self._connection, whose, "embedding"):
            found.setdefault(chunk, []).append((model, unpacked(given)))
        return found


class _Parts(NamedTuple):
    """Documents of a base, and all chunks of them."""

    base: int
    documents: list[int]
    chunks: Sequence[int]


def _of_vectors(
    connection: Connection, whose: _Parts, column: str
) -> Iterator[tuple[Model, int, Any]]:
    """The model, the chunk and a column of each vector, models in order of their arrival. By the
    numbers of the chunks: of a table that has just been filled, a join would read all of it."""
    models = connection.execute(
        "SELECT id, name, revision, dimensions FROM models WHERE base_id = %s ORDER BY id",
        (whose.base,),
    ).fetchall()
    spread = is_distributed(connection)
    for number, *identity in models:
        model = Model(*identity)
        statement = SQL(
            f"SELECT v.chunk, v.{column} FROM {{}} v WHERE v.base_id = %s AND v.model = %s"
            f" AND v.chunk = ANY(%s::bigint[]){' AND v.document = ANY(%s)' if spread else ''}"
        ).format(vector_table(model.dimensions))
        given = (whose.base, number, numbers(whose.chunks))
        with connection.cursor(binary=True) as cursor:
            cursor.execute(statement, (*given, whose.documents) if spread else given)
            found = cursor.fetchall()  # one by one, the driver takes as long again
        yield from ((model, chunk, value) for chunk, value in found)


def shared(connection: Connection, base: int) -> SharedParts:
    def read(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(SQL(sql), (base,)).fetchall()

    rule = read("SELECT similar_above, similar_most FROM graph WHERE base_id = %s")
    return SharedParts(
        sessions=tuple(
            Session(*row)
            for row in read(
                "SELECT id, project, started_at, ended_at, summary FROM sessions"
                " WHERE base_id = %s ORDER BY id"
            )
        ),
        uses=tuple(
            Use(*row)
            for row in read(
                "SELECT u.session, d.id, u.usage, u.used_at FROM uses u JOIN documents d"
                " ON d.base_id = u.base_id AND d.seq = u.document WHERE u.base_id = %s"
                " ORDER BY u.id"
            )
        ),
        relations=tuple(
            Relation(*row)
            for row in read(
                "SELECT s.id, t.id, r.relation, r.origin, r.created_at FROM relations r"
                " JOIN documents s ON s.base_id = r.base_id AND s.seq = r.source"
                " JOIN documents t ON t.base_id = r.base_id AND t.seq = r.target"
                " WHERE r.base_id = %s ORDER BY r.source, r.target, r.relation"
            )
        ),
        files=tuple(
            rows.file_records(
                read(f"SELECT {rows.file_columns()} FROM files WHERE base_id = %s ORDER BY path")
            )
        ),
        sources=tuple(
            Source(path, tuple(tags), parent, tree)
            for path, tags, parent, tree in read(
                "SELECT path, tags, parent, tree FROM sources WHERE base_id = %s ORDER BY path"
            )
        ),
        saved=tuple(searches(connection, base)),
        similar=tuple(
            (source, target, weight)
            for source, target, weight in read(
                "SELECT source, target, weight FROM edges WHERE base_id = %s"
                " AND relation = 'SIMILAR_TO' ORDER BY source, target"
            )
        ),
        similar_above=rule[0][0] if rule else None,
        unlinked=tuple(
            seq
            for (seq,) in read("SELECT document FROM unlinked WHERE base_id = %s ORDER BY document")
        ),
        similar_most=rule[0][1] if rule else None,
        calibration=read_calibration(connection, base),
    )
