"""What a base in PostgreSQL was: its changes, and documents at any of them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.keeping import (
    as_it_was,
    number_before,
    text_key,
    touched_of,
    version_of,
    version_seal,
)
from knowbase.store.postgres import keeping
from knowbase.store.postgres.connection import Connected, Connections
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

_CHANGE = (
    "number, at, who, surface, command, session, run, touched, next_seq, next_chunk FROM changes"
)
_VERSION = "document, id, since, until, data, places FROM versions"
_CHUNK = (
    "c.chunk, c.document, c.until, c.slug, c.chunk_index, c.overlap, c.tokens, c.hash,"
    " t.heading, t.header, t.text FROM past_chunks c JOIN past_texts t"
    " ON t.base_id = c.base_id AND t.key = c.key"
)
_BATCH = 100  # changes


class PostgresHistory(Connected):
    """See `knowbase.store.contract.HistoryStore` for what each method promises."""

    def __init__(self, connections: Connections, base: int) -> None:
        self._connections = connections
        self._base = base

    def changes(self, wanted: Wanted) -> list[Change]:
        found: list[Change] = []
        last: int | None = None
        while len(found) < wanted.limit:
            rows = self._read(
                SQL(
                    f"SELECT {_CHANGE} WHERE base_id = %s AND number > 0"
                    " AND (%s::bigint IS NULL OR number < %s) ORDER BY number DESC LIMIT %s"
                ),
                (self._base, last, last, _BATCH),
            )
            if not rows:
                break
            last = rows[-1][0]
            found += [one for one in map(_change, rows) if wanted.passes(one)]
        return found[: wanted.limit]

    def numbered(self, numbers: Collection[int]) -> dict[int, Change]:
        rows = self._read(
            SQL(f"SELECT {_CHANGE} WHERE base_id = %s AND number = ANY(%s)"),
            (self._base, list(numbers)),
        )
        return {row[0]: _change(row) for row in rows}

    def last(self) -> int:
        rows = self._read(
            SQL("SELECT coalesce(max(number), 0) FROM changes WHERE base_id = %s"), (self._base,)
        )
        return int(rows[0][0])

    def number_at(self, moment: str) -> int | None:
        rows = self._read(
            SQL("SELECT min(number) FROM changes WHERE base_id = %s AND at > %s"),
            (self._base, moment),
        )
        return number_before(rows[0][0], self.last(), self.numbered([0]).get(0, BEFORE))

    def versions(self, document: str | None = None) -> list[Version]:
        def read(connection: Connection) -> list[Version]:
            found = [version_of(one) for one in _past(connection, self._base, document)]
            return found + self._current(connection, document)

        found = self._connections.consistently(read, long=True)
        return sorted(found, key=lambda one: (one.since, one.until is None, one.until))

    def _current(self, connection: Connection, document: str | None) -> list[Version]:
        seq = None if document is None else _seq(connection, self._base, document)
        if seq is None or document is None:
            return []
        now = keeping.read(connection, self._base, [seq], whole=False)[seq]
        since = keeping.since(connection, self._base, [seq])[seq]
        return [Version(document, since, None, now.document)]

    def version(self, document: str, number: int) -> Kept | None:
        return self._connections.consistently(
            lambda connection: _version(connection, self._base, document, number)
        )

    def past(self, reference: str) -> str | None:
        for test in ("id = %s", "lower(code) = lower(%s)", "path = %s"):
            found = self._read(
                SQL(
                    f"SELECT id FROM versions WHERE base_id = %s AND {test}"
                    " ORDER BY until DESC LIMIT 1"
                ),
                (self._base, reference),
            )
            if found:
                return str(found[0][0])
        return None

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:
        def write(connection: Connection) -> None:
            connection.execute("SELECT 1 FROM bases WHERE id = %s FOR UPDATE", (self._base,))
            for document, until in ended:
                for seq in {one.document for one in _past(connection, self._base, document)}:
                    span = keeping.drop(connection, self._base, seq, until)
                    if span is not None:
                        gone = PastVersion(seq, document, *span, None, None)
                        keeping.write_versions(connection, self._base, [gone])
            keeping.sweep(connection, self._base)

        self._connections.writing(write)

    def leftovers(self) -> int:
        return self._connections.run(lambda connection: leftovers(connection, self._base))


def leftovers(connection: Connection, base: int) -> int:
    """Texts that no version has, and versions' parts without their text or their version."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM past_texts t WHERE t.base_id = %(base)s AND NOT EXISTS"
        " (SELECT 1 FROM past_chunks c WHERE c.base_id = t.base_id AND c.key = t.key))"
        " + (SELECT count(*) FROM past_chunks c WHERE c.base_id = %(base)s AND NOT EXISTS"
        " (SELECT 1 FROM past_texts t WHERE c.base_id = t.base_id AND c.key = t.key))"
        " + (SELECT count(*) FROM past_chunks c WHERE c.base_id = %(base)s AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.base_id = c.base_id AND v.document = c.document"
        " AND v.until = c.until AND v.data IS NOT NULL))",
        {"base": base},
    ).fetchone()
    return int(row[0]) if row else 0


def unlike(connection: Connection, base: int) -> int:
    """Versions and their texts that are not what was written."""
    versions = connection.execute(
        "SELECT data, places, seal FROM versions WHERE base_id = %s", (base,)
    ).fetchall()
    texts = connection.execute(
        "SELECT heading, header, text, key FROM past_texts WHERE base_id = %s", (base,)
    ).fetchall()
    other = [seal for *said, seal in versions if version_seal(*said) != seal]
    other += [key for *said, key in texts if text_key(*said) != key]
    return len(other)


def parts(connection: Connection, base: int) -> Iterator[HistoryPart]:
    """All of it, oldest first."""
    rows = connection.execute(
        SQL(f"SELECT {_CHANGE} WHERE base_id = %s AND number = 0"), (base,)
    ).fetchall()
    if not rows:
        yield HistoryPart(BEFORE)
    last = -1
    while True:
        rows = connection.execute(
            SQL(f"SELECT {_CHANGE} WHERE base_id = %s AND number > %s ORDER BY number LIMIT %s"),
            (base, last, _BATCH),
        ).fetchall()
        for row in rows:
            yield HistoryPart(
                _change(row),
                tuple(_ended(connection, base, row[0])),
                tuple(_chunks(connection, base, "c.until = %s", (row[0],))),
            )
        if not rows:
            return
        last = rows[-1][0]


def _ended(connection: Connection, base: int, number: int) -> list[PastVersion]:
    rows = connection.execute(
        SQL(f"SELECT {_VERSION} WHERE base_id = %s AND until = %s ORDER BY document"),
        (base, number),
    )
    return [PastVersion(*row) for row in rows]


def _change(row: Sequence[Any]) -> Change:
    return Change(*row)._replace(touched=touched_of(row[7]))


def _seq(connection: Connection, base: int, document: str) -> int | None:
    row = connection.execute(
        "SELECT seq FROM documents WHERE base_id = %s AND id = %s", (base, document)
    ).fetchone()
    return int(row[0]) if row else None


def _past(connection: Connection, base: int, document: str | None) -> list[PastVersion]:
    rows = connection.execute(
        SQL(
            f"SELECT {_VERSION} WHERE base_id = %s AND (%s::text IS NULL OR id = %s)"
            " ORDER BY document, until"
        ),
        (base, document, document),
    )
    return [PastVersion(*row) for row in rows]


def _version(connection: Connection, base: int, document: str, number: int) -> Kept | None:
    past = _past(connection, base, document)
    seq = _seq(connection, base, document)
    for one in past:
        if one.since <= number < one.until:
            after = [v for v in past if v.document == one.document and v.until > one.until]
            chunks = _chunks(
                connection, base, "c.document = %s AND c.until >= %s", (one.document, one.until)
            )
            now = keeping.read(connection, base, [one.document], whole=True).get(one.document)
            return as_it_was(one, after, chunks, now.copy if now is not None else None)
    if seq is None or keeping.since(connection, base, [seq])[seq] > number:
        return None
    return keeping.read(connection, base, [seq], whole=True)[seq]


def _chunks(connection: Connection, base: int, test: str, values: Sequence[Any]) -> list[PastChunk]:
    found = connection.execute(
        SQL(f"SELECT {_CHUNK} WHERE c.base_id = %s AND {test} ORDER BY c.chunk, c.until"),
        (base, *values),
    ).fetchall()
    vectors = _vectors(connection, base, {row[7] for row in found})
    return [PastChunk(*row)._replace(vectors=tuple(vectors.get(row[7], ()))) for row in found]


def _vectors(
    connection: Connection, base: int, hashes: Collection[str]
) -> dict[str, list[tuple[Model, bytes]]]:
    found: dict[str, list[tuple[Model, bytes]]] = {}
    if not hashes:
        return found
    for digest, *model, vector in connection.execute(
        "SELECT v.hash, m.name, m.revision, m.dimensions, v.embedding FROM past_vectors v"
        " JOIN models m ON m.base_id = v.base_id AND m.id = v.model"
        " WHERE v.base_id = %s AND v.hash = ANY(%s) ORDER BY m.id",
        (base, list(hashes)),
    ):
        found.setdefault(digest, []).append((Model(*model), bytes(vector)))
    return found
