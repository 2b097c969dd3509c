"""Warm searches, on a base of 1,000 documents with several thousand chunks.

`Base.search` in each mode, with and without a tag that one in ten or one in a hundred
documents have: the CPU time of 200 different queries, the query's embedding included. Against
it, SQL written by hand for FTS5 and sqlite-vec: a plain apsw connection to the same file, its
vectors in a table of sqlite-vec in memory, the same MATCH expression and the same vector, the
embedding left out on both sides. The SQL fuses by places and joins, and returns title, heading
and text; it makes no snippets. So what it is compared with is the profile `kb`, which does the
same; times are those of the default.

"Part" is where a hybrid search spends its time.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import apsw
import sqlite_vec

import corpus
from corpus import Clustered, Shape
from knowbase.base import Base
from knowbase.embed.granite import Granite
from knowbase.query import words
from knowbase.search import present as presenting
from knowbase.search import rank as ranking
from knowbase.search import search as searching
from knowbase.search.request import MODES, SearchRequest
from knowbase.store.halves import whole
from knowbase.store.sqlite import SqliteStore
from knowbase.store.sqlite.compile import match_expression
from knowbase.values.vectors import Vector
from measure import (
    Row,
    arguments,
    cpu,
    interleaved,
    milliseconds,
    percentile,
    report,
)

DOCUMENTS, SHAPE = 1000, Shape(sections=5, words=90)
QUERIES = 200
TOP, DEPTH = 10, 30

KEYWORD = """
SELECT id, row_number() OVER (ORDER BY score) AS place FROM (
    SELECT rowid AS id, bm25(chunks_fts) AS score FROM chunks_fts
    WHERE chunks_fts MATCH :match {and_word_tagged} ORDER BY score LIMIT :depth)"""
SEMANTIC = """
SELECT chunk_id AS id, row_number() OVER (ORDER BY distance) AS place FROM temp.nearest
WHERE embedding MATCH :vector AND k = :depth {and_vector_tagged}"""
HITS = """
SELECT d.code, c.slug, d.title, d.path, c.heading, c.line, c.text, score FROM (
    SELECT id, sum(1.0 / (60 + place)) AS score FROM ({legs})
    GROUP BY id ORDER BY score DESC LIMIT :top) fused
CROSS JOIN chunks c ON c.id = fused.id JOIN documents d ON d.seq = c.document
ORDER BY score DESC"""
LEGS = {
    "hybrid": f"SELECT * FROM ({KEYWORD}) UNION ALL SELECT * FROM ({SEMANTIC})",
    "keyword": KEYWORD,
    "semantic": SEMANTIC,
}
TAGGED = """
IN (SELECT c.id FROM tags t JOIN chunks c ON c.document = t.document WHERE t.name = :tag)"""
# The + keeps FTS5 from running the whole match again for each of the ids.
AND_TAGGED = {
    "and_word_tagged": "AND +rowid" + TAGGED,
    "and_vector_tagged": "AND chunk_id" + TAGGED,
}

PARTS: tuple[tuple[Any, str, str], ...] = (
    (searching, "understand", "understand"),
    (Granite, "embed_query", "embed"),
    (SqliteStore, "keyword", "keyword"),
    (SqliteStore, "semantic", "semantic"),
    (SqliteStore, "passages", "passages"),
    (ranking, "rank", "rank"),
    (presenting, "snippet", "snippets"),
)
LABELS = tuple(label for _, _, label in PARTS)


class Asked(NamedTuple):
    """A query, and what the SQL needs to know of it."""

    text: str
    match: str
    vector: Vector


class Remembering:
    """The packaged model, having embedded the queries before."""

    def __init__(self, granite: Granite, asked: Sequence[Asked]) -> None:
        self.model = granite.model
        self.max_tokens = granite.max_tokens
        self.token_spans = granite.token_spans
        self.embed_documents = granite.embed_documents
        self.embed_query = {one.text: one.vector for one in asked}.__getitem__


class Sides(NamedTuple):
    """Three ways to the same documents."""

    base: Base
    remembering: Base
    sql: apsw.Connection


class Case(NamedTuple):
    """One kind of search."""

    mode: str
    tag: str | None = None

    def search(self, base: Base, asked: Asked, profile: str | None = None) -> list[str]:
        """Its hits by the API, as sections."""
        request = SearchRequest(
            asked.text, tags=(self.tag,) if self.tag else (), mode=self.mode, top=TOP,
            profile=profile,
        )  # fmt: skip
        return [hit.section for hit in base.search(request).hits]

    def like_sql(self, base: Base, asked: Asked) -> list[str]:
        """Its hits by the API, ranked as the SQL does."""
        return self.search(base, asked, "kb")

    def select(self, connection: apsw.Connection, asked: Asked) -> list[str]:
        """Its hits by hand, as sections."""
        values = {
            "match": asked.match, "vector": asked.vector, "tag": self.tag,
            "top": TOP, "depth": DEPTH if self.mode == "hybrid" else TOP,
        }  # fmt: skip
        found = connection.execute(self._sql(), values).fetchall()
        return [f"{row[0]}:{row[1]}" for row in found]

    def _sql(self) -> str:
        tagged = AND_TAGGED if self.tag else dict.fromkeys(AND_TAGGED, "")
        return HITS.format(legs=LEGS[self.mode]).format(**tagged)


CASES = [Case(mode, tag) for tag in (None, *corpus.TAGS) for mode in MODES]


def asked_of(granite: Granite, number: int = QUERIES) -> list[Asked]:
    """The queries, with what `Base.search` makes of them."""
    return [
        Asked(text, match_expression(words.keyword_query(text)), granite.embed_query(text))
        for text in corpus.queries(number)
    ]


def plain_connection(path: str) -> apsw.Connection:
    """What someone without knowbase would open, with a table of sqlite-vec in memory."""
    connection = apsw.Connection(path)
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    dimensions: Any = connection.execute("SELECT dimensions FROM models WHERE active").get
    connection.execute(
        "PRAGMA temp_store = MEMORY; CREATE VIRTUAL TABLE temp.nearest USING vec0 (chunk_id"
        f" INTEGER PRIMARY KEY, embedding float[{dimensions:d}] distance_metric=cosine)"
    )
    found: Any = connection.execute("SELECT chunk_id, embedding FROM chunks_vec_1").fetchall()
    with connection:
        connection.executemany(
            "INSERT INTO temp.nearest VALUES (?, ?)",
            [(chunk, whole(half)) for chunk, half in found],
        )
    return connection


def compared(sides: Sides, asked: Sequence[Asked], case: Case, rounds: int) -> list[Row]:
    """One kind of search, by the API and by hand."""
    many = [*asked] * rounds
    tasks = {
        "ready": _each(many, partial(case.like_sql, sides.remembering)),
        "sql": _each(many, partial(case.select, sides.sql)),
        "whole": _each(many, partial(case.search, sides.base)),
    }
    taken = interleaved(len(many), tasks)
    times = milliseconds(_median_of_rounds(taken["whole"], len(asked)))
    ratios = _ratio_by_round(taken["ready"], taken["sql"], len(asked))
    name = f"{case.mode}, {case.tag or 'all'}"
    goal = "under 2" if case == Case("hybrid") else ""
    return [
        Row(f"{name}: p50", [percentile(times, 50)], "ms"),
        Row(f"{name}: p95", [percentile(times, 95)], "ms", "under 100 ms"),
        Row(f"{name}: against SQL", ratios, "", goal),
    ]


def _each(asked: Sequence[Asked], ask: Callable[[Asked], object]) -> Callable[[], float]:
    """The CPU seconds that the next query takes, at each call."""
    left = iter(asked)
    return lambda: cpu(partial(ask, next(left)))


def _median_of_rounds(taken: Sequence[float], queries: int) -> list[float]:
    return [median(taken[query::queries]) for query in range(queries)]


def _ratio_by_round(ours: Sequence[float], theirs: Sequence[float], queries: int) -> list[float]:
    starts = range(0, len(ours), queries)
    return [
        median(ours[start : start + queries]) / median(theirs[start : start + queries])
        for start in starts
    ]


def agreement(sides: Sides, asked: Sequence[Asked]) -> Row:
    """How many of the hits both ways find: near all, or they are not doing the same."""
    case = Case("hybrid")
    pairs = [(case.like_sql(sides.base, one), case.select(sides.sql, one)) for one in asked]
    shared = sum(len({*ours} & {*theirs}) for ours, theirs in pairs)
    return Row("hits in common with SQL", [shared / sum(len(ours) for ours, _ in pairs)])


def parts_of_a_search(base: Base, asked: Sequence[Asked]) -> list[Row]:
    """The median CPU time of each part of a hybrid search."""
    spent: list[dict[str, float]] = []
    with ExitStack() as stack:
        for owner, name, label in PARTS:
            watched = _watched(getattr(owner, name), label, spent)
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, watched)
        for one in asked:
            spent.append(dict.fromkeys(LABELS, 0.0))
            whole = cpu(partial(Case("hybrid").search, base, one))
            spent[-1]["rest"] = whole - sum(spent[-1].values())
    return [
        Row(f"part: {label}", [median(one[label] for one in spent) * 1000], "ms")
        for label in spent[0]
    ]


def _watched(
    function: Callable[..., Any], label: str, spent: list[dict[str, float]]
) -> Callable[..., Any]:
    """The same function, adding its time to the last entry of `spent`."""

    def watched(*given: Any, **named: Any) -> Any:
        started = process_time()
        try:
            return function(*given, **named)
        finally:
            spent[-1][label] += process_time() - started

    return watched


def main() -> None:
    given = arguments(__doc__, rounds=3)
    granite = Granite()
    asked = asked_of(granite)
    with TemporaryDirectory() as name, ExitStack() as stack:
        tree = corpus.write_tree(Path(name, "articles"), DOCUMENTS, SHAPE)
        with corpus.new_base(Path(name), Clustered(granite)) as base:
            base.add([str(tree)])
            path, chunks = base.path, base.status().chunks
        sides = Sides(
            stack.enter_context(Base(path, embedder=granite)),
            stack.enter_context(Base(path, embedder=Remembering(granite, asked))),
            stack.enter_context(plain_connection(path)),
        )
        rows = [Row("documents", [DOCUMENTS]), Row("chunks", [chunks]), agreement(sides, asked)]
        for case in CASES:
            rows += compared(sides, asked, case, given.rounds)
        rows += parts_of_a_search(sides.base, asked)
    report("warm", rows, as_json=given.json)


if __name__ == "__main__":
    main()
