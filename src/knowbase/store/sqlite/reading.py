"""A SQLite base as a whole, read in parts over one connection."""

import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

import apsw

from knowbase.store.halves import whole
from knowbase.store.rows import from_json, in_order
from knowbase.store.seals import Seals
from knowbase.store.sqlite import calibration, rows, saved
from knowbase.store.sqlite.connection import translated
from knowbase.store.sqlite.packing import MILLION, SIMILAR, TERMS
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.values.copies import ChunkCopy, Copy, Frame, GivenVerdict, SharedParts
from knowbase.values.documents import Chunk
from knowbase.values.edges import Relation
from knowbase.values.files import Source
from knowbase.values.findings import Finding
from knowbase.values.history import HistoryPart
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, StoredModel, Vector

_IN = "IN (SELECT value FROM json_each(?))"
_PAGES_A_STEP = 2000


class SqliteSnapshot:
    """See `knowbase.store.contract.Snapshot`: a transaction of this connection is under way, so
    that all of it is read from one state, whoever writes meanwhile."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def frame(self) -> Frame:
        with translated():
            return frame(self._connection)

    def seqs(self) -> list[int]:
        with translated():
            return seqs(self._connection)

    def copies(self, numbers: Collection[int]) -> list[Copy]:
        with translated():
            return copies(self._connection, json.dumps(list(numbers)))

    def shared(self) -> SharedParts:
        with translated():
            return shared(self._connection)

    def history(self) -> Iterator[HistoryPart]:
        from knowbase.store.sqlite.past import parts

        with translated():
            yield from parts(self._connection)

    def seals(self, numbers: Collection[int]) -> dict[int, Seals]:
        with translated():
            found: Any = self._connection.execute(
                f"SELECT seq, seal, text_seal, use_seal FROM documents WHERE seq {_IN}",
                (json.dumps(list(numbers)),),
            )
            return {seq: Seals(*seals) for seq, *seals in found}

    def vector_seals(self, numbers: Collection[int]) -> dict[tuple[int, Model], bytes | None]:
        with translated():
            found: Any = self._connection.execute(
                "SELECT e.chunk, m.name, m.revision, m.dimensions, e.seal FROM models m"
                " CROSS JOIN embedded e ON e.model = m.id AND e.chunk IN"
                f" (SELECT id FROM chunks WHERE document {_IN})",
                (json.dumps(list(numbers)),),
            )
            return {(chunk, Model(*model)): seal for chunk, *model, seal in found}

    def findings(self, *, deep: bool) -> Iterator[Finding]:
        from knowbase.store.sqlite.checking import findings

        return findings(self._connection, deep=deep)

    def pages_to(self, path: str, step: Callable[[int, int], None]) -> bool:
        """Page by page; as the transaction holds its state, writers never make it start again."""
        with translated():
            target = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
            try:
                target.execute("PRAGMA synchronous = FULL")
                with target.backup("main", self._connection, "main") as backup:
                    while not backup.done:
                        backup.step(_PAGES_A_STEP)
                        step(backup.page_count - backup.remaining, backup.page_count)
            finally:
                target.close()
        return True


def seqs(connection: apsw.Connection) -> list[int]:
    found: Any = connection.execute("SELECT seq FROM documents ORDER BY seq")
    return [seq for (seq,) in found]


def frame(connection: apsw.Connection) -> Frame:
    found: Any = connection.execute(
        "SELECT name, revision, dimensions, source, active,"
        " (SELECT count(*) FROM embedded e WHERE e.model = m.id) FROM models m ORDER BY id"
    )
    models = (
        StoredModel(Model(*identity), source, number, bool(active))
        for *identity, source, active, number in found
    )
    counters: Any = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    return Frame(tuple(models), counters.get("documents", 0) + 1, counters.get("chunks", 0) + 1)


def numbers(connection: apsw.Connection) -> dict[Model, int]:
    """The number of each model, in order of arrival."""
    found: Any = connection.execute("SELECT id, name, revision, dimensions FROM models ORDER BY id")
    return {Model(*identity): number for number, *identity in found}


def copies(connection: apsw.Connection, wanted: str) -> list[Copy]:
    """The documents of these numbers (JSON) with everything that belongs to them."""
    return with_chunks(heads(connection, wanted), connection, wanted, _vectors(connection, wanted))


def heads(connection: apsw.Connection, wanted: str) -> list[Copy]:
    """The documents without their chunks."""
    linked: dict[int, list[Link]] = {}
    for seq, *link in connection.execute(
        f"SELECT document, target, kind FROM links WHERE document {_IN}", (wanted,)
    ):
        linked.setdefault(seq, []).append(Link(*link))
    judged = verdicts(connection, wanted)
    found: Any = connection.execute(
        f"SELECT d.said, {rows.DOCUMENT} FROM documents d WHERE d.seq {_IN} ORDER BY d.seq",
        (wanted,),
    ).fetchall()
    return [
        Copy(
            document := rows.document(row),
            _said(said),
            in_order(linked.get(document.seq, ())),
            in_order(judged.get(document.seq, ())),
            (),
        )
        for said, *row in found
    ]


def verdicts(connection: apsw.Connection, wanted: str) -> dict[int, list[GivenVerdict]]:
    found: dict[int, list[GivenVerdict]] = {}
    given: Any = connection.execute(
        f"SELECT document, occasion, good, given_at FROM verdicts WHERE document {_IN}", (wanted,)
    )
    for seq, occasion, good, given_at in given:
        found.setdefault(seq, []).append(GivenVerdict(occasion, bool(good), given_at))
    return found


def with_chunks(
    copies: list[Copy],
    connection: apsw.Connection,
    wanted: str,
    embedded: dict[int, list[tuple[Model, Vector]]],
) -> list[Copy]:
    chunks = _chunks(connection, wanted, embedded)
    return [one._replace(chunks=tuple(chunks.get(one.document.seq, ()))) for one in copies]


def _said(text: str) -> dict[str, object]:
    """What was said to be absent is kept as an empty text."""
    values = sorted(from_json(text, dict).items())
    return {name: None if value == "" else value for name, value in values}


def _chunks(
    connection: apsw.Connection, wanted: str, embedded: dict[int, list[tuple[Model, Vector]]]
) -> dict[int, list[ChunkCopy]]:
    found: dict[int, list[ChunkCopy]] = {}
    stored: Any = connection.execute(
        f"SELECT c.document, c.id, c.position, c.title, {TERMS}, {rows.CHUNK} FROM chunks c"
        f" WHERE c.document {_IN} ORDER BY c.document, c.position",
        (wanted,),
    )
    for seq, number, position, title, terms, *chunk in stored:
        given = tuple(embedded.get(number, ()))
        unpacked = Chunk(*rows.chunk(chunk))  # once: all of it is looked at
        copy = ChunkCopy(number, position, unpacked, title, terms, given)
        found.setdefault(seq, []).append(copy)
    return found


def _vectors(connection: apsw.Connection, wanted: str) -> dict[int, list[tuple[Model, Vector]]]:
    found: dict[int, list[tuple[Model, Vector]]] = {}
    for model, number in numbers(connection).items():
        embedded: Any = connection.execute(
            f"SELECT chunk_id, embedding FROM {vector_table(number)} WHERE chunk_id IN"
            f" (SELECT id FROM chunks WHERE document {_IN})",
            (wanted,),
        )
        for chunk, vector in embedded:
            found.setdefault(chunk, []).append((model, whole(vector)))
    return found


def shared(connection: apsw.Connection) -> SharedParts:
    def read(sql: str) -> Any:
        return connection.execute(sql).fetchall()

    return SharedParts(
        sessions=tuple(
            Session(*row)
            for row in read(
                "SELECT id, project, started_at, ended_at, summary FROM sessions ORDER BY id"
            )
        ),
        uses=tuple(
            Use(*row)
            for row in read(
                "SELECT u.session, d.id, u.usage, u.used_at FROM uses u"
                " JOIN documents d ON d.seq = u.document ORDER BY u.id"
            )
        ),
        relations=tuple(
            Relation(*row)
            for row in read(
                "SELECT s.id, t.id, r.relation, r.origin, r.created_at FROM relations r"
                " JOIN documents s ON s.seq = r.source JOIN documents t ON t.seq = r.target"
                " ORDER BY r.source, r.target, r.relation"
            )
        ),
        files=tuple(
            rows.file_records(read(f"SELECT {rows.file_columns()} FROM files ORDER BY path"))
        ),
        sources=tuple(
            Source(path, tuple(from_json(tags, list)), parent, bool(tree))
            for path, tags, parent, tree in read("SELECT * FROM sources ORDER BY path")
        ),
        saved=tuple(saved.searches(connection)),
        similar=tuple(
            read(
                f"SELECT source, target, weight / {MILLION} FROM edges WHERE relation = {SIMILAR}"
                " ORDER BY source, target"
            )
        ),
        similar_above=connection.execute("SELECT similar_above FROM graph").get,
        unlinked=tuple(seq for (seq,) in read("SELECT document FROM unlinked ORDER BY document")),
        similar_most=connection.execute("SELECT similar_most FROM graph").get,
        calibration=calibration.read(connection),
    )
