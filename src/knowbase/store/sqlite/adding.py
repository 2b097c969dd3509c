"""New documents, many at once: a statement a table instead of a dozen a document.

Nothing of them is there yet, so there is nothing to compare, to update or to take away. Whatever
may meet something in the base, or each other, is written one by one (`write.py`).
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import apsw

from knowbase.store.sqlite import rows, vectors
from knowbase.store.sqlite.packing import digest, place
from knowbase.text.indexed import index_terms
from knowbase.values.changes import Draft, assigned_codes
from knowbase.values.documents import DEFAULT_SALIENCE, Chunk, names_of

CHUNK_VALUES = (
    "position", "hash", "line", "page", "tokens", "overlap", "header", "title", "heading", "text",
    "terms",
)  # fmt: skip


def new_among(connection: apsw.Connection, drafts: Sequence[Draft]) -> set[int]:
    """The places of those drafts that meet nothing: their ids and paths are theirs alone."""
    ids = Counter(draft.id for draft in drafts)
    paths = Counter(draft.path for draft in drafts if draft.path is not None)
    known = _known(connection, "id", ids) | _known(connection, "path", paths)
    return {
        place
        for place, draft in enumerate(drafts)
        if not draft.once
        and draft.reading.value("code") is None
        and known.isdisjoint((draft.id, draft.path))
        and ids[draft.id] == 1
        and paths.get(draft.path or "", 1) == 1
    }


def _known(connection: apsw.Connection, column: str, values: Iterable[str]) -> set[object]:
    sql = f"SELECT {column} FROM documents WHERE {column} IN (SELECT value FROM json_each(?))"
    return {value for (value,) in connection.execute(sql, (json.dumps([*values]),))}


def write_new(
    connection: apsw.Connection, drafts: Sequence[Draft], model: int | None, now: str
) -> list[int]:
    """Write documents of which the base has nothing; their numbers."""
    first = _last(connection, "documents", "seq") + 1
    seqs = list(range(first, first + len(drafts)))
    codes = _codes(connection, seqs)
    _write_documents(connection, drafts, [*zip(seqs, codes, strict=True)], now)
    numbered = [*zip(seqs, drafts, strict=True)]
    connection.executemany(
        "INSERT OR IGNORE INTO tags VALUES (?, ?)",
        [(seq, tag) for seq, draft in numbered for tag in draft.reading.tags],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO links VALUES (?, ?, ?)",
        [(seq, link.target, link.kind) for seq, draft in numbered for link in draft.reading.links],
    )
    _write_chunks(connection, numbered, codes, model)
    connection.executemany(
        "INSERT OR IGNORE INTO unlinked VALUES (?)",
        [(seq,) for seq, draft in numbered if draft.chunks],
    )
    return seqs


def _last(connection: apsw.Connection, table: str, key: str) -> int:
    """The highest number that the table has ever given."""
    found: Any = connection.execute(
        f"SELECT max(coalesce((SELECT max({key}) FROM {table}), 0),"
        " coalesce((SELECT seq FROM sqlite_sequence WHERE name = ?), 0))",
        (table,),
    ).get
    return int(found)


def _codes(connection: apsw.Connection, seqs: Sequence[int]) -> list[str]:
    """The first code of each that nobody has."""
    wanted = [next(assigned_codes(seq)) for seq in seqs]
    taken = _known(connection, "code", wanted)
    if not taken:
        return wanted
    every = {str(code) for (code,) in connection.execute("SELECT code FROM documents")}
    folded = {code.lower() for code in every}
    return [next(c for c in assigned_codes(seq) if c.lower() not in folded) for seq in seqs]


def _write_documents(
    connection: apsw.Connection,
    drafts: Sequence[Draft],
    names: Sequence[tuple[int, str]],
    now: str,
) -> None:
    """Which columns a document has depends on what its text says: most have the same."""
    by_columns: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for draft, (seq, code) in zip(drafts, names, strict=True):
        values: dict[str, Any] = {"seq": seq, "id": draft.id, "code": code, "created_at": now}
        values |= {"salience": DEFAULT_SALIENCE, **document_values(draft)}
        by_columns.setdefault(tuple(values), []).append(tuple(values.values()))
    for columns, values_of in by_columns.items():
        places = ", ".join("?" * len(columns))
        connection.executemany(
            f"INSERT INTO documents ({', '.join(columns)}) VALUES ({places})", values_of
        )


def document_values(draft: Draft) -> dict[str, Any]:
    """What a draft says of its document, by column."""
    stored = draft.reading.stored().items()
    values = {name: rows.written(name, value) for name, value in stored}
    return values | {"path": draft.path, "updated_at": draft.updated_at}


def _write_chunks(
    connection: apsw.Connection,
    numbered: Sequence[tuple[int, Draft]],
    codes: Sequence[str],
    model: int | None,
) -> None:
    first = _last(connection, "chunks", "id") + 1
    starts = accumulate((len(draft.chunks) for _, draft in numbered), initial=first)
    ids = [range(*span) for span in pairwise(starts)]
    columns = ", ".join(("id", "document", "slug", "chunk_index", *CHUNK_VALUES))
    places = ", ".join(map(place, CHUNK_VALUES))
    connection.executemany(
        f"INSERT INTO chunks ({columns}) VALUES (?, ?, ?, ?, {places})",
        [
            (chunk_id, seq, chunk.slug, chunk.chunk_index, *values)
            for (seq, draft), code, span in zip(numbered, codes, ids, strict=True)
            for chunk_id, chunk, values in zip(
                span, draft.chunks, chunk_values(draft, code), strict=True
            )
        ],
    )
    if model is not None:
        vectors.insert_all(
            connection,
            model,
            [
                (chunk_id, vector)
                for (_, draft), span in zip(numbered, ids, strict=True)
                for chunk_id, vector in zip(span, draft.vectors, strict=True)
                if vector is not None
            ],
        )


def chunk_values(draft: Draft, code: str) -> Iterable[tuple[Any, ...]]:
    """What is stored of each chunk, in the order of `CHUNK_VALUES`."""
    names = names_of(code, draft.path)
    for position, chunk in enumerate(draft.chunks):
        yield _values_of(chunk, position, draft, names)


def _values_of(chunk: Chunk, position: int, draft: Draft, names: Sequence[str]) -> tuple[Any, ...]:
    title = draft.reading.title
    return (
        position, digest(chunk.hash), chunk.line, chunk.page, chunk.tokens, chunk.overlap,
        chunk.header, title, chunk.heading, chunk.text,
        index_terms(draft.reading.type, names, title, chunk.heading, chunk.text),
    )  # fmt: skip
