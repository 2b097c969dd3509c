"""What a SQLite base was: its changes, and documents at any of them."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import apsw

from knowbase.store.keeping import (
    as_it_was,
    number_before,
    text_key,
    touched_of,
    version_of,
    version_seal,
)
from knowbase.store.sqlite import keeping
from knowbase.store.sqlite.connection import Connections, translated
from knowbase.values.history import (
    BEFORE,
    Change,
    HistoryPart,
    Kept,
    PastChunk,
    PastVersion,
    Version,
    Wanted,
)
from knowbase.values.vectors import Model

_VERSION = "document, id, since, until, data, places"
_CHUNK = (
    "c.chunk, c.document, c.until, c.slug, c.chunk_index, c.overlap, c.tokens, c.hash,"
    " t.heading, t.header, t.text FROM past_chunks c JOIN past_texts t ON t.key = c.key"
)
_BATCH = 100  # changes


class SqliteHistory:
    """See `knowbase.store.contract.HistoryStore` for what each method promises."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def _get(self) -> apsw.Connection:
        return self._connections.get()

    def changes(self, wanted: Wanted) -> list[Change]:
        found: list[Change] = []
        with translated():
            for row in self._get().execute(
                "SELECT * FROM changes WHERE number > 0 ORDER BY number DESC"
            ):
                change = _change(row)
                if wanted.passes(change):
                    found.append(change)
                if len(found) >= wanted.limit:
                    break
        return found

    def numbered(self, numbers: Collection[int]) -> dict[int, Change]:
        with translated():
            found: Any = self._get().execute(
                f"SELECT * FROM changes WHERE number {keeping.IN}", (json.dumps([*numbers]),)
            )
            return {row[0]: _change(row) for row in found}

    def last(self) -> int:
        with translated():
            found: Any = self._get().execute("SELECT coalesce(max(number), 0) FROM changes").get
        return int(found)

    def number_at(self, moment: str) -> int | None:
        with translated():
            later: int | None = (
                self._get().execute("SELECT min(number) FROM changes WHERE at > ?", (moment,)).get
            )
        return number_before(later, self.last(), self.numbered([0]).get(0, BEFORE))

    def versions(self, document: str | None = None) -> list[Version]:
        with translated():
            connection = self._get()
            with connection:
                found = [version_of(one) for one in _past(connection, document)]
                found += self._current(connection, document)
        return sorted(found, key=lambda one: (one.since, one.until is None, one.until))

    def _current(self, connection: apsw.Connection, document: str | None) -> list[Version]:
        if document is None:
            return []
        seq = _seq(connection, document)
        if seq is None:
            return []
        now = keeping.read(connection, [seq], whole=False)[seq]
        return [Version(document, keeping.since(connection, [seq])[seq], None, now.document)]

    def version(self, document: str, number: int) -> Kept | None:
        with translated():
            connection = self._get()
            with connection:
                found = _version(connection, document, number)
            return found  # noqa: RET504 - to mypy, the block could swallow an error

    def past(self, reference: str) -> str | None:
        with translated():
            for test in ("id = ?", "code = ?", "path = ?"):
                found: str | None = (
                    self._get()
                    .execute(
                        f"SELECT id FROM versions WHERE {test} ORDER BY until DESC LIMIT 1",
                        (reference,),
                    )
                    .get
                )
                if found is not None:
                    return found
        return None

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:
        with translated(), self._connections.writing() as connection:
            for document, until in ended:
                for seq in {one.document for one in _past(connection, document)}:
                    span = keeping.drop(connection, seq, until)
                    if span is not None:
                        gone = PastVersion(seq, document, *span, None, None)
                        keeping.write_versions(connection, [gone])
            keeping.sweep(connection)

    def leftovers(self) -> int:
        with translated():
            return leftovers(self._get())


def leftovers(connection: apsw.Connection) -> int:
    """Texts that no version has, and versions' parts without their text or their version."""
    sql = (
        "SELECT (SELECT count(*) FROM past_texts WHERE key NOT IN (SELECT key FROM past_chunks))"
        " + (SELECT count(*) FROM past_chunks WHERE key NOT IN (SELECT key FROM past_texts))"
        " + (SELECT count(*) FROM past_chunks c WHERE NOT EXISTS (SELECT 1 FROM versions v"
        " WHERE v.document = c.document AND v.until = c.until AND v.data IS NOT NULL))"
    )
    found: Any = connection.execute(sql).get
    return int(found)


def unlike(connection: apsw.Connection) -> int:
    """Versions and their texts that are not what was written."""
    versions: Any = connection.execute("SELECT data, places, seal FROM versions")
    texts: Any = connection.execute("SELECT heading, header, text, key FROM past_texts")
    other = [seal for *said, seal in versions if version_seal(*said) != seal]
    other += [key for *said, key in texts if text_key(*said) != key]
    return len(other)


def parts(connection: apsw.Connection) -> Iterator[HistoryPart]:
    """All of it, oldest first."""
    last = -1
    while True:
        rows: Any = connection.execute(
            "SELECT * FROM changes WHERE number > ? ORDER BY number LIMIT ?", (last, _BATCH)
        ).fetchall()
        for row in rows:
            change = _change(row)
            yield HistoryPart(
                change,
                tuple(_ended(connection, change.number)),
                tuple(_chunks(connection, "c.until = ?", (change.number,))),
            )
        if not rows:
            return
        last = rows[-1][0]


def _ended(connection: apsw.Connection, number: int) -> list[PastVersion]:
    rows: Any = connection.execute(
        f"SELECT {_VERSION} FROM versions WHERE until = ? ORDER BY document", (number,)
    )
    return [PastVersion(*row) for row in rows]


def _change(row: Any) -> Change:
    return Change(*row)._replace(touched=touched_of(row[7]))


def _seq(connection: apsw.Connection, document: str) -> int | None:
    found: int | None = connection.execute(
        "SELECT seq FROM documents WHERE id = ?", (document,)
    ).get
    return found


def _past(connection: apsw.Connection, document: str | None) -> list[PastVersion]:
    test, values = ("WHERE id = ?", (document,)) if document is not None else ("", ())
    rows: Any = connection.execute(
        f"SELECT {_VERSION} FROM versions {test} ORDER BY document, until", values
    )
    return [PastVersion(*row) for row in rows]


def _version(connection: apsw.Connection, document: str, number: int) -> Kept | None:
    past = _past(connection, document)
    seq = _seq(connection, document)
    for one in past:
        if one.since <= number < one.until:
            after = [v for v in past if v.document == one.document and v.until > one.until]
            chunks = _chunks(
                connection, "c.document = ? AND c.until >= ?", (one.document, one.until)
            )
            now = keeping.read(connection, [one.document], whole=True).get(one.document)
            return as_it_was(one, after, chunks, now.copy if now is not None else None)
    if seq is None or keeping.since(connection, [seq])[seq] > number:
        return None
    return keeping.read(connection, [seq], whole=True)[seq]


def _chunks(connection: apsw.Connection, test: str, values: Sequence[Any]) -> list[PastChunk]:
    found: Any = connection.execute(
        f"SELECT {_CHUNK} WHERE {test} ORDER BY c.chunk, c.until", values
    ).fetchall()
    return [PastChunk(*row)._replace(vectors=_vectors(connection, row[7])) for row in found]


def _vectors(connection: apsw.Connection, digest: str) -> tuple[tuple[Model, bytes], ...]:
    rows: Any = connection.execute(
        "SELECT m.name, m.revision, m.dimensions, v.embedding FROM past_vectors v"
        " JOIN models m ON m.id = v.model WHERE v.hash = ? ORDER BY m.id",
        (digest,),
    )
    return tuple((Model(*model), vector) for *model, vector in rows)
