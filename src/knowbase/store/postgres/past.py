"""The tables of what a base in PostgreSQL was, read row by row."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.versions import text_key, touched_of, version_seal
from knowbase.values.history import BEFORE, Change, HistoryPart, PastChunk, PastVersion
from knowbase.values.vectors import Model

CHANGE = (
    "number, at, who, surface, command, session, run, touched, next_seq, next_chunk FROM changes"
)
_VERSION = "document, id, since, until, data, places FROM versions"
_CHUNK = (
    "c.chunk, c.document, c.until, c.slug, c.chunk_index, c.overlap, c.tokens, c.hash,"
    " t.heading, t.header, t.text, c.title, c.terms FROM past_chunks c JOIN past_texts t"
    " ON t.base_id = c.base_id AND t.key = c.key"
)
BATCH = 100  # changes


def leftovers(connection: Connection, base: int) -> int:
    """Texts that no version has, and versions' parts without their text or their version."""
    row = connection.execute(
        "SELECT (SELECT count(*) FROM past_texts t WHERE t.base_id = %(base)s AND NOT EXISTS"
        " (SELECT 1 FROM past_chunks c WHERE c.base_id = t.base_id AND c.key = t.key))"
        " + (SELECT count(*) FROM past_chunks c WHERE c.base_id = %(base)s AND NOT EXISTS"
        " (SELECT 1 FROM past_texts t WHERE c.base_id = t.base_id AND c.key = t.key))"
        " + (SELECT count(*) FROM past_chunks c WHERE c.base_id = %(base)s AND NOT EXISTS"
        " (SELECT 1 FROM versions v WHERE v.base_id = c.base_id AND v.document = c.document"
        " AND v.until = c.until AND v.data IS NOT NULL))"
        " + (SELECT count(*) FROM past_postings p WHERE p.base_id = %(base)s AND NOT EXISTS"
        " (SELECT 1 FROM past_chunks c WHERE c.base_id = p.base_id AND c.chunk = p.chunk"
        " AND c.until = p.until))",
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
        SQL(f"SELECT {CHANGE} WHERE base_id = %s AND number = 0"), (base,)
    ).fetchall()
    if not rows:
        yield HistoryPart(BEFORE)
    last = -1
    while True:
        rows = connection.execute(
            SQL(f"SELECT {CHANGE} WHERE base_id = %s AND number > %s ORDER BY number LIMIT %s"),
            (base, last, BATCH),
        ).fetchall()
        for row in rows:
            yield HistoryPart(
                change_of(row),
                tuple(_ended(connection, base, row[0])),
                tuple(chunks(connection, base, "c.until = %s", (row[0],))),
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


def change_of(row: Sequence[Any]) -> Change:
    return Change(*row)._replace(touched=touched_of(row[7]))


def seq(connection: Connection, base: int, document: str) -> int | None:
    row = connection.execute(
        "SELECT seq FROM documents WHERE base_id = %s AND id = %s", (base, document)
    ).fetchone()
    return int(row[0]) if row else None


def past_versions(connection: Connection, base: int, document: str | None) -> list[PastVersion]:
    rows = connection.execute(
        SQL(
            f"SELECT {_VERSION} WHERE base_id = %s AND (%s::text IS NULL OR id = %s)"
            " ORDER BY document, until"
        ),
        (base, document, document),
    )
    return [PastVersion(*row) for row in rows]


def chunks(connection: Connection, base: int, test: str, values: Sequence[Any]) -> list[PastChunk]:
    found = connection.execute(
        SQL(f"SELECT {_CHUNK} WHERE c.base_id = %s AND {test} ORDER BY c.chunk, c.until"),
        (base, *values),
    ).fetchall()
    vectors = _vectors(connection, base, {row[7] for row in found})
    return [
        PastChunk(*row[:11])._replace(
            vectors=tuple(vectors.get(row[7], ())), title=row[11], terms=row[12]
        )
        for row in found
    ]


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
