"""SIMILAR_TO in SQLite: what `knowbase.store.similar` reads and writes."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from knowbase.store.sqlite.packing import MILLION, SIMILAR, in_millionths

if TYPE_CHECKING:
    from knowbase.store.similar import Block, Due, Found, Links, Rule

_BLOCK = 2  # of those that are read together are compared at once
_SCANNED = 8  # when more than an eighth of all is wanted, all of it is read


class SqliteMoment:
    """See `knowbase.store.similar.Moment`."""

    def __init__(self, connection: apsw.Connection, model: int | None) -> None:
        self.connection = connection
        self._model = model

    def due(self, rule: "Rule") -> "Due":
        from knowbase.store.similar import Due

        above, most, version = self.connection.execute(
            "SELECT similar_above, similar_most, version FROM graph"
        ).get
        is_whole = (above, most) != rule
        table = "SELECT seq FROM documents" if is_whole else "SELECT document FROM unlinked"
        due: Any = [one for (one,) in self.connection.execute(f"{table} ORDER BY 1")]
        number = int(self.connection.execute("SELECT count(*) FROM documents").get)
        return Due(version, due, number, self._number(), is_whole)

    def _number(self) -> int:
        if self._model is None:
            return 0
        sql = "SELECT count(*) FROM embedded WHERE model = ?"
        return int(self.connection.execute(sql, (self._model,)).get)

    def chunks_of(self, documents: Sequence[int]) -> Mapping[int, int]:
        return self._owned(
            "SELECT c.id, c.document FROM json_each(?) wanted CROSS JOIN documents d"
            " ON d.seq = wanted.value CROSS JOIN chunks c ON c.document = d.seq"
            " WHERE d.deleted_at IS NULL",
            _numbers(documents),
        )

    def owners(self, chunks: Collection[int] | None) -> Mapping[int, int]:
        if chunks is None or len(chunks) * _SCANNED > self._number():
            every = self._owned(
                "SELECT c.id, c.document FROM documents d CROSS JOIN chunks c"
                " ON c.document = d.seq WHERE d.deleted_at IS NULL"
            )
            return every if chunks is None else {c: every[c] for c in chunks if c in every}
        return self._owned(
            "SELECT c.id, c.document FROM json_each(?) wanted CROSS JOIN chunks c"
            " ON c.id = wanted.value CROSS JOIN documents d ON d.seq = c.document"
            " WHERE d.deleted_at IS NULL",
            _numbers(chunks),
        )

    def _owned(self, sql: str, *values: str) -> dict[int, int]:
        found: Any = self.connection.execute(sql, values)
        return dict(found)

    def vectors(self, chunks: Sequence[int]) -> "Block":
        import numpy as np

        from knowbase.store.similar import Block
        from knowbase.store.sqlite.scan import vectors_of

        wanted = np.array(sorted(chunks), "i8")
        if self._model is None:
            return Block(wanted[:0], np.empty((0, 1), "f4"))
        return Block(*vectors_of(self.connection, self._model, wanted))

    def blocks(self) -> "Iterator[Block]":
        import numpy as np

        from knowbase.store.similar import Block
        from knowbase.store.sqlite import scan

        if self._model is None:
            return
        chunks, parts = [], []
        for numbers, matrix in scan.blocks(self.connection, self._model):
            chunks.append(numbers)
            parts.append(matrix)
            if len(parts) == _BLOCK:
                yield Block(np.concatenate(chunks), np.concatenate(parts))
                chunks, parts = [], []
        if parts:
            yield Block(np.concatenate(chunks), np.concatenate(parts))

    def links(self, documents: Collection[int]) -> "Links":
        found: dict[int, dict[int, float]] = {}
        rows: Any = self.connection.execute(
            "SELECT e.source, e.target, e.weight FROM json_each(?1) wanted CROSS JOIN edges e"
            f" ON e.source = wanted.value WHERE e.relation = {SIMILAR}"
            " UNION ALL SELECT e.target, e.source, e.weight FROM json_each(?1) wanted"
            f" CROSS JOIN edges e ON e.target = wanted.value WHERE e.relation = {SIMILAR}",
            (_numbers(documents),),
        )
        for document, other, value in rows:
            found.setdefault(document, {})[other] = value / MILLION
        return found

    def marks(self, documents: Collection[int] | None) -> Mapping[int, object]:
        some = "" if documents is None else " WHERE d.seq IN (SELECT value FROM json_each(?2))"
        rows: Any = self.connection.execute(
            "SELECT d.seq, d.text_seal, d.deleted_at IS NULL, (SELECT group_concat(hex(e.seal))"
            " FROM chunks c CROSS JOIN embedded e ON e.chunk = c.id AND e.model = ?1"
            f" WHERE c.document = d.seq) FROM documents d{some}",
            (self._model,) if documents is None else (self._model, _numbers(documents)),
        )
        return {document: (self._model, *mark) for document, *mark in rows}


def is_due(connection: apsw.Connection, rule: "Rule") -> bool:
    """Whether anything is to be compared."""
    known = connection.execute("SELECT similar_above, similar_most FROM graph").get
    return known != rule or bool(connection.execute("SELECT 1 FROM unlinked LIMIT 1").get)


def write(moment: SqliteMoment, found: "Found", rule: "Rule") -> "Found | None":
    """Write the links that were found, those that still hold if vectors or links have changed
    meanwhile; what was written."""
    connection = moment.connection
    if connection.execute("SELECT version FROM graph").get != found.version:
        from knowbase.store.similar import still_valid

        valid = still_valid(moment, found, rule)
        if valid is None:
            return None
        found = valid
    if found.is_whole:
        connection.execute(f"DELETE FROM edges WHERE relation = {SIMILAR}")
        connection.execute("DELETE FROM unlinked")
    else:
        _take_away(connection, found)
    connection.executemany(
        "INSERT OR IGNORE INTO unlinked VALUES (?)", [(one,) for one in found.again]
    )
    connection.executemany(
        f"INSERT INTO edges VALUES (?, ?, {SIMILAR}, ?, {SIMILAR})"
        " ON CONFLICT DO UPDATE SET weight = excluded.weight",
        [(*pair, in_millionths(found.added[pair])) for pair in sorted(found.added)],
    )
    connection.execute(
        "UPDATE graph SET similar_above = ?, similar_most = ?, version = version + 1", rule
    )
    return found


def _take_away(connection: apsw.Connection, found: "Found") -> None:
    compared = _numbers(found.documents)
    for end in ("source", "target"):
        connection.execute(
            f"DELETE FROM edges WHERE {end} IN (SELECT value FROM json_each(?))"
            f" AND relation = {SIMILAR}",
            (compared,),
        )
    connection.executemany(
        f"DELETE FROM edges WHERE source = ? AND target = ? AND relation = {SIMILAR}",
        found.dropped,
    )
    connection.execute(
        "DELETE FROM unlinked WHERE document IN (SELECT value FROM json_each(?))", (compared,)
    )


def _numbers(values: Collection[int]) -> str:
    return "[" + ",".join(map(str, values)) + "]"
