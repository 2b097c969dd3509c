"""Whether a base in PostgreSQL is sound: what the server can say, and which tables are not in
step. What its engine keeps by itself (foreign keys, one transaction for all) is not asked for."""

from collections import Counter
from collections.abc import Iterator

import psycopg
from psycopg import Connection, errors
from psycopg.sql import SQL

from knowbase.values.findings import DAMAGE, NOTICE, PROBLEM, Finding

_REPAIR = "kb repair"
_IN_STEP = (
    (
        "words", "chunks more or fewer than are counted",
        "SELECT abs((SELECT chunks FROM bases WHERE id = %(base)s)"
        " - (SELECT count(*) FROM chunks WHERE base_id = %(base)s))",
    ),
    (
        "links", "documents without names",
        "SELECT count(*) FROM documents d WHERE d.base_id = %(base)s AND d.deleted_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM names n WHERE n.base_id = d.base_id"
        " AND n.document = d.seq)",
    ),
    *(
        (
            "links", f"{what} of documents that are not there",
            f"SELECT count(*) FROM {table} t WHERE t.base_id = %(base)s AND NOT EXISTS (SELECT 1"
            f" FROM documents d WHERE d.base_id = t.base_id AND d.seq = t.{column})",
        )
        for what, table, column in (
            ("names", "names", "document"), ("mentions", "mentions", "document"),
            ("links", "edges", "source"), ("links", "edges", "target"),
        )
    ),
)  # fmt: skip


def findings(connection: Connection, base: int, *, deep: bool) -> Iterator[Finding]:
    from knowbase.store.postgres import past
    from knowbase.store.versions import told

    for part, what, sql in _IN_STEP:
        row = connection.execute(SQL(sql), {"base": base}).fetchone()
        if row and row[0]:
            yield Finding(part, PROBLEM, f"{row[0]} {what}", _REPAIR)
    for what, number in words_out_of_step(connection, base).items():
        if number:
            yield Finding("words", PROBLEM, f"{number} {what}", _REPAIR)
    changed = past.unlike(connection, base) if deep else 0
    yield from told(past.leftovers(connection, base), changed)
    if deep:
        yield from _indexes(connection)


def words_out_of_step(connection: Connection, base: int) -> dict[str, int]:
    """How many of what is not as the chunks are: every posting is read, part by part."""
    import numpy as np

    from knowbase.store.postgres.segments import every_segment

    row = connection.execute(
        "SELECT coalesce(array_agg(id ORDER BY id), '{}') FROM chunks"
        " WHERE base_id = %s AND length > 0",
        (base,),
    ).fetchone()
    chunks = np.array(row[0] if row else [], "i8")
    counted: Counter[int] = Counter()
    indexed = [np.empty(0, "i8")]
    for packed in every_segment(connection, base):
        indexed.append(packed.chunks())
        for one in packed:
            words, numbers = np.unique(one["word"].astype("i8"), return_counts=True)
            counted.update(dict(zip(words.tolist(), numbers.tolist(), strict=True)))
    known: dict[int, int] = dict(
        connection.execute("SELECT id, chunks FROM words WHERE base_id = %s", (base,))
    )
    there = np.concatenate(indexed)
    return {
        "words whose chunks are not as many as are counted": sum(
            counted[word] != known.get(word, 0) for word in counted.keys() | known.keys()
        ),
        "chunks in the text index that are not there": int((~np.isin(there, chunks)).sum()),
        "chunks that the text index does not know": int((~np.isin(chunks, there)).sum()),
        "chunks that the text index has twice": len(there) - len(np.unique(there)),
    }


def _indexes(connection: Connection) -> Iterator[Finding]:
    """By amcheck, where the database has it and this user may call it."""
    row = connection.execute("SELECT to_regproc('bt_index_check') IS NOT NULL").fetchone()
    if not row or not row[0]:
        yield Finding(
            "indexes", NOTICE, "the database lacks amcheck: its indexes were not looked into",
            "CREATE EXTENSION amcheck, as a superuser",
        )  # fmt: skip
        return
    found = connection.execute(
        "SELECT c.oid, c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'btree'"
        " AND c.relnamespace = current_schema()::regnamespace"
    ).fetchall()
    for number, name in found:
        try:
            with connection.transaction():
                connection.execute("SELECT bt_index_check(%s::oid::regclass, true)", (number,))
        except errors.InsufficientPrivilege:
            yield Finding(
                "indexes", NOTICE, "this user may not call amcheck: indexes were not looked into",
                "run kb check as a user who may",
            )  # fmt: skip
            return
        except (errors.IndexCorrupted, errors.DataCorrupted, psycopg.InternalError):
            yield Finding(
                "indexes", DAMAGE, f"the index {name} is damaged", f"REINDEX INDEX {name}"
            )
