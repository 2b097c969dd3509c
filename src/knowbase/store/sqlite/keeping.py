"""Keeping what a transaction replaces, in SQLite. Loaded only when something is written."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import apsw

from knowbase.store.halves import halved, whole
from knowbase.store.keeping import Keeping, Keeps, keep_all
from knowbase.store.sqlite import reading
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.store.versions import from_the_start, text_key, touched_json, unpacked, version_seal
from knowbase.values.edges import Relation
from knowbase.values.history import Change, HistoryPart, Kept, PastChunk, PastVersion
from knowbase.values.vectors import Model, Vector

IN = "IN (SELECT value FROM json_each(?))"


class SqliteKeeping(Keeping):
    """See `knowbase.store.keeping.Keeping`."""

    def __init__(self, connection: apsw.Connection, now: str, keeps: Keeps | None) -> None:
        super().__init__(now, keeps or keep_all)
        self._connection = connection

    def _all(self, sql: str, values: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql, values).fetchall()

    def _numbers(self, ids: Sequence[str], paths: Sequence[str]) -> set[int]:
        found = self._all(f"SELECT seq FROM documents WHERE id {IN}", (json.dumps(ids),))
        if paths:
            found += self._all(f"SELECT seq FROM documents WHERE path {IN}", (json.dumps(paths),))
        return {seq for (seq,) in found}

    def _pointing(self, seqs: Collection[int]) -> set[int]:
        sql = f"SELECT source FROM relations WHERE target {IN}"
        return {source for (source,) in self._all(sql, (json.dumps([*seqs]),))}

    def _read(self, seqs: Collection[int], *, whole: bool) -> dict[int, Kept]:
        return read(self._connection, seqs, whole=whole) if seqs else {}

    def _read_vectors(
        self, chunks: Collection[int]
    ) -> Mapping[int, tuple[tuple[Model, Vector], ...]]:
        found: dict[int, tuple[tuple[Model, Vector], ...]] = {}
        for number, *model in self._all(
            "SELECT id, name, revision, dimensions FROM models WHERE active"
        ):
            for chunk, vector in self._all(
                f"SELECT chunk_id, embedding FROM {vector_table(number)} WHERE chunk_id {IN}",
                (json.dumps([*chunks]),),
            ):
                found[chunk] = ((Model(*model), whole(vector)),)
        return found

    def _next(self) -> tuple[int, int, int]:
        last = self._all("SELECT coalesce(max(number), 0) FROM changes")
        return last[0][0] + 1, *counters(self._connection)

    def _new(self, seqs: Collection[int]) -> list[tuple[str, str, str | None]]:
        sql = f"SELECT id, code, project FROM documents WHERE seq {IN} ORDER BY seq"
        found: list[tuple[str, str, str | None]] = self._all(sql, (json.dumps([*seqs]),))
        return found

    def _since(self, seqs: Collection[int]) -> dict[int, int]:
        return since(self._connection, seqs)

    def _past(self, ids: Collection[str]) -> dict[int, str]:
        sql = f"SELECT DISTINCT document, id FROM versions WHERE id {IN} AND data IS NOT NULL"
        return dict(self._all(sql, (json.dumps([*ids]),)))

    def _drop(self, seq: int, until: int) -> tuple[int, int] | None:
        return drop(self._connection, seq, until)

    def _write(
        self, change: Change, versions: Sequence[PastVersion], chunks: Sequence[PastChunk]
    ) -> None:
        write(self._connection, HistoryPart(change, tuple(versions), tuple(chunks)))
        if any(one.data is None for one in versions):
            sweep(self._connection)


def since(connection: apsw.Connection, seqs: Collection[int]) -> dict[int, int]:
    """By which change each of them became what it is: the last that replaced it, else the one
    after which numbers went on behind its own."""
    found: Any = connection.execute(
        "SELECT s.value, coalesce((SELECT max(until) FROM versions WHERE document = s.value),"
        " (SELECT number FROM changes WHERE next_seq > s.value ORDER BY next_seq, number LIMIT 1),"
        " 0) FROM json_each(?) s",
        (json.dumps([*seqs]),),
    )
    return dict(found.fetchall())


def read(connection: apsw.Connection, seqs: Collection[int], *, whole: bool) -> dict[int, Kept]:
    """Documents as they are, without vectors."""
    wanted = json.dumps([*seqs])
    copies = reading.heads(connection, wanted)
    if whole:
        copies = reading.with_chunks(copies, connection, wanted, {})
    related: dict[int, list[Relation]] = {}
    rows: Any = connection.execute(
        "SELECT r.source, s.id, t.id, r.relation, r.origin, r.created_at FROM relations r"
        " JOIN documents s ON s.seq = r.source JOIN documents t ON t.seq = r.target"
        f" WHERE r.source {IN}",
        (wanted,),
    )
    for seq, *relation in rows:
        related.setdefault(seq, []).append(Relation(*relation))
    return {
        one.document.seq: Kept(
            one._replace(verdicts=()), tuple(sorted(related.get(one.document.seq, ())))
        )
        for one in copies
    }


def drop(connection: apsw.Connection, seq: int, until: int) -> tuple[int, int] | None:
    """Remove the versions of a document that ended by then, and what only they had."""
    given = (seq, until)
    span: Any = connection.execute(
        "SELECT min(since), max(until) FROM versions WHERE document = ? AND until <= ?", given
    ).fetchone()
    if span[0] is None:
        return None
    connection.execute("DELETE FROM versions WHERE document = ? AND until <= ?", given)
    connection.execute("DELETE FROM past_chunks WHERE document = ? AND until <= ?", given)
    return span[0], span[1]


def sweep(connection: apsw.Connection) -> None:
    """Texts and vectors that no version has any more."""
    connection.execute(
        "DELETE FROM past_texts WHERE key NOT IN (SELECT key FROM past_chunks);"
        "DELETE FROM past_vectors WHERE hash NOT IN (SELECT hash FROM past_chunks)"
    )


def write(connection: apsw.Connection, part: HistoryPart) -> None:
    """A change with what it replaced."""
    change = part.change
    connection.execute(
        "INSERT OR REPLACE INTO changes VALUES (?, ?, ?, ?, ?, ?, ?, packed(?), ?, ?)",
        (*change[:7], touched_json(change), *change[8:]),
    )
    write_versions(connection, part.versions)
    connection.executemany(
        "INSERT OR IGNORE INTO past_texts VALUES (?, ?, ?, packed(?))",
        [(key_of(one), one.heading, one.header, one.text) for one in part.chunks],
    )
    connection.executemany(  # once their texts are there: they are indexed by a trigger
        "INSERT INTO past_chunks (chunk, until, document, slug, chunk_index, overlap, tokens, hash,"
        " key, title, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, packed(?))",
        [
            (one.chunk, one.until, one.document, *one[3:8], key_of(one), one.title, one.terms)
            for one in part.chunks
        ],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO past_vectors SELECT ?, id, ? FROM models"
        " WHERE name = ? AND revision = ?",
        [
            (one.hash, halved(vector), *model[:2])
            for one in part.chunks
            for model, vector in one.vectors
        ],
    )


def write_versions(connection: apsw.Connection, versions: Iterable[PastVersion]) -> None:
    lines = []
    for one in versions:
        document = unpacked(one.data).document if one.data is not None else None
        names = (document.code, document.path) if document is not None else (None, None)
        said = (one.data, one.places, version_seal(one.data, one.places))
        lines.append((one.document, one.until, one.since, one.id, *names, *said))
    connection.executemany(
        "INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", lines
    )


def key_of(one: PastChunk) -> bytes:
    return text_key(one.heading, one.header, one.text)


def replace(connection: apsw.Connection, parts: Iterable[HistoryPart]) -> None:
    """This history in place of the one that there is; where it says nothing, what is there was
    there from the start."""
    for table in ("versions", "past_chunks", "past_texts", "past_vectors", "changes"):
        connection.execute(f"DELETE FROM {table}")
    write(connection, HistoryPart(from_the_start(*counters(connection))))
    for part in parts:
        write(connection, part)


def counters(connection: apsw.Connection) -> tuple[int, int]:
    """The next numbers of a document and of a chunk."""
    found: Any = dict(connection.execute("SELECT name, seq FROM sqlite_sequence").fetchall())  # type: ignore[arg-type]
    return found.get("documents", 0) + 1, found.get("chunks", 0) + 1
