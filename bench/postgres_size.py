"""Retrieval from a large base in PostgreSQL: each leg, under filters, beside plain SQL.

    python bench/postgres_size.py                      30,000 chunks
    python bench/postgres_size.py --chunks 1000000     some 12 GB, and hours where cores are few

Rows are made up and copied into the tables: words as frequent as in prose, vectors in clusters.
One document in ten, in a hundred and in a thousand has a tag. Times are CPU time of this process
and of the server together, so that other work on the machine does not count. Recall is of the
first ten, against comparing every vector. Plain SQL is what one would write for pgvector by hand.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psycopg

from corpus import TAGS, vocabulary
from engines import server
from knowbase.query.conditions import EVERYTHING, Condition, Tagged
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.postgres import PostgresStore, create, retrieval
from knowbase.store.postgres.bulk import copy_postings, copy_rows, copy_vectors
from knowbase.store.postgres.vector_tables import as_text
from knowbase.text.analysis import Word, stems
from knowbase.values.vectors import Model
from measure import Row, milliseconds, percentile, report

MODEL = Model("made up", "1", 384)
SECTIONS, WORDS, CENTRES, QUERIES, TOP, DEPTH = 5, 90, 400, 40, 10, 125
BATCH = 5000
NOW = "2026-01-01T00:00:00.000000Z"
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


def cpu_of(postmaster: int) -> Callable[[], float]:
    """Seconds on a core, of this process and of the server's."""

    def spent() -> float:
        total = time.process_time()
        for name in os.listdir("/proc"):
            try:
                stat = Path("/proc", name, "stat").read_text() if name.isdigit() else ""
                if stat and int(stat.rpartition(")")[2].split()[1]) == postmaster:
                    total += int(Path("/proc", name, "schedstat").read_text().split()[0]) / 1e9
            except OSError:
                continue  # it has just ended
        return total

    return spent


def fill(store: PostgresStore, chunks: int) -> None:
    made, base = Made(), store._base
    names = [stem for word in vocabulary().words if (stem := "".join(stems(word)[:1]))]
    names = list(dict.fromkeys(names))
    for start in range(0, chunks, BATCH):
        size = min(BATCH, chunks - start)
        store._connections.writing(lambda c: _batch(c, base, (start, size), made, names))  # noqa: B023

    def finish(connection: psycopg.Connection) -> None:
        connection.execute(
            "INSERT INTO words (base_id, id, stem, chunks) SELECT %s, n.id, n.stem,"
            " coalesce(p.chunks, 0) FROM unnest(%s::text[]) WITH ORDINALITY AS n (stem, id)"
            " LEFT JOIN (SELECT word, count(*) AS chunks FROM postings WHERE base_id = %s"
            " GROUP BY word) p ON p.word = n.id",
            (base, names, base),
        )
        connection.execute(
            "UPDATE bases SET chunks = %s, length = %s, next_chunk = %s, next_seq = %s"
            " WHERE id = %s",
            (chunks, chunks * WORDS, chunks + 1, chunks // SECTIONS + 2, base),
        )

    store._connections.writing(finish)
    analyze = "ANALYZE documents, chunks, words, postings, vectors_384"
    store._connections.writing(lambda connection: connection.execute(analyze) and None)
    store.renew_index()


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
    of = {start + n + 1: (start + n) // SECTIONS + 1 for n in range(size)}
    copy_postings(connection, base, _postings(drawn, start), of)
    numbered = enumerate(made.vectors(size), start + 1)
    copy_vectors(connection, base, (1, MODEL.dimensions), numbered, of)


def _postings(drawn: "np.ndarray[Any, Any]", start: int) -> Iterator[tuple[int, ...]]:
    for n, row in enumerate(drawn):
        for word, count in zip(*np.unique(row, return_counts=True), strict=True):
            yield int(word) + 1, start + n + 1, WORDS, 0, 0, int(count), 0


def measured(store: PostgresStore, spent: Callable[[], float]) -> list[Row]:
    made, rows = Made(), []
    vectors = made.vectors(QUERIES)
    names = vocabulary().words
    words = made.words(QUERIES * 3, len(names)).reshape(QUERIES, 3)
    queries = [KeywordQuery(tuple(Word(names[one]) for one in three)) for three in words]

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
        for leg, work in (("keyword", keyword), ("semantic", semantic), ("plain SQL", plain)):
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
    return rows


def by_hand(store: PostgresStore, vector: bytes, condition: Condition) -> list[int]:
    """The ten nearest, with pgvector's own settings."""
    tags = [list(condition.tags)] if isinstance(condition, Tagged) else []
    tagged = " AND d.tags @> %s" if tags else ""
    statement = (
        "SELECT v.chunk FROM vectors_384 v JOIN chunks c ON c.base_id = v.base_id"
        " AND c.id = v.chunk JOIN documents d ON d.base_id = c.base_id AND d.seq = c.document"
        f" WHERE v.base_id = %s{tagged} ORDER BY v.embedding <=> %s::vector LIMIT 10"
    )
    given = (store._base, *tags, as_text(vector))

    def read(connection: psycopg.Connection) -> list[int]:
        return [chunk for (chunk,) in connection.execute(statement, given)]

    return store._connections.run(read)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, default=30_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with TemporaryDirectory() as name, server(Path(name, "server")) as url:
        postmaster = int(Path(name, "server", "postmaster.pid").read_text().split()[0])
        spent = cpu_of(postmaster)
        store = create(f"{url}#bench-{os.getpid()}")
        store.use_model(MODEL)
        before = spent()
        fill(store, given.chunks)
        rows = [Row("filling and indexing", [spent() - before], "s CPU")]
        rows += measured(store, spent)
        store.close()
    report("postgres_size", rows, as_json=given.json)


if __name__ == "__main__":
    main()
