"""Writing: a document, its chunks, index rows and vectors change together.

A changed chunk is updated in place: sqlite-vec never refills the hole of a deleted vector.
"""

from collections.abc import Iterable
from typing import Any

import apsw

from knowbase.store.sqlite.schema import compact_vectors, vector_table
from knowbase.text.analysis import index_terms
from knowbase.types import Changes, Chunk, Draft, FileRecord, Vector, scope_of

_DOCUMENT_COLUMNS = (
    "title", "type", "path", "updated_at", "parent", "project", "roles", "confidence",
    "archived", "expires_at", "superseded_by", "valid_until", "scope", "sector", "tier",
    "salience", "metadata",
)  # fmt: skip
_CHUNK_COLUMNS = (
    "position", "hash", "line", "page", "tokens", "overlap", "title", "heading", "header",
    "text", "terms", "model",
)  # fmt: skip


def _json(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def apply(connection: apsw.Connection, changes: Changes, model: int | None, now: str) -> list[int]:
    """Everything in `changes`; returns the seq of each draft's document."""
    _remove(connection, changes.removed, model)
    if changes.removed and model is not None:
        compact_vectors(connection, model)
    written, ids = [], {}
    for given in changes.drafts:
        draft = _adopted(connection, given)
        ids[given.id] = draft.id
        written.append(_write_document(connection, draft, model, now))
    _write_files(connection, changes.files, ids)
    connection.executemany("DELETE FROM files WHERE path = ?", [(p,) for p in changes.forgotten])
    connection.executemany(
        "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?)",
        [source._replace(tags=_json(source.tags)) for source in changes.sources],  # type: ignore[arg-type]
    )
    connection.executemany(
        "DELETE FROM sources WHERE path = ?", [(path,) for path in changes.dropped_sources]
    )
    return written


def _remove(connection: apsw.Connection, ids: Iterable[str], model: int | None) -> None:
    for document_id in ids:
        row = connection.execute("SELECT seq FROM documents WHERE id = ?", (document_id,)).get
        if row is not None:
            chunks = connection.execute("SELECT id FROM chunks WHERE document = ?", (row,))
            _remove_chunks(connection, [chunk for (chunk,) in chunks], model)
            connection.execute("DELETE FROM documents WHERE seq = ?", (row,))


def _remove_chunks(connection: apsw.Connection, chunks: list[int], model: int | None) -> None:
    if model is not None:
        connection.executemany(
            f"DELETE FROM {vector_table(model)} WHERE chunk_id = ?", [(c,) for c in chunks]
        )
    connection.executemany("DELETE FROM chunks WHERE id = ?", [(chunk,) for chunk in chunks])


def _write_document(connection: apsw.Connection, draft: Draft, model: int | None, now: str) -> int:
    reading = draft.reading
    values = (
        reading.title, reading.type, draft.path, draft.updated_at, reading.parent,
        reading.project, _json(reading.roles), reading.confidence, reading.archived,
        reading.expires_at, reading.superseded_by, reading.valid_until, scope_of(reading),
        reading.sector, reading.tier, reading.salience, _json(reading.metadata),
    )  # fmt: skip
    seq = connection.execute("SELECT seq FROM documents WHERE id = ?", (draft.id,)).get
    if seq is None:
        seq = _insert_document(connection, draft.id, values, now)
    else:
        settings = ", ".join(f"{column} = ?" for column in _DOCUMENT_COLUMNS)
        connection.execute(f"UPDATE documents SET {settings} WHERE seq = ?", (*values, seq))
    _set_code(connection, seq, reading.code)
    _write_tags_and_links(connection, seq, draft)
    _write_chunks(connection, seq, draft, model)
    return int(seq)


def _insert_document(
    connection: apsw.Connection, document_id: str, values: tuple[Any, ...], now: str
) -> int:
    columns = ", ".join(("id", "code", "created_at", *_DOCUMENT_COLUMNS))
    places = ", ".join("?" * (len(values) + 3))
    connection.execute(
        f"INSERT INTO documents ({columns}) VALUES ({places})",
        (document_id, document_id, now, *values),
    )
    seq = connection.last_insert_rowid()
    _set_code(connection, seq, f"KB-{seq}")
    return seq


def _set_code(connection: apsw.Connection, seq: int, code: str | None) -> None:
    """Take the code unless another document has it: then the one it had stays."""
    if code is not None:
        connection.execute("UPDATE OR IGNORE documents SET code = ? WHERE seq = ?", (code, seq))


def _write_tags_and_links(connection: apsw.Connection, seq: int, draft: Draft) -> None:
    connection.execute("DELETE FROM tags WHERE document = ?", (seq,))
    connection.executemany(
        "INSERT OR IGNORE INTO tags VALUES (?, ?)", [(seq, tag) for tag in draft.reading.tags]
    )
    connection.execute("DELETE FROM links WHERE document = ?", (seq,))
    connection.executemany(
        "INSERT OR IGNORE INTO links VALUES (?, ?, ?)",
        [(seq, link.target, link.kind) for link in draft.reading.links],
    )


def _write_chunks(connection: apsw.Connection, seq: int, draft: Draft, model: int | None) -> None:
    stored = {
        (slug, index): (chunk, digest, embedded_by)
        for chunk, slug, index, digest, embedded_by in connection.execute(
            "SELECT id, slug, chunk_index, hash, model FROM chunks WHERE document = ?", (seq,)
        )
    }
    wanted = {(chunk.slug, chunk.chunk_index) for chunk in draft.chunks}
    orphans = [chunk for key, (chunk, _, _) in stored.items() if key not in wanted]
    _remove_chunks(connection, orphans, model)
    for position, (chunk, vector) in enumerate(zip(draft.chunks, draft.vectors, strict=True)):
        old_id, old_hash, old_model = stored.get(
            (chunk.slug, chunk.chunk_index), (None, None, None)
        )
        kept = old_model is not None and old_hash == chunk.hash
        embedded_by = model if kept or vector is not None else None
        values = _chunk_values(chunk, draft, position, embedded_by)
        if old_id is None:
            chunk_id = _insert_chunk(connection, seq, chunk, values)
        else:
            chunk_id = old_id
            settings = ", ".join(f"{column} = ?" for column in _CHUNK_COLUMNS)
            connection.execute(f"UPDATE chunks SET {settings} WHERE id = ?", (*values, chunk_id))
        if not kept and model is not None:
            _write_vector(connection, model, chunk_id, vector, replace=old_model is not None)


def _chunk_values(
    chunk: Chunk, draft: Draft, position: int, embedded_by: int | None
) -> tuple[Any, ...]:
    reading = draft.reading
    terms = index_terms(reading.type, reading.title, chunk.heading, chunk.text)
    return (
        position, chunk.hash, chunk.line, chunk.page, chunk.tokens, chunk.overlap,
        reading.title, chunk.heading, chunk.header, chunk.text, terms, embedded_by,
    )  # fmt: skip


def _insert_chunk(
    connection: apsw.Connection, seq: int, chunk: Chunk, values: tuple[Any, ...]
) -> int:
    columns = ", ".join(("document", "slug", "chunk_index", *_CHUNK_COLUMNS))
    places = ", ".join("?" * (len(values) + 3))
    connection.execute(
        f"INSERT INTO chunks ({columns}) VALUES ({places})",
        (seq, chunk.slug, chunk.chunk_index, *values),
    )
    return connection.last_insert_rowid()


def _write_vector(
    connection: apsw.Connection, model: int, chunk: int, vector: Vector | None, *, replace: bool
) -> None:
    table = vector_table(model)
    if vector is None:
        connection.execute(f"DELETE FROM {table} WHERE chunk_id = ?", (chunk,))
    elif replace:
        connection.execute(f"UPDATE {table} SET embedding = ? WHERE chunk_id = ?", (vector, chunk))
    else:
        connection.execute(
            f"INSERT INTO {table} (chunk_id, embedding) VALUES (?, ?)", (chunk, vector)
        )


def _adopted(connection: apsw.Connection, draft: Draft) -> Draft:
    """The draft under the id of the document that its path has already, if there is one."""
    known = connection.execute("SELECT id FROM documents WHERE path = ?", (draft.path,)).get
    exists = connection.execute("SELECT 1 FROM documents WHERE id = ?", (draft.id,)).get
    return draft if known is None or exists else draft._replace(id=str(known))


def _write_files(
    connection: apsw.Connection, files: Iterable[FileRecord], ids: dict[str, str]
) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [
            record._replace(document=ids.get(record.document or "", record.document))
            for record in files
        ],
    )
