"""The tables of what a SQLite base was, read row by row."""

from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from knowbase.store.halves import whole
from knowbase.store.sqlite.packing import plain
from knowbase.store.versions import text_key, touched_of, version_seal
from knowbase.values.history import Change, HistoryPart, PastChunk, PastVersion
from knowbase.values.vectors import Model

_VERSION = "document, id, since, until, data, places"
_CHUNK = (
    "c.chunk, c.document, c.until, c.slug, c.chunk_index, c.overlap, c.tokens, c.hash,"
    " t.heading, t.header, plain(t.text), c.title, plain(c.terms) FROM past_chunks c"
    " JOIN past_texts t ON t.key = c.key"
)
_BATCH = 100  # changes


def leftovers(connection: apsw.Connection) -> int:
    """Texts that no version has, and versions' parts without their text or their version."""
    sql = (
        "SELECT (SELECT count(*) FROM past_texts WHERE key NOT IN (SELECT key FROM past_chunks))"
        " + (SELECT count(*) FROM past_chunks WHERE key NOT IN (SELECT key FROM past_texts))"
        " + (SELECT count(*) FROM past_chunks c WHERE NOT EXISTS (SELECT 1 FROM versions v"
        " WHERE v.document = c.document AND v.until = c.until AND v.data IS NOT NULL))"
        " + (SELECT count(*) FROM past_fts_docsize WHERE id NOT IN (SELECT id FROM past_chunks))"
        " + (SELECT count(*) FROM past_chunks WHERE id NOT IN (SELECT id FROM past_fts_docsize))"
    )
    found: Any = connection.execute(sql).get
    return int(found)


def unlike(connection: apsw.Connection) -> int:
    """Versions and their texts that are not what was written."""
    versions: Any = connection.execute("SELECT data, places, seal FROM versions")
    texts: Any = connection.execute("SELECT heading, header, plain(text), key FROM past_texts")
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
            change = change_of(row)
            yield HistoryPart(
                change,
                tuple(_ended(connection, change.number)),
                tuple(chunks(connection, "c.until = ?", (change.number,))),
            )
        if not rows:
            return
        last = rows[-1][0]


def _ended(connection: apsw.Connection, number: int) -> list[PastVersion]:
    rows: Any = connection.execute(
        f"SELECT {_VERSION} FROM versions WHERE until = ? ORDER BY document", (number,)
    )
    return [PastVersion(*row) for row in rows]


def change_of(row: Any) -> Change:
    return Change(*row)._replace(touched=touched_of(plain(row[7])))


def seq(connection: apsw.Connection, document: str) -> int | None:
    found: int | None = connection.execute(
        "SELECT seq FROM documents WHERE id = ?", (document,)
    ).get
    return found


def past_versions(connection: apsw.Connection, document: str | None) -> list[PastVersion]:
    test, values = ("WHERE id = ?", (document,)) if document is not None else ("", ())
    rows: Any = connection.execute(
        f"SELECT {_VERSION} FROM versions {test} ORDER BY document, until", values
    )
    return [PastVersion(*row) for row in rows]


def chunks(connection: apsw.Connection, test: str, values: Sequence[Any]) -> list[PastChunk]:
    found: Any = connection.execute(
        f"SELECT {_CHUNK} WHERE {test} ORDER BY c.chunk, c.until", values
    ).fetchall()
    return [
        PastChunk(*row[:11])._replace(
            vectors=_vectors(connection, row[7]), title=row[11], terms=row[12]
        )
        for row in found
    ]


def _vectors(connection: apsw.Connection, digest: str) -> tuple[tuple[Model, bytes], ...]:
    rows: Any = connection.execute(
        "SELECT m.name, m.revision, m.dimensions, v.embedding FROM past_vectors v"
        " JOIN models m ON m.id = v.model WHERE v.hash = ? ORDER BY m.id",
        (digest,),
    )
    return tuple((Model(*model), whole(half)) for *model, half in rows)
