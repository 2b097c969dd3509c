"""New documents, many at once: a statement a table instead of a dozen a document.

Nothing of them is there yet, so there is nothing to compare, to update or to take away. Whatever
may meet something in the base, or each other, is written one by one (`write.py`).
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import apsw

from knowbase.store.rows import in_order
from knowbase.store.seals import SEALS, seals_of
from knowbase.store.sqlite import rows, vectors
from knowbase.store.sqlite.packing import digest, kept_header, packed, place
from knowbase.text.indexed import document_terms, index_terms
from knowbase.values.changes import Draft, assigned_codes
from knowbase.values.copies import ChunkCopy, Copy
from knowbase.values.documents import DEFAULT_SALIENCE, Chunk, names_of
from knowbase.values.reading import Link

CHUNK_VALUES = (
    "position", "hash", "line", "page", "tokens", "overlap", "header", "title", "heading", "text",
    "terms",
)  # fmt: skip


_TERMS = CHUNK_VALUES.index("terms")
_TOGETHER = (64, 8, 1)  # rows of a statement


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
    numbered = [*zip(seqs, drafts, strict=True)]
    every = [*_numbered(connection, numbered, codes)]
    _write_documents(connection, every, now)
    connection.executemany(
        "INSERT OR IGNORE INTO tags VALUES (?, ?)",
        [(seq, tag) for seq, draft in numbered for tag in draft.reading.tags],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO links VALUES (?, ?, ?)",
        [(seq, link.target, link.kind) for seq, draft in numbered for link in draft.reading.links],
    )
    _write_chunks(connection, every, model)
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


class _New(NamedTuple):
    """A document under its numbers: its own, and those of its chunks, with what is stored of
    each."""

    seq: int
    code: str
    draft: Draft
    ids: range
    chunks: Sequence[tuple[Any, ...]]


def _numbered(
    connection: apsw.Connection, numbered: Sequence[tuple[int, Draft]], codes: Sequence[str]
) -> Iterator[_New]:
    first = _last(connection, "chunks", "id") + 1
    starts = accumulate((len(draft.chunks) for _, draft in numbered), initial=first)
    for (seq, draft), code, span in zip(numbered, codes, pairwise(starts), strict=True):
        yield _New(seq, code, draft, range(*span), [*chunk_values(draft, code)])


def _write_documents(connection: apsw.Connection, every: Sequence[_New], now: str) -> None:
    """Which columns a document has depends on what its text says: most have the same."""
    by_columns: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for new in every:
        draft = new.draft
        values: dict[str, Any] = {"seq": new.seq, "id": draft.id, "code": new.code}
        values |= {"created_at": now, "salience": DEFAULT_SALIENCE, **document_values(draft)}
        terms = terms_of(draft, new.code)
        values |= {"terms": packed(terms), **_seals(new, values, terms)}
        by_columns.setdefault(tuple(values), []).append(tuple(values.values()))
    for columns, values_of in by_columns.items():
        places = ", ".join("?" * len(columns))
        connection.executemany(
            f"INSERT INTO documents ({', '.join(columns)}) VALUES ({places})", values_of
        )


def _seals(new: _New, values: Mapping[str, Any], terms: str) -> Mapping[str, bytes | None]:
    """Those of what will be read, from what is about to be written."""
    reading = new.draft.reading
    chunks = tuple(
        ChunkCopy(number, position, chunk, reading.title, terms + written[_TERMS], ())
        for position, (number, chunk, written) in enumerate(
            zip(new.ids, new.draft.chunks, new.chunks, strict=True)
        )
    )
    document = rows.read_back(values, reading.tags)
    copy = Copy(document, {}, in_order({*map(Link._make, reading.links)}), (), chunks)
    return dict(zip(SEALS, seals_of(copy), strict=True))


def terms_of(draft: Draft, code: str) -> str:
    """What is indexed of each of its chunks."""
    reading = draft.reading
    return document_terms(reading.type, names_of(code, draft.path), reading.title)


class Naming(NamedTuple):
    """What a document is found by, in each of its chunks."""

    type: str
    title: str
    code: str
    path: str | None


def shared_terms(naming: Naming, terms: Sequence[str]) -> str:
    """What all chunks of a document begin with, where this is indexed of them."""
    shared = document_terms(naming.type, names_of(naming.code, naming.path), naming.title)
    return shared if all(one.startswith(shared) for one in terms) else ""


def document_values(draft: Draft) -> dict[str, Any]:
    """What a draft says of its document, by column."""
    stored = draft.reading.stored().items()
    values = {name: rows.written(name, value) for name, value in stored}
    return values | {"path": draft.path, "updated_at": draft.updated_at}


def _write_chunks(connection: apsw.Connection, every: Sequence[_New], model: int | None) -> None:
    columns = ("id", "document", "slug", "chunk_index", *CHUNK_VALUES)
    insert_together(
        connection,
        f"INSERT INTO chunks ({', '.join(columns)}) VALUES ",
        f"({', '.join(map(place, columns))})",
        [
            (number, new.seq, chunk.slug, chunk.chunk_index, *values)
            for new in every
            for number, chunk, values in zip(new.ids, new.draft.chunks, new.chunks, strict=True)
        ],
    )
    if model is not None:
        vectors.insert_all(
            connection,
            model,
            [
                (chunk_id, vector)
                for new in every
                for chunk_id, vector in zip(new.ids, new.draft.vectors, strict=True)
                if vector is not None
            ],
        )


def insert_together(
    connection: apsw.Connection, into: str, places: str, lines: Sequence[tuple[Any, ...]]
) -> None:
    """In statements of many rows: each that may fire a trigger keeps what it takes to be undone,
    and FTS5, which triggers fill, writes down before each of them what it has gathered."""
    done = 0
    for size in _TOGETHER:
        while len(lines) - done >= size:
            part = lines[done : done + size]
            connection.execute(into + ", ".join([places] * size), [*chain.from_iterable(part)])
            done += size


def chunk_values(draft: Draft, code: str) -> Iterable[tuple[Any, ...]]:
    """What is stored of each chunk, in the order of `CHUNK_VALUES`; of what is indexed beside its
    fields, what not all chunks of the document have."""
    names, shared = names_of(code, draft.path), len(terms_of(draft, code))
    for position, chunk in enumerate(draft.chunks):
        yield _values_of(chunk, position, draft, names, shared)


def _values_of(
    chunk: Chunk, position: int, draft: Draft, names: Sequence[str], shared: int
) -> tuple[Any, ...]:
    title = draft.reading.title
    return (
        position, digest(chunk.hash), chunk.line, chunk.page, chunk.tokens, chunk.overlap,
        kept_header(chunk.header, chunk.heading), title, chunk.heading, chunk.text,
        index_terms(draft.reading.type, names, title, chunk.heading, chunk.text)[shared:],
    )  # fmt: skip
