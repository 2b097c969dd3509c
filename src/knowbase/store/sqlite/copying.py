"""A SQLite base as a whole: read in parts, and written in parts as they are."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from knowbase.store.contract import CopySource
from knowbase.store.sqlite import (
    calibration,
    keeping,
    links,
    past,
    reading,
    rows,
    saved,
    vectors,
)
from knowbase.store.sqlite.adding import Naming, shared_terms
from knowbase.store.sqlite.connection import Connections, translated
from knowbase.store.sqlite.packing import SIMILAR, digest, in_millionths, kept_header, place
from knowbase.store.sqlite.reading import SqliteSnapshot
from knowbase.store.sqlite.sealing import seal
from knowbase.store.sqlite.write import remove
from knowbase.values.copies import Copy, Frame, SharedParts, batches
from knowbase.values.documents import Document
from knowbase.values.history import HistoryPart
from knowbase.values.vectors import Model

_COLUMNS = (*(name for name in Document._fields if name != "tags"), "said", "terms")
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
            return reading.seqs(self._connections.get())

    def frame(self) -> Frame:
        with translated():
            return reading.frame(self._connections.get())

    def copies(self, seqs: Collection[int]) -> list[Copy]:
        with translated():
            self._connections.get()
            connection = self._connections.get()
            with connection:  # one state of the base
                found = reading.copies(connection, json.dumps(list(seqs)))
            return found  # noqa: RET504 - to mypy, the block could swallow an error

    def shared(self) -> SharedParts:
        with translated():
            connection = self._connections.get()
            with connection:
                found = reading.shared(connection)
            return found  # noqa: RET504 - as above

    def history(self) -> Iterator[HistoryPart]:
        with translated():
            yield from past.parts(self._connections.get())

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        """On a connection of its own: this thread's may write meanwhile."""
        with translated():
            connection = self._connections.beside()
        try:
            with translated():
                connection.execute("BEGIN; SELECT count(*) FROM graph").fetchall()
            yield SqliteSnapshot(connection)
        finally:
            connection.close()

    def seal(self) -> int:
        from knowbase.store.sqlite.sealing import seal_missing

        return seal_missing(self._connections)

    # writing

    def start(self, source: str, frame: Frame) -> None:
        with translated(), self._connections.writing() as connection:
            connection.execute("DELETE FROM moving")
            connection.execute("INSERT INTO moving VALUES (?)", (source,))
            _begin(connection, frame)

    def paste(self, copies: Sequence[Copy]) -> None:
        with translated(), self._connections.writing() as connection:
            _remove_same(connection, copies)
            _paste_all(connection, copies)

    def paste_shared(self, shared: SharedParts) -> None:
        with translated(), self._connections.writing() as connection:
            _paste_shared(connection, shared)

    def paste_history(self, parts: Iterable[HistoryPart]) -> None:
        with translated(), self._connections.writing() as connection:
            keeping.replace(connection, parts)

    def end(self) -> None:
        with translated(), self._connections.writing() as connection:
            connection.execute("DELETE FROM moving")

    def replace(self, source: CopySource, before: Callable[[], None]) -> None:
        with translated(), self._connections.writing() as connection:
            before()
            found: Any = connection.execute("SELECT id FROM documents").fetchall()
            remove(connection, [identity for (identity,) in found])
            _begin(connection, source.frame())
            for batch in batches(source.seqs()):
                _paste_all(connection, source.copies(batch))
            _paste_shared(connection, source.shared())
            keeping.replace(connection, source.history())


def _begin(connection: apsw.Connection, frame: Frame) -> None:
    """The models and counters of another base."""
    _take_models(connection, frame)
    for table, following in (("documents", frame.next_seq), ("chunks", frame.next_chunk)):
        connection.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
        connection.execute(
            "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, following - 1)
        )


def _paste_all(connection: apsw.Connection, copies: Sequence[Copy]) -> None:
    numbers = reading.numbers(connection)
    for copy in copies:
        _paste(connection, copy, numbers)
    seal(connection, [copy.document.seq for copy in copies])


def _take_models(connection: apsw.Connection, frame: Frame) -> None:
    """Exactly these models, their vectors as far as they are there."""
    wanted = {one.model for one in frame.models}
    for model, number in reading.numbers(connection).items():
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
    terms = shared_terms(
        Naming(document.type, document.title, document.code, document.path),
        [one.terms for one in copy.chunks],
    )
    values |= {"said": json.dumps(said), "terms": terms}
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
            "title": one.title, "terms": one.terms[len(terms) :], "hash": digest(one.chunk.hash),
            "header": kept_header(one.chunk.header, one.chunk.heading),
        }  # fmt: skip
        _insert(connection, "chunks", _CHUNK, [[given[name] for name in _CHUNK]])
        for model, vector in one.vectors:
            vectors.insert(connection, numbers[model], one.id, vector)


def _insert(
    connection: apsw.Connection, table: str, columns: Sequence[str], lines: Iterable[Sequence[Any]]
) -> None:
    places = ", ".join(map(place, columns))
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
    connection.executemany(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", shared.files
    )
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
    calibration.write(connection, shared.calibration)
    links.relink(connection)
    connection.executemany(
        f"INSERT INTO edges VALUES (?, ?, {SIMILAR}, ?, {SIMILAR})",
        [(*ends, in_millionths(weight)) for *ends, weight in shared.similar],
    )
    connection.execute("DELETE FROM unlinked")
    connection.executemany("INSERT INTO unlinked VALUES (?)", [(seq,) for seq in shared.unlinked])
    connection.execute(
        "UPDATE graph SET similar_above = ?, similar_most = ?",
        (shared.similar_above, shared.similar_most),
    )
