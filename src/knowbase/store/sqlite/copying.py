"""A SQLite base as a whole: read in parts, and written in parts as they are."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import apsw

from knowbase.store.sqlite import links, rows, saved, vectors
from knowbase.store.sqlite.connection import Connections, translated
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.store.sqlite.write import remove
from knowbase.values.copies import ChunkCopy, Copy, Frame, GivenVerdict, SharedParts
from knowbase.values.documents import Chunk, Document
from knowbase.values.edges import Relation
from knowbase.values.files import Source
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, StoredModel, Vector

_COLUMNS = (*(name for name in Document._fields if name != "tags"), "said")
_CHUNK = (
    "id", "document", "position", "slug", "chunk_index", "hash", "line", "page", "tokens",
    "overlap", "title", "heading", "header", "text", "terms",
)  # fmt: skip
_IN = "IN (SELECT value FROM json_each(?))"


class SqliteCopying:
    """See `knowbase.store.contract.Copying` for what each method promises."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def identity(self) -> str:
        return f"file {self._connections.mark()}"

    def source(self) -> str | None:
        with translated():
            found: str | None = self._connections.get().execute("SELECT source FROM moving").get
            return found

    def seqs(self) -> list[int]:
        with translated():
            found: Any = self._connections.get().execute("SELECT seq FROM documents ORDER BY seq")
            return [seq for (seq,) in found]

    def frame(self) -> Frame:
        with translated():
            return _frame(self._connections.get())

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        with translated():
            connection = self._connections.with_vectors()
            with connection:  # one state of the base
                found = _copies(connection, json.dumps(list(seqs)))
            return found  # noqa: RET504 - to mypy, the block could swallow an error

    def shared(self) -> SharedParts:
        with translated():
            connection = self._connections.get()
            with connection:
                found = _shared(connection)
            return found  # noqa: RET504 - as above

    # writing

    def start(self, source: str, frame: Frame) -> None:
        with translated():
            self._connections.with_vectors()
            with self._connections.writing() as connection:
                connection.execute("DELETE FROM moving")
                connection.execute("INSERT INTO moving VALUES (?)", (source,))
                _take_models(connection, frame)
                for table, following in (
                    ("documents", frame.next_seq),
                    ("chunks", frame.next_chunk),
                ):
                    connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
                    connection.execute(
                        "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
                        (table, following - 1),
                    )

    def paste(self, copies: Sequence[Copy]) -> None:
        with translated():
            self._connections.with_vectors()
            with self._connections.writing() as connection:
                _remove_same(connection, copies)
                numbers = _numbers(connection)
                for copy in copies:
                    _paste(connection, copy, numbers)

    def paste_shared(self, shared: SharedParts) -> None:
        with translated(), self._connections.writing() as connection:
            _paste_shared(connection, shared)

    def end(self) -> None:
        with translated(), self._connections.writing() as connection:
            connection.execute("DELETE FROM moving")


# reading


def _frame(connection: apsw.Connection) -> Frame:
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


def _numbers(connection: apsw.Connection) -> dict[Model, int]:
    """The number of each model, in order of arrival."""
    found: Any = connection.execute("SELECT id, name, revision, dimensions FROM models ORDER BY id")
    return {Model(*identity): number for number, *identity in found}


def _copies(connection: apsw.Connection, wanted: str) -> list[Copy]:
    linked: dict[int, list[Link]] = {}
    for seq, *link in connection.execute(
        f"SELECT document, target, kind FROM links WHERE document {_IN}", (wanted,)
    ):
        linked.setdefault(seq, []).append(Link(*link))
    verdicts: dict[int, list[GivenVerdict]] = {}
    given: Any = connection.execute(
        f"SELECT document, occasion, good, given_at FROM verdicts WHERE document {_IN}", (wanted,)
    )
    for seq, occasion, good, given_at in given:
        verdicts.setdefault(seq, []).append(GivenVerdict(occasion, bool(good), given_at))
    chunks = _chunks(connection, wanted)
    found: Any = connection.execute(
        f"SELECT d.said, {rows.DOCUMENT} FROM documents d WHERE d.seq {_IN} ORDER BY d.seq",
        (wanted,),
    ).fetchall()
    return [
        Copy(
            document := rows.document(row),
            _said(said),
            tuple(sorted(linked.get(document.seq, ()))),
            tuple(sorted(verdicts.get(document.seq, ()))),
            tuple(chunks.get(document.seq, ())),
        )
        for said, *row in found
    ]


def _said(text: str) -> dict[str, object]:
    """What was said to be absent is kept as an empty text."""
    values = sorted(json.loads(text).items())
    return {name: None if value == "" else value for name, value in values}


def _chunks(connection: apsw.Connection, wanted: str) -> dict[int, list[ChunkCopy]]:
    embedded = _vectors(connection, wanted)
    found: dict[int, list[ChunkCopy]] = {}
    stored: Any = connection.execute(
        f"SELECT c.document, c.id, c.position, c.title, c.terms, {rows.CHUNK} FROM chunks c"
        f" WHERE c.document {_IN} ORDER BY c.document, c.position",
        (wanted,),
    )
    for seq, number, position, title, terms, *chunk in stored:
        given = tuple(embedded.get(number, ()))
        copy = ChunkCopy(number, position, Chunk(*chunk), title, terms, given)
        found.setdefault(seq, []).append(copy)
    return found


def _vectors(connection: apsw.Connection, wanted: str) -> dict[int, list[tuple[Model, Vector]]]:
    found: dict[int, list[tuple[Model, Vector]]] = {}
    for model, number in _numbers(connection).items():
        embedded: Any = connection.execute(
            f"SELECT chunk_id, embedding FROM {vector_table(number)} WHERE chunk_id IN"
            f" (SELECT id FROM chunks WHERE document {_IN})",
            (wanted,),
        )
        for chunk, vector in embedded:
            found.setdefault(chunk, []).append((model, vector))
    return found


def _shared(connection: apsw.Connection) -> SharedParts:
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
            map(rows.file_record, read(f"SELECT {rows.file_columns()} FROM files ORDER BY path"))
        ),
        sources=tuple(
            Source(path, tuple(json.loads(tags)), parent, bool(tree))
            for path, tags, parent, tree in read("SELECT * FROM sources ORDER BY path")
        ),
        saved=tuple(saved.searches(connection)),
        similar=tuple(
            read(
                "SELECT source, target, weight FROM edges WHERE relation = 'SIMILAR_TO'"
                " ORDER BY source, target"
            )
        ),
        similar_above=connection.execute("SELECT similar_above FROM graph").get,
        unlinked=tuple(seq for (seq,) in read("SELECT document FROM unlinked ORDER BY document")),
    )


# writing


def _take_models(connection: apsw.Connection, frame: Frame) -> None:
    """Exactly these models, their vectors as far as they are there."""
    wanted = {one.model for one in frame.models}
    for model, number in _numbers(connection).items():
        if model not in wanted:
            vectors.drop(connection, number)
    for one in frame.models:
        number = vectors.registered(connection, one.model, one.source)
        connection.execute("UPDATE models SET active = ? WHERE id = ?", (one.active, number))


def _remove_same(connection: apsw.Connection, copies: Sequence[Copy]) -> None:
    ids = json.dumps([copy.document.id for copy in copies])
    seqs = json.dumps([copy.document.seq for copy in copies])
    found: Any = connection.execute(
        f"SELECT id FROM documents WHERE id {_IN} OR seq {_IN}", (ids, seqs)
    ).fetchall()
    remove(connection, [identity for (identity,) in found])


def _paste(connection: apsw.Connection, copy: Copy, numbers: dict[Model, int]) -> None:
    document = copy.document
    said = {name: "" if value is None else value for name, value in copy.said.items()}
    values = {name: rows.written(name, value) for name, value in document._asdict().items()}
    values["said"] = json.dumps(said)
    _insert(connection, "documents", _COLUMNS, [[values[name] for name in _COLUMNS]])
    seq = document.seq
    _insert(connection, "tags", ("document", "name"), [(seq, tag) for tag in document.tags])
    _insert(
        connection, "links", ("document", "target", "kind"), [(seq, *link) for link in copy.links]
    )
    connection.executemany(
        "INSERT INTO verdicts VALUES (?, ?, ?, ?)", [(seq, *one) for one in copy.verdicts]
    )
    for one in copy.chunks:
        given = {
            **one.chunk._asdict(), "id": one.id, "document": seq, "position": one.position,
            "title": one.title, "terms": one.terms,
        }  # fmt: skip
        _insert(connection, "chunks", _CHUNK, [[given[name] for name in _CHUNK]])
        for model, vector in one.vectors:
            vectors.insert(connection, numbers[model], one.id, vector)


def _insert(
    connection: apsw.Connection, table: str, columns: Sequence[str], lines: Iterable[Sequence[Any]]
) -> None:
    places = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", lines)


def _paste_shared(connection: apsw.Connection, shared: SharedParts) -> None:
    for table in ("uses", "sessions", "relations", "files", "sources", "saved"):
        connection.execute(f"DELETE FROM {table}")
    connection.executemany(
        "INSERT INTO sessions VALUES (?, ?, ?, ?, ?)", [one[:5] for one in shared.sessions]
    )
    connection.executemany(
        "INSERT INTO uses (session, document, usage, used_at)"
        " SELECT ?, seq, ?, ? FROM documents WHERE id = ?",
        [(one.session, one.usage, one.used_at, one.document) for one in shared.uses],
    )
    connection.executemany(
        "INSERT INTO relations SELECT s.seq, t.seq, ?, ?, ? FROM documents s, documents t"
        " WHERE s.id = ? AND t.id = ?",
        [(*one[2:], *one[:2]) for one in shared.relations],
    )
    connection.executemany("INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", shared.files)
    connection.executemany(
        "INSERT INTO sources VALUES (?, ?, ?, ?)",
        [
            (s.path, json.dumps(s.tags, ensure_ascii=False), s.parent, s.tree)
            for s in shared.sources
        ],
    )
    connection.executemany(
        "INSERT INTO saved VALUES (?, ?, ?, ?, ?)", [saved.row_of(one) for one in shared.saved]
    )
    links.relink(connection)
    connection.executemany(
        "INSERT INTO edges VALUES (?, ?, 'SIMILAR_TO', ?, 'vectors')", shared.similar
    )
    connection.execute("DELETE FROM unlinked")
    connection.executemany("INSERT INTO unlinked VALUES (?)", [(seq,) for seq in shared.unlinked])
    connection.execute("UPDATE graph SET similar_above = ?", (shared.similar_above,))
