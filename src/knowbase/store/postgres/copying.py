"""A base in PostgreSQL as a whole: read in parts, and written in parts as they are."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres import rows
from knowbase.store.postgres.connection import Connected, Connections
from knowbase.store.postgres.pasting import Pasting
from knowbase.store.postgres.saved import searches
from knowbase.store.postgres.vector_tables import unpacked, vector_table
from knowbase.store.postgres.vectors import PostgresVectors
from knowbase.values.copies import ChunkCopy, Copy, Frame, GivenVerdict, SharedParts
from knowbase.values.documents import Chunk
from knowbase.values.edges import Relation
from knowbase.values.files import Source
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, Vector


class PostgresCopying(Connected):
    """See `knowbase.store.contract.Copying` for what each method promises."""

    def __init__(self, connections: Connections, base: int, store: PostgresVectors) -> None:
        self._connections = connections
        self._base = base
        self._store = store

    def identity(self) -> str:
        """Server, database and base: a URL can name them in many ways."""
        server = self._read(
            SQL(
                "SELECT pg_postmaster_start_time()::text, oid::text FROM pg_database"
                " WHERE datname = current_database()"
            )
        )[0]
        return " ".join((*server, str(self._base)))

    def source(self) -> str | None:
        found = self._read(SQL("SELECT source FROM moving WHERE base_id = %s"), (self._base,))
        return found[0][0] if found else None

    def seqs(self) -> list[int]:
        statement = SQL("SELECT seq FROM documents WHERE base_id = %s ORDER BY seq")
        return [seq for (seq,) in self._read(statement, (self._base,))]

    def frame(self) -> Frame:
        return self._connections.consistently(self._frame)

    def _frame(self, connection: Connection) -> Frame:
        row = connection.execute(
            "SELECT next_seq, next_chunk FROM bases WHERE id = %s", (self._base,)
        ).fetchone()
        models = self._store.models_by_arrival(connection)
        return Frame(tuple(models), *(row or (1, 1)))

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        return self._connections.consistently(
            lambda connection: _Reading(connection, self._base, list(seqs)).copies(), long=True
        )

    def shared(self) -> SharedParts:
        return self._connections.consistently(
            lambda connection: _shared(connection, self._base), long=True
        )

    # writing

    def start(self, source: str, frame: Frame) -> None:
        def begin(connection: Connection) -> None:
            self._store.take_models(connection, frame.models)
            connection.execute(
                "INSERT INTO moving (base_id, source) VALUES (%s, %s)"
                " ON CONFLICT (base_id) DO UPDATE SET source = excluded.source",
                (self._base, source),
            )
            connection.execute(
                "UPDATE bases SET next_seq = %s, next_chunk = %s WHERE id = %s",
                (frame.next_seq, frame.next_chunk, self._base),
            )

        self._connections.writing(begin)

    def paste(self, copies: Sequence[Copy]) -> None:
        self._connections.writing(lambda connection: Pasting(connection, self._base).paste(copies))

    def paste_shared(self, shared: SharedParts) -> None:
        def write(connection: Connection) -> None:
            Pasting(connection, self._base).paste_shared(shared)
            self._store.index_vectors(connection)

        self._connections.writing(write)

    def end(self) -> None:
        statement = "DELETE FROM moving WHERE base_id = %s"
        self._connections.writing(
            lambda connection: connection.execute(statement, (self._base,)) and None
        )


class _Reading:
    """The documents of these numbers, in one state of the base."""

    def __init__(self, connection: Connection, base: int, seqs: list[int]) -> None:
        self._connection = connection
        self._wanted = (base, seqs)

    def copies(self) -> list[Copy]:
        links: dict[int, list[Link]] = {}
        for seq, *link in self._read("document, target, kind FROM links"):
            links.setdefault(seq, []).append(Link(*link))
        verdicts: dict[int, list[GivenVerdict]] = {}
        for seq, *given in self._read("document, occasion, good, given_at FROM verdicts"):
            verdicts.setdefault(seq, []).append(GivenVerdict(*given))
        chunks = self._chunks()
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
                dict(sorted(json.loads(said).items())),
                tuple(sorted(links.get(document.seq, ()))),
                tuple(sorted(verdicts.get(document.seq, ()))),
                tuple(chunks.get(document.seq, ())),
            )
            for said, *row in found
        ]

    def _read(self, what: str) -> list[tuple[Any, ...]]:
        statement = SQL(f"SELECT {what} WHERE base_id = %s AND document = ANY(%s)")
        return self._connection.execute(statement, self._wanted).fetchall()

    def _chunks(self) -> dict[int, list[ChunkCopy]]:
        embedded = self._vectors()
        found: dict[int, list[ChunkCopy]] = {}
        stored = self._connection.execute(
            SQL(
                f"SELECT c.document, c.id, c.position, c.title, c.terms, {rows.CHUNK}"
                " FROM chunks c WHERE c.base_id = %s AND c.document = ANY(%s)"
                " ORDER BY c.document, c.position"
            ),
            self._wanted,
        )
        for seq, number, position, title, terms, *chunk in stored:
            given = tuple(embedded.get(number, ()))
            copy = ChunkCopy(number, position, Chunk(*chunk), title, terms, given)
            found.setdefault(seq, []).append(copy)
        return found

    def _vectors(self) -> dict[int, list[tuple[Model, Vector]]]:
        found: dict[int, list[tuple[Model, Vector]]] = {}
        models = self._connection.execute(
            "SELECT id, name, revision, dimensions FROM models WHERE base_id = %s ORDER BY id",
            self._wanted[:1],
        ).fetchall()
        for number, *identity in models:
            model = Model(*identity)
            statement = SQL(
                "SELECT v.chunk, v.embedding FROM chunks c JOIN {} v ON v.base_id = c.base_id"
                " AND v.chunk = c.id AND v.model = %s"
                " WHERE c.base_id = %s AND c.document = ANY(%s)"
            ).format(vector_table(model.dimensions))
            with self._connection.cursor(binary=True) as cursor:
                for chunk, given in cursor.execute(statement, (number, *self._wanted)):
                    found.setdefault(chunk, []).append((model, unpacked(given)))
        return found


def _shared(connection: Connection, base: int) -> SharedParts:
    def read(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(SQL(sql), (base,)).fetchall()

    above = read("SELECT similar_above FROM graph WHERE base_id = %s")
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
            map(
                rows.file_record,
                read(f"SELECT {rows.file_columns()} FROM files WHERE base_id = %s ORDER BY path"),
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
        similar_above=above[0][0] if above else None,
        unlinked=tuple(
            seq
            for (seq,) in read("SELECT document FROM unlinked WHERE base_id = %s ORDER BY document")
        ),
    )
