"""The legs of a large base in a file: with the indexes beside it, and without.

    python bench/vectors.py                      100,000 chunks, made for it
    python bench/vectors.py --chunks 1000000     some minutes and 4 GB of disk
    python bench/vectors.py --home FOLDER        a base that is there: made if it is not, and kept

Made-up vectors in clusters and made-up texts of about 90 words, as frequent as in real prose; five
chunks a document, and a tag that every 10th, 100th or 1000th document has. CPU time of the
process, for the machine is never quiet; each query is asked of all sides in turn. "Without"
compares every vector of the base and asks FTS5, as it was before there were indexes; the answers of
both are compared to the last bit. Rows of the table: medians, and the ratio.
"""

import argparse
import random
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import apsw
import numpy as np

from corpus import CENTRES, SPREAD, STEMS, TAGS, vocabulary
from knowbase.query.conditions import EVERYTHING, Condition, Tagged
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.sqlite import SqliteStore, codes, create
from knowbase.store.sqlite.packing import register
from knowbase.store.sqlite.vector_tables import vector_table
from knowbase.values.vectors import Model
from measure import Row, cpu, interleaved, milliseconds, ratios, report

MODEL = Model("made-up", "1", 384)
A_DOCUMENT = 5  # chunks
BATCH = 20_000
QUERIES = 30
LIMIT = 125  # what a search with the default profile asks for
NOW = "2026-01-01T00:00:00.000000Z"


def centres() -> Any:
    made = np.random.default_rng(1).standard_normal((CENTRES, MODEL.dimensions))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def clustered(seed: int, number: int) -> Any:
    """Unit vectors around the centres, as those of corpus.py."""
    chance = np.random.default_rng(seed)
    noise = chance.standard_normal((number, MODEL.dimensions))
    noise *= SPREAD / np.linalg.norm(noise, axis=1, keepdims=True)
    made = centres()[chance.integers(0, CENTRES, number)] + noise
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype("<f4")


def fill(path: str, chunks: int) -> None:
    """Rows as the store writes them."""
    with closing(create(path)) as store:
        store.use_model(MODEL)
    connection = apsw.Connection(path)
    register(connection)
    connection.execute("PRAGMA synchronous = OFF")
    with closing(connection):
        for start in range(0, chunks, BATCH):
            some = range(start, min(start + BATCH, chunks))
            with connection:
                _write(connection, some)


def _write(connection: apsw.Connection, chunks: range) -> None:
    documents = range(chunks.start // A_DOCUMENT, chunks.stop // A_DOCUMENT)
    connection.executemany(
        "INSERT INTO documents (seq, id, code, title, type, created_at, updated_at, roles,"
        " archived, scope, salience, metadata) VALUES (?1, ?1, ?1, ?1, 'markdown', ?2, ?2, '[]',"
        " 0, 'user', 0.5, '{}')",
        [(one + 1, NOW) for one in documents],
    )
    connection.executemany(
        "INSERT INTO tags VALUES (?, ?)",
        [(n + 1, tag) for tag, every in TAGS.items() for n in documents if n % every == 0],
    )
    connection.executemany(
        "INSERT INTO chunks (id, document, position, slug, chunk_index, hash, line, tokens,"
        " overlap, title, header, text, terms) VALUES (?1, ?2, ?3, 's' || ?3, 0, ?1, 1, 1, 0, ?4,"
        " '', packed(?5), '')",
        _texts(chunks),
    )
    vectors = clustered(chunks.start, len(chunks)).astype("<f2")
    connection.executemany(
        f"INSERT INTO {vector_table(1)} (chunk_id, embedding) VALUES (?, ?)",
        ((n + 1, one.tobytes()) for n, one in zip(chunks, vectors, strict=True)),
    )
    connection.executemany(
        "INSERT INTO embedded (model, chunk) VALUES (1, ?)", ((n + 1,) for n in chunks)
    )


def _texts(chunks: range) -> Iterator[tuple[int, int, int, str, str]]:
    """Half to double of 90 words: common ones, and a fifth of a document's own topic."""
    words, sums = vocabulary()
    chance = np.random.default_rng(chunks.start + 1)
    every, topics = np.array(words, dtype=object), np.array(STEMS, dtype=object)
    lengths = (90 * 2 ** chance.uniform(-1, 1, len(chunks))).astype(int)
    for n, length in zip(chunks, lengths, strict=True):
        topic = topics[np.random.default_rng(n // A_DOCUMENT).integers(0, len(topics), 12)]
        drawn = every[np.searchsorted(sums, chance.random(length) * sums[-1])]
        own = chance.random(length) < 0.2
        drawn[own] = topic[chance.integers(0, 12, int(own.sum()))]
        yield n + 1, n // A_DOCUMENT + 1, n % A_DOCUMENT, " ".join(topic[:3]), " ".join(drawn)


def built(store: SqliteStore, path: str) -> list[Row]:
    taken = cpu(lambda: store.renew_index(anew=True))
    state = store.vector_index()
    assert state is not None
    held = sum(one.stat().st_size for one in Path(path + ".index").glob("*.codes"))
    words = sum(one.stat().st_size for one in Path(path + ".index", "words").iterdir())
    return [
        Row("vectors", [state.vectors]),
        Row("build, words and vectors", [state.vectors / taken], "a CPU second"),
        Row("disk of the codes, a vector", [held / state.vectors], "bytes"),
        Row("disk of the words, a chunk", [words / state.vectors], "bytes"),
    ]


def by_words(sides: dict[str, SqliteStore], condition: Condition, name: str) -> Iterator[Row]:
    """The keyword leg: four words a query."""
    chance = random.Random(5)
    answers: dict[str, list[Any]] = {side: [] for side in sides}
    queries = [keyword_query(" ".join(chance.sample(STEMS, 4))) for _ in range(QUERIES)]

    def asked(side: str) -> Callable[[], float]:
        left = iter(queries)

        def ask() -> float:
            query = next(left)
            return cpu(lambda: answers[side].append(
                sides[side].keyword(query, condition, LIMIT, FieldWeights())
            ))  # fmt: skip

        return ask

    for store in sides.values():
        store.keyword(queries[0], condition, 1, FieldWeights())  # what is loaded once
    taken = interleaved(QUERIES, {side: asked(side) for side in sides})
    same = [one == other for one, other in zip(answers["index"], answers["without"], strict=True)]
    for side, times in taken.items():
        yield Row(f"words, {name}, {side}", milliseconds(times), "ms CPU")
    yield Row(f"words, {name}, index / without", ratios(taken["index"], taken["without"]))
    yield Row(f"words, {name}, the same answer", [sum(same) / len(same)], "", "1")


def compared(sides: dict[str, SqliteStore], condition: Condition, name: str) -> Iterator[Row]:
    """What each side takes, and whether all of them say the same."""
    queries = [one.tobytes() for one in clustered(-1 % 2**32, QUERIES)]
    answers: dict[str, list[Any]] = {side: [] for side in sides}

    def asked(side: str) -> Callable[[], float]:
        left = iter(queries)

        def ask() -> float:
            codes._kernel.cache_clear()
            if side == "numpy":
                codes._kernel = lambda: None  # type: ignore[assignment]
            try:
                query = next(left)
                return cpu(lambda: answers[side].append(
                    sides[side].semantic(query, condition, LIMIT)
                ))  # fmt: skip
            finally:
                codes._kernel = KERNEL

        return ask

    for side, store in sides.items():
        store.semantic(queries[0], condition, 1)  # what is loaded once
        answers[side].clear()
    taken = interleaved(QUERIES, {side: asked(side) for side in sides})
    same = [one == other for one, other in zip(answers["index"], answers["without"], strict=True)]
    for side, times in taken.items():
        yield Row(f"{name}, {side}", milliseconds(times), "ms CPU")
    for side in taken:
        if side != "without":
            yield Row(f"{name}, {side} / without", ratios(taken[side], taken["without"]))
    yield Row(f"{name}, the same answer", [sum(same) / len(same)], "", "1")


KERNEL = codes._kernel


def measured(path: str) -> list[Row]:
    with closing(SqliteStore(path)) as store, closing(SqliteStore(path, index_after=0)) as plain:
        rows = built(store, path)
        sides = {"index": store, "without": plain}
        filters = {"all": EVERYTHING} | {
            f"{100 / every:g} %": Tagged((tag,)) for tag, every in TAGS.items()
        }
        for name, condition in filters.items():
            rows += by_words(sides, condition, name)
        if KERNEL() is not None:
            sides["numpy"] = store
        for name, condition in filters.items():
            rows += compared(sides, condition, name)
    return rows


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--home", help="where the base is, or is made and kept")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        path = str(Path(given.home or name) / "base.db")
        if not Path(path).exists():
            fill(path, given.chunks)
        report("vectors", measured(path), as_json=given.json)


if __name__ == "__main__":
    main()
