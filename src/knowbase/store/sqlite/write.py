"""Writing: a document, its chunks, index rows and vectors change together.

A changed chunk is updated in place, and keeps its number.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from knowbase.store.rows import damaged
from knowbase.store.rules import check_unchanged, known_text
from knowbase.store.sqlite import rows, vectors
from knowbase.store.sqlite.adding import (
    CHUNK_VALUES,
    chunk_values,
    document_values,
    new_among,
    terms_of,
    write_new,
)
from knowbase.store.sqlite.compile import compile_condition
from knowbase.store.sqlite.links import note_loss, refresh
from knowbase.store.sqlite.packing import HASH, place
from knowbase.store.sqlite.record import record, said_values, used
from knowbase.store.sqlite.sealing import seal, seal_fields, seal_use
from knowbase.values.changes import Changes, Draft, assigned_codes, renamed
from knowbase.values.documents import DEFAULT_SALIENCE, Chunk
from knowbase.values.files import FileRecord
from knowbase.values.vectors import Vector

if TYPE_CHECKING:
    from knowbase.store.sqlite.keeping import SqliteKeeping

_INDEXED = ("title", "heading", "text", "terms")
MOST_CODES = 1000  # that are tried: in a damaged base, each may seem to be taken


def apply(
    connection: apsw.Connection,
    changes: Changes,
    model: int | None,
    now: str,
    keeping: "SqliteKeeping | None",
) -> list[int]:
    """Everything in `changes`; returns the seq of each draft's document."""
    if keeping is not None:
        keeping.keep_written(changes)
    remove(connection, changes.removed)
    written, changed, sealed, ids = _write_drafts(connection, changes.drafts, model, now)
    _write_files(connection, changes.files, ids)
    connection.executemany("DELETE FROM files WHERE path = ?", [(p,) for p in changes.forgotten])
    connection.executemany(
        "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?)",
        [(s.path, rows.to_json(s.tags), s.parent, s.tree) for s in changes.sources],
    )
    connection.executemany(
        "DELETE FROM sources WHERE path = ?", [(path,) for path in changes.dropped_sources]
    )
    said = renamed(changes, ids)
    if keeping is not None:
        keeping.keep_said(said, changed)
    touched = record(connection, said, now)
    if keeping is not None:
        keeping.finish(said, changed)
    if changed or changes.removed:
        connection.execute("UPDATE graph SET version = version + 1")
    if changed or touched or changes.removed:
        refresh(connection, changed | touched)
    in_use = used(connection, changes)
    seal(connection, changed - (sealed - touched - in_use))
    seal_fields(connection, touched - changed)
    seal_use(connection, in_use - changed - touched)
    return written


class _Written(NamedTuple):
    """The number of each draft's document, those that changed, those of them that have their seals,
    and the ids that ids became."""

    seqs: list[int]
    changed: set[int]
    sealed: set[int]
    ids: dict[str, str]


def _write_drafts(
    connection: apsw.Connection, drafts: Sequence[Draft], model: int | None, now: str
) -> _Written:
    """In their order, since each sees what the ones before it did; new ones that stand together
    are written together."""
    done = _Written([], set(), set(), {})
    new = new_among(connection, drafts)
    for is_new, places in groupby(range(len(drafts)), new.__contains__):
        run = [drafts[place] for place in places]
        if is_new:
            seqs = write_new(connection, run, model, now)
            done.seqs.extend(seqs)
            done.changed.update(seqs)
            done.sealed.update(seqs)
            done.ids.update((draft.id, draft.id) for draft in run)
            continue
        for given in run:
            _write_one(connection, given, model, now, done)
    return done


def _write_one(
    connection: apsw.Connection, given: Draft, model: int | None, now: str, done: _Written
) -> None:
    known = _known(connection, given, now) if given.once else None
    if known is not None:
        done.ids[given.id], seq = known
        done.seqs.append(seq)
        return
    draft = _adopted(connection, given)
    done.ids[given.id] = draft.id
    done.seqs.append(_write_document(connection, draft, model, now))
    done.changed.add(done.seqs[-1])
    done.sealed.discard(done.seqs[-1])


def _known(connection: apsw.Connection, draft: Draft, now: str) -> tuple[str, int] | None:
    """The id and seq of a document that has the draft's text already."""
    sql, values = compile_condition(known_text(draft, now))
    found: tuple[str, int] | None = connection.execute(
        f"SELECT d.id, d.seq FROM documents d WHERE {sql} ORDER BY d.seq LIMIT 1", values
    ).fetchone()
    return found


def remove(connection: apsw.Connection, ids: Iterable[str]) -> None:
    """Remove documents with everything about them."""
    for document_id in ids:
        row = connection.execute("SELECT seq FROM documents WHERE id = ?", (document_id,)).get
        if row is not None:
            chunks = connection.execute("SELECT id FROM chunks WHERE document = ?", (row,))
            _remove_chunks(connection, [chunk for (chunk,) in chunks])
            note_loss(connection, (row,))
            connection.execute("DELETE FROM documents WHERE seq = ?", (row,))


def _remove_chunks(connection: apsw.Connection, chunks: list[int]) -> None:
    for chunk in chunks:
        vectors.remove(connection, chunk)
    connection.executemany("DELETE FROM chunks WHERE id = ?", [(chunk,) for chunk in chunks])


def _write_document(connection: apsw.Connection, draft: Draft, model: int | None, now: str) -> int:
    reading = draft.reading
    values = document_values(draft)
    seq = connection.execute("SELECT seq FROM documents WHERE id = ?", (draft.id,)).get
    if seq is None:
        seq = _insert_document(connection, draft.id, values, now)
    else:
        changed_at = "SELECT updated_at FROM documents WHERE seq = ?"
        check_unchanged(draft, str(connection.execute(changed_at, (seq,)).get))
        values |= said_values(connection, seq)
        settings = ", ".join(f"{column} = ?" for column in values)
        connection.execute(
            f"UPDATE documents SET {settings} WHERE seq = ?", (*values.values(), seq)
        )
    _set_code(connection, seq, reading.value("code"))
    _write_tags_and_links(connection, seq, draft)
    _write_chunks(connection, seq, draft, model)
    return int(seq)


def _insert_document(
    connection: apsw.Connection, document_id: str, values: dict[str, Any], now: str
) -> int:
    new = {"id": document_id, "code": document_id, "created_at": now, "salience": DEFAULT_SALIENCE}
    new |= values
    connection.execute(
        f"INSERT INTO documents ({', '.join(new)}) VALUES ({', '.join('?' * len(new))})",
        tuple(new.values()),
    )
    seq = connection.last_insert_rowid()
    for code in islice(assigned_codes(seq), MOST_CODES):
        _set_code(connection, seq, code)
        if connection.changes():
            return seq
    raise damaged("a new document gets no code")  # codes never run out


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


class _Stored(NamedTuple):
    """What is there of a chunk before it is written."""

    id: int
    hash: str
    terms: str
    embedded: bool  # by the model of the draft's vectors


def _write_chunks(connection: apsw.Connection, seq: int, draft: Draft, model: int | None) -> None:
    stored = {
        (slug, index): _Stored(*rest)
        for slug, index, *rest in connection.execute(
            f"SELECT slug, chunk_index, id, {HASH}, plain(terms), EXISTS (SELECT 1 FROM embedded e"
            " WHERE e.model = ? AND e.chunk = c.id) FROM chunks c WHERE document = ?",
            (model, seq),
        )
    }
    code = str(connection.execute("SELECT code FROM documents WHERE seq = ?", (seq,)).get)
    connection.execute(  # a trigger indexes those that are there anew
        "UPDATE documents SET terms = packed(?1) WHERE seq = ?2 AND plain(terms) IS NOT ?1",
        (terms_of(draft, code), seq),
    )
    wanted = {(chunk.slug, chunk.chunk_index) for chunk in draft.chunks}
    orphans = [old.id for key, old in stored.items() if key not in wanted]
    _remove_chunks(connection, orphans)
    changed = bool(orphans)
    every = zip(draft.chunks, draft.vectors, chunk_values(draft, code), strict=True)
    for chunk, vector, of_chunk in every:
        old = stored.get((chunk.slug, chunk.chunk_index))
        values = dict(zip(CHUNK_VALUES, of_chunk, strict=True))
        if old is None:
            chunk_id = _insert_chunk(connection, seq, chunk, values)
        else:
            chunk_id = old.id
            same_words = (old.hash, old.terms) == (chunk.hash, values["terms"])
            _update_chunk(connection, chunk_id, values, indexed=not same_words)
        there = old or _Stored(chunk_id, "", "", False)
        _write_vector(connection, model, chunk, vector, there)
        changed = changed or vector is not None or there.hash != chunk.hash
    if changed:
        connection.execute("INSERT OR IGNORE INTO unlinked VALUES (?)", (seq,))


def _update_chunk(
    connection: apsw.Connection, chunk: int, values: dict[str, Any], *, indexed: bool
) -> None:
    """Write what may have changed; the columns of the text index only when its words did."""
    columns = [name for name in values if indexed or name not in _INDEXED]
    settings = ", ".join(f"{column} = {place(column)}" for column in columns)
    differs = " OR ".join(f"{column} IS NOT {place(column)}" for column in columns)
    given = [values[column] for column in columns]
    connection.execute(
        f"UPDATE chunks SET {settings} WHERE id = ? AND ({differs})", (*given, chunk, *given)
    )


def _insert_chunk(
    connection: apsw.Connection, seq: int, chunk: Chunk, values: dict[str, Any]
) -> int:
    columns = ", ".join(("document", "slug", "chunk_index", *values))
    places = ", ".join(map(place, values))
    connection.execute(
        f"INSERT INTO chunks ({columns}) VALUES (?, ?, ?, {places})",
        (seq, chunk.slug, chunk.chunk_index, *values.values()),
    )
    return connection.last_insert_rowid()


def _write_vector(
    connection: apsw.Connection,
    model: int | None,
    chunk: Chunk,
    vector: Vector | None,
    old: "_Stored",
) -> None:
    """The chunk's vector; one of a text that has changed goes, whichever model made it."""
    changed = old.hash not in ("", chunk.hash)
    in_place = changed and vector is not None and old.embedded
    if changed:
        vectors.remove(connection, old.id, kept=model if in_place else None)
    if model is None or vector is None:
        return
    if in_place:
        vectors.update(connection, model, old.id, vector)
    elif changed or not old.embedded:
        vectors.insert(connection, model, old.id, vector)


def _adopted(connection: apsw.Connection, draft: Draft) -> Draft:
    """The draft under the id of the document that its path has already, if there is one."""
    known = connection.execute("SELECT id FROM documents WHERE path = ?", (draft.path,)).get
    exists = connection.execute("SELECT 1 FROM documents WHERE id = ?", (draft.id,)).get
    if known is None or known == draft.id:
        return draft
    if not exists:
        return draft._replace(id=str(known))
    remove(connection, [str(known)])  # the path now belongs to the one that moved there
    return draft


def _write_files(
    connection: apsw.Connection, files: Iterable[FileRecord], ids: dict[str, str]
) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            record._replace(document=ids.get(record.document or "", record.document))
            for record in files
        ],
    )
