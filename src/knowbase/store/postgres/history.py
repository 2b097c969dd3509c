"""What a base in PostgreSQL was: its changes, and documents at any of them."""

from collections.abc import Collection, Sequence

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.postgres import keeping, past
from knowbase.store.postgres.connection import Connected, Connections
from knowbase.store.versions import as_it_was, number_before, version_of
from knowbase.values.history import (
    BEFORE,
    Change,
    Kept,
    PastVersion,
    Version,
    Wanted,
)


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
                    f"SELECT {past.CHANGE} WHERE base_id = %s AND number > 0"
                    " AND (%s::bigint IS NULL OR number < %s) ORDER BY number DESC LIMIT %s"
                ),
                (self._base, last, last, past.BATCH),
            )
            if not rows:
                break
            last = rows[-1][0]
            found += [one for one in map(past.change_of, rows) if wanted.passes(one)]
        return found[: wanted.limit]

    def numbered(self, numbers: Collection[int]) -> dict[int, Change]:
        rows = self._read(
            SQL(f"SELECT {past.CHANGE} WHERE base_id = %s AND number = ANY(%s)"),
            (self._base, list(numbers)),
        )
        return {row[0]: past.change_of(row) for row in rows}

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
            found = [
                version_of(one) for one in past.past_versions(connection, self._base, document)
            ]
            return found + self._current(connection, document)

        found = self._connections.consistently(read, long=True)
        return sorted(found, key=lambda one: (one.since, one.until is None, one.until))

    def _current(self, connection: Connection, document: str | None) -> list[Version]:
        seq = None if document is None else past.seq(connection, self._base, document)
        if seq is None or document is None:
            return []
        now = keeping.read(connection, self._base, [seq], whole=False)[seq]
        since = keeping.since(connection, self._base, [seq])[seq]
        return [Version(document, since, None, now.document)]

    def version(self, document: str, number: int) -> Kept | None:
        return self._connections.consistently(
            lambda connection: _version(connection, self._base, document, number)
        )

    def lost(self, number: int) -> int:
        rows = self._read(
            SQL(
                "SELECT count(*) FROM versions WHERE base_id = %s AND until > %s AND since <= %s"
                " AND data IS NULL"
            ),
            (self._base, number, number),
        )
        return int(rows[0][0])

    def past(self, reference: str, number: int | None = None) -> str | None:
        then = "" if number is None else f" AND since <= {number:d} AND until > {number:d}"
        for test in ("id = %s", "lower(code) = lower(%s)", "path = %s"):
            found = self._read(
                SQL(
                    f"SELECT id FROM versions WHERE base_id = %s AND {test}{then}"
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
                for seq in {
                    one.document for one in past.past_versions(connection, self._base, document)
                }:
                    span = keeping.drop(connection, self._base, seq, until)
                    if span is not None:
                        gone = PastVersion(seq, document, *span, None, None)
                        keeping.write_versions(connection, self._base, [gone])
            keeping.sweep(connection, self._base)

        self._connections.writing(write)

    def leftovers(self) -> int:
        return self._connections.run(lambda connection: past.leftovers(connection, self._base))


def _version(connection: Connection, base: int, document: str, number: int) -> Kept | None:
    known = past.past_versions(connection, base, document)
    seq = past.seq(connection, base, document)
    for one in known:
        if one.since <= number < one.until:
            after = [v for v in known if v.document == one.document and v.until > one.until]
            chunks = past.chunks(
                connection, base, "c.document = %s AND c.until >= %s", (one.document, one.until)
            )
            now = keeping.read(connection, base, [one.document], whole=True).get(one.document)
            return as_it_was(one, after, chunks, now.copy if now is not None else None)
    if seq is None or keeping.since(connection, base, [seq])[seq] > number:
        return None
    return keeping.read(connection, base, [seq], whole=True)[seq]
