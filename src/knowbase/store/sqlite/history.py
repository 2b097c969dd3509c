"""What a SQLite base was: its changes, and documents at any of them."""

import json
from collections.abc import Collection, Sequence
from typing import Any

import apsw

from knowbase.store.sqlite import keeping, past
from knowbase.store.sqlite.connection import Connections, translated
from knowbase.store.versions import as_it_was, number_before, version_of
from knowbase.values.history import (
    BEFORE,
    Change,
    Kept,
    PastVersion,
    Version,
    Wanted,
)


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
                change = past.change_of(row)
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
            return {row[0]: past.change_of(row) for row in found}

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
                found = [version_of(one) for one in past.past_versions(connection, document)]
                found += self._current(connection, document)
        return sorted(found, key=lambda one: (one.since, one.until is None, one.until))

    def _current(self, connection: apsw.Connection, document: str | None) -> list[Version]:
        if document is None:
            return []
        seq = past.seq(connection, document)
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

    def lost(self, number: int) -> int:
        with translated():
            found: Any = (
                self._get()
                .execute(
                    "SELECT count(*) FROM versions WHERE until > ?1 AND since <= ?1"
                    " AND data IS NULL",
                    (number,),
                )
                .get
            )
        return int(found)

    def past(self, reference: str, number: int | None = None) -> str | None:
        then = "" if number is None else f" AND since <= {number:d} AND until > {number:d}"
        with translated():
            for test in ("id = ?", "code = ?", "path = ?"):
                sql = f"SELECT id FROM versions WHERE {test}{then} ORDER BY until DESC LIMIT 1"
                found: str | None = self._get().execute(sql, (reference,)).get
                if found is not None:
                    return found
        return None

    def prune(self, ended: Sequence[tuple[str, int]]) -> None:
        with translated(), self._connections.writing() as connection:
            for document, until in ended:
                for seq in {one.document for one in past.past_versions(connection, document)}:
                    span = keeping.drop(connection, seq, until)
                    if span is not None:
                        gone = PastVersion(seq, document, *span, None, None)
                        keeping.write_versions(connection, [gone])
            keeping.sweep(connection)

    def leftovers(self) -> int:
        with translated():
            return past.leftovers(self._get())


def _version(connection: apsw.Connection, document: str, number: int) -> Kept | None:
    known = past.past_versions(connection, document)
    seq = past.seq(connection, document)
    for one in known:
        if one.since <= number < one.until:
            after = [v for v in known if v.document == one.document and v.until > one.until]
            chunks = past.chunks(
                connection, "c.document = ? AND c.until >= ?", (one.document, one.until)
            )
            now = keeping.read(connection, [one.document], whole=True).get(one.document)
            return as_it_was(one, after, chunks, now.copy if now is not None else None)
    if seq is None or keeping.since(connection, [seq])[seq] > number:
        return None
    return keeping.read(connection, [seq], whole=True)[seq]
