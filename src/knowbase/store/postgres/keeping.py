"""Keeping what a transaction replaces, in PostgreSQL."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.halves import as_kept
from knowbase.store.keeping import Keeping, Keeps, keep_all
from knowbase.store.postgres.bulk import copy_rows
from knowbase.store.postgres.postings import drop_unused
from knowbase.store.postgres.reading import Reading
from knowbase.store.postgres.vector_tables import unpacked as unpacked_vector
from knowbase.store.postgres.vector_tables import vector_table
from knowbase.store.postgres.words import ids_of
from knowbase.store.versions import from_the_start, text_key, touched_json, unpacked, version_seal
from knowbase.values.edges import Relation
from knowbase.values.history import Change, HistoryPart, Kept, PastChunk, PastVersion
from knowbase.values.vectors import Model, Vector

if TYPE_CHECKING:
    from knowbase.store.postgres.counting import Counted
    from knowbase.values.copies import Copy

_TABLES = (
    "versions", "past_postings", "past_chunks", "past_texts", "past_vectors", "changes"
)  # fmt: skip


class PostgresKeeping(Keeping):
    """See `knowbase.store.keeping.Keeping`."""

    def __init__(self, connection: Connection, base: int, now: str, keeps: Keeps | None) -> None:
        super().__init__(now, keeps or keep_all)
        self._connection = connection
        self._base = base
        self.new: Mapping[int, Copy] = {}  # documents that were just written, as they are read

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(SQL(statement), (self._base, *values)).fetchall()

    def _numbers(self, ids: Sequence[str], paths: Sequence[str]) -> set[int]:
        found = self._all(
            "SELECT seq FROM documents WHERE base_id = %s AND id = ANY(%s) UNION ALL"
            " SELECT seq FROM documents WHERE base_id = %s AND path = ANY(%s)",
            *(list(ids), self._base, list(paths)),
        )
        return {seq for (seq,) in found}

    def _pointing(self, seqs: Collection[int]) -> set[int]:
        found = self._all(
            "SELECT source FROM relations WHERE base_id = %s AND target = ANY(%s)", list(seqs)
        )
        return {source for (source,) in found}

    def _read(self, seqs: Collection[int], *, whole: bool) -> dict[int, Kept]:
        return read(self._connection, self._base, seqs, whole=whole) if seqs else {}

    def _read_vectors(
        self, chunks: Collection[int]
    ) -> Mapping[int, tuple[tuple[Model, Vector], ...]]:
        found: dict[int, tuple[tuple[Model, Vector], ...]] = {}
        for number, *identity in self._all(
            "SELECT id, name, revision, dimensions FROM models WHERE base_id = %s AND active"
        ):
            model = Model(*identity)
            statement = SQL(
                "SELECT chunk, embedding FROM {} WHERE base_id = %s AND model = %s"
                " AND chunk = ANY(%s)"
            ).format(vector_table(model.dimensions))
            with self._connection.cursor(binary=True) as cursor:
                for chunk, vector in cursor.execute(statement, (self._base, number, list(chunks))):
                    found[chunk] = ((model, unpacked_vector(vector)),)
        return found

    def _next(self) -> tuple[int, int, int]:
        found = self._all(
            "SELECT (SELECT coalesce(max(number), 0) + 1 FROM changes WHERE base_id = b.id),"
            " next_seq, next_chunk FROM bases b WHERE id = %s"
        )
        return found[0][0], found[0][1], found[0][2]

    def _new(self, seqs: Collection[int]) -> list[tuple[str, str, str | None]]:
        found = {seq: self.new[seq].document for seq in seqs if seq in self.new}
        there = {seq: (one.id, one.code, one.project) for seq, one in found.items()}
        if missing := set(seqs) - there.keys():
            for seq, *named in self._all(
                "SELECT seq, id, code, project FROM documents WHERE base_id = %s AND seq = ANY(%s)",
                list(missing),
            ):
                there[seq] = (named[0], named[1], named[2])
        return [there[seq] for seq in sorted(there)]

    def _since(self, seqs: Collection[int]) -> dict[int, int]:
        return since(self._connection, self._base, seqs) if seqs else {}

    def _past(self, ids: Collection[str]) -> dict[int, str]:
        found = self._all(
            "SELECT DISTINCT document, id FROM versions WHERE base_id = %s AND id = ANY(%s)"
            " AND data IS NOT NULL",
            list(ids),
        )
        return {seq: identity for seq, identity in found}  # noqa: C416 - pairs, to mypy

    def _drop(self, seq: int, until: int) -> tuple[int, int] | None:
        return drop(self._connection, self._base, seq, until)

    def _write(
        self, change: Change, versions: Sequence[PastVersion], chunks: Sequence[PastChunk]
    ) -> None:
        part = HistoryPart(change, tuple(versions), tuple(chunks))
        write(self._connection, self._base, part)
        if any(one.data is None for one in versions):
            sweep(self._connection, self._base)


def since(connection: Connection, base: int, seqs: Collection[int]) -> dict[int, int]:
    """By which change each of them became what it is: the last that replaced it, else the one
    after which numbers went on behind its own."""
    found = connection.execute(
        "SELECT s, coalesce((SELECT max(until) FROM versions WHERE base_id = %(base)s"
        " AND document = s), (SELECT number FROM changes WHERE base_id = %(base)s"
        " AND next_seq > s ORDER BY next_seq, number LIMIT 1), 0)"
        " FROM unnest(%(seqs)s::bigint[]) s",
        {"base": base, "seqs": list(seqs)},
    ).fetchall()
    return {seq: number for seq, number in found}  # noqa: C416 - pairs, to mypy


def counters(connection: Connection, base: int) -> tuple[int, int]:
    """The next numbers of a document and of a chunk."""
    row = connection.execute(
        "SELECT next_seq, next_chunk FROM bases WHERE id = %s", (base,)
    ).fetchone()
    return (row[0], row[1]) if row else (1, 1)


def read(
    connection: Connection, base: int, seqs: Collection[int], *, whole: bool
) -> dict[int, Kept]:
    """Documents as they are, without vectors."""
    reading = Reading(connection, base, list(seqs))
    copies = reading.heads()
    if whole:
        copies = reading.with_chunks(copies, vectors=False)
    related: dict[int, list[Relation]] = {}
    for seq, *relation in connection.execute(
        "SELECT r.source, s.id, t.id, r.relation, r.origin, r.created_at FROM relations r"
        " JOIN documents s ON s.base_id = r.base_id AND s.seq = r.source"
        " JOIN documents t ON t.base_id = r.base_id AND t.seq = r.target"
        " WHERE r.base_id = %s AND r.source = ANY(%s)",
        (base, list(seqs)),
    ).fetchall():
        related.setdefault(seq, []).append(Relation(*relation))
    return {
        one.document.seq: Kept(
            one._replace(verdicts=()), tuple(sorted(related.get(one.document.seq, ())))
        )
        for one in copies
    }


def drop(connection: Connection, base: int, seq: int, until: int) -> tuple[int, int] | None:
    """Remove the versions of a document that ended by then, and what only they had."""
    given = (base, seq, until)
    row = connection.execute(
        "SELECT min(since), max(until) FROM versions"
        " WHERE base_id = %s AND document = %s AND until <= %s",
        given,
    ).fetchone()
    if row is None or row[0] is None:
        return None
    connection.execute(
        "DELETE FROM past_postings p USING past_chunks c WHERE c.base_id = %s AND c.document = %s"
        " AND c.until <= %s AND p.base_id = c.base_id AND p.chunk = c.chunk"
        " AND p.until = c.until",
        given,
    )
    for table in ("versions", "past_chunks"):
        connection.execute(
            SQL(f"DELETE FROM {table} WHERE base_id = %s AND document = %s AND until <= %s"), given
        )
    return row[0], row[1]


def sweep(connection: Connection, base: int) -> None:
    """Words, texts and vectors that no version has any more."""
    drop_unused(connection, base)
    for table, column in (("past_texts", "key"), ("past_vectors", "hash")):
        connection.execute(
            SQL(
                f"DELETE FROM {table} t WHERE t.base_id = %s AND NOT EXISTS (SELECT 1 FROM"
                f" past_chunks c WHERE c.base_id = t.base_id AND c.{column} = t.{column})"
            ),
            (base,),
        )


def write(connection: Connection, base: int, part: HistoryPart) -> None:
    """A change with what it replaced."""
    change = part.change
    if change.number == 0:  # where a copy begins, it stands already
        connection.execute("DELETE FROM changes WHERE base_id = %s AND number = 0", (base,))
    connection.execute(
        "INSERT INTO changes VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
        (base, *change[:7], touched_json(change), *change[8:]),
    )
    write_versions(connection, base, part.versions)
    keys = {id(one): text_key(one.heading, one.header, one.text) for one in part.chunks}
    cursor = connection.cursor()
    if part.chunks:
        from knowbase.store.postgres.counting import Counted

        counted = Counted.of(
            {
                place: (one.title, one.heading or "", one.text, one.terms)
                for place, one in enumerate(part.chunks)
            }
        )
        cursor.executemany(
            "INSERT INTO past_chunks VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                (
                    *(base, one.chunk, one.until, one.document, *one[3:8], keys[id(one)]),
                    *(one.title, one.terms, length),
                )
                for one, length in zip(part.chunks, counted.lengths.tolist(), strict=True)
            ],
        )
        _write_words(connection, base, part.chunks, counted)
        cursor.executemany(
            "INSERT INTO past_texts VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            [(base, keys[id(one)], one.heading, one.header, one.text) for one in part.chunks],
        )
    vectors = [
        (one.hash, as_kept(vector), base, *model[:2])
        for one in part.chunks
        for model, vector in one.vectors
    ]
    if vectors:
        cursor.executemany(
            "INSERT INTO past_vectors SELECT base_id, %s, id, %s FROM models"
            " WHERE base_id = %s AND name = %s AND revision = %s ON CONFLICT DO NOTHING",
            vectors,
        )


def _write_words(
    connection: Connection, base: int, chunks: Sequence[PastChunk], counted: "Counted"
) -> None:
    """The words of what was replaced; a word that nothing has any more is none of today."""
    stems = counted.stems
    known = {stem: word for stem, (word, _) in ids_of(connection, base, stems).items()}
    new = sorted({*stems} - known.keys())
    row = connection.execute(
        "UPDATE bases SET next_word = next_word + %s WHERE id = %s RETURNING next_word - %s",
        (len(new), base, len(new)),
    ).fetchone()
    known |= {stem: word for word, stem in enumerate(new, row[0] if row else 1)}
    copy_rows(
        connection,
        "words",
        ("base_id", "id", "stem", "chunks"),
        [(base, known[stem], stem, 0) for stem in new],
    )
    copy_rows(
        connection,
        "past_postings",
        ("base_id", "word", "chunk", "until", "length", "title", "heading", "text", "terms"),
        [
            (base, known[stems[word]], chunks[row].chunk, chunks[row].until, length, *often)
            for row, word, length, often in zip(
                counted.rows.tolist(),
                counted.words.tolist(),
                counted.lengths[counted.rows].tolist(),
                counted.often.tolist(),
                strict=True,
            )
        ],
    )


def write_versions(connection: Connection, base: int, versions: Iterable[PastVersion]) -> None:
    lines = []
    for one in versions:
        document = unpacked(one.data).document if one.data is not None else None
        names = (document.code, document.path) if document is not None else (None, None)
        key = (base, one.document, one.until)
        said = (one.data, one.places, version_seal(one.data, one.places))
        lines.append((*key, one.since, one.id, *names, *said))
    if lines:
        connection.cursor().executemany(
            "INSERT INTO versions VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)", lines
        )


def replace(connection: Connection, base: int, parts: Iterable[HistoryPart]) -> None:
    """This history in place of the one that there is; where it says nothing, what is there was
    there from the start."""
    for table in _TABLES:
        connection.execute(SQL(f"DELETE FROM {table} WHERE base_id = %s"), (base,))
    write(connection, base, HistoryPart(from_the_start(*counters(connection, base))))
    for part in parts:
        write(connection, base, part)
