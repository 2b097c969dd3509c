"""A base over 1, 2 and more workers of a Citus cluster, beside the same base on one server.

    python bench/distributed.py postgresql://postgres@coordinator/one postgresql://postgres@coordinator/many

The first URL is a database without Citus, the second one of the coordinator, which knows its
workers. Both are filled with the same rows, unless they are from a run before: vectors in clusters,
and words as frequent as in prose, or with --texts, passages of these files. At first all workers
have shards; then one after the other is emptied, as one would do by hand. Asked are the legs of a
search by themselves and both together, with and without a filter that one document in a hundred
passes; every answer is compared with that of the one server when it compares every vector. Times
are CPU time of this process and of all servers together, as far as these run on this machine and
do nothing else, the median of the questions; and what a client waited. With --words, the blocks of
words, which lie on the coordinator, are spread over all workers by a column, and brought back: what
that would cost a search by words; and the blocks of some questions are scored by the one server, in
SQL, as a shard would have to. With --keyword, words alone are asked for, and the vectors have no
index: building it of a million takes longer than all else.
"""

import argparse
import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from knowbase.query.conditions import EVERYTHING, Condition, Tagged
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.postgres import PostgresStore, create, retrieval
from knowbase.store.postgres.words import ids_of
from knowbase.text.analysis import Word, stems
from knowbase.values.documents import Candidate
from measure import Row, milliseconds, percentile, report
from postgres_size import BACKGROUND, MODEL, Made
from postgres_size import filled as fill
from prose import Prose

DEPTH, TOP, AT_ONCE, SOME = 125, 10, 4, 8
LEGS = ("keyword", "semantic", "hybrid")
FILTERS: dict[str, Condition] = {"all": EVERYTHING, "1 %": Tagged(("hundredth",))}


class Question(NamedTuple):
    words: KeywordQuery
    vector: bytes


def questions(made: Made, number: int) -> list[Question]:
    three = made.questions(number, 3)
    return [
        Question(KeywordQuery(tuple(map(Word, words))), vector)
        for words, vector in zip(three, made.vectors(number), strict=True)
    ]


def filled(url: str, chunks: int, rows: Callable[[], Made], *, index: bool = True) -> PostgresStore:
    """The base at that place, with so many chunks."""
    store = create(f"{url}#bench-{chunks}")
    if store.counts().chunks < chunks:
        store.use_model(MODEL)
        fill(store, chunks, time.process_time, rows(), index=index)
    return store


def postmasters(url: str) -> list[int]:
    """The servers of the cluster, as processes of this machine."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(
            "SELECT split_part(result, E'\\n', 1)::int"
            " FROM run_command_on_all_nodes('SELECT pg_read_file(''postmaster.pid'')')"
        ).fetchall()
        return [pid for (pid,) in found]


def _parent(pid: int) -> int:
    return int(Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[1])


def spent(servers: list[int]) -> float:
    """Seconds on a core of the servers' processes that answer, those that have ended included."""
    total, tick = 0.0, os.sysconf("SC_CLK_TCK")
    for server in servers:
        ended = Path("/proc", str(server), "stat").read_text().rpartition(")")[2].split()
        total += (int(ended[13]) + int(ended[14])) / tick
    for name in filter(str.isdigit, os.listdir("/proc")):
        process = Path("/proc", name)
        try:
            if _parent(int(name)) in servers and _answers((process / "cmdline").read_bytes()):
                total += int((process / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue  # it has just ended
    return total


def _answers(command: bytes) -> bool:
    return not any(one in command for one in (*BACKGROUND, b"Citus Maintenance"))


class Cost(NamedTuple):
    """Of one search, in seconds."""

    cpu: float  # of this process and of the servers
    waited: float


def cost_of(work: Callable[[], object], servers: list[int]) -> Cost:
    before, ours, started = spent(servers), time.process_time(), time.perf_counter()
    work()
    waited, own = time.perf_counter() - started, time.process_time() - ours
    return Cost(own + spent(servers) - before, waited)


def legs(store: PostgresStore, condition: Condition) -> dict[str, Callable[[Question], Any]]:
    def keyword(asked: Question) -> list[Candidate]:
        return store.keyword(asked.words, condition, DEPTH, FieldWeights())

    def semantic(asked: Question) -> list[Candidate]:
        return store.semantic(asked.vector, condition, DEPTH)

    def hybrid(asked: Question) -> tuple[list[Candidate], list[Candidate]]:
        return keyword(asked), semantic(asked)

    return {"keyword": keyword, "semantic": semantic, "hybrid": hybrid}


def measured(
    label: str,
    store: PostgresStore,
    asked: list[Question],
    servers: list[int],
    which: Collection[str] = LEGS,
) -> Iterator[Row]:
    for name, condition in FILTERS.items():
        for leg, work in legs(store, condition).items():
            if leg not in which:
                continue
            work(asked[0])
            costs = [cost_of(partial(work, one), servers) for one in asked]
            cpu = milliseconds([one.cpu for one in costs])
            waited = milliseconds([one.waited for one in costs])
            started = time.perf_counter()
            with ThreadPoolExecutor(AT_ONCE) as clients:
                list(clients.map(work, asked))
            rate = len(asked) / (time.perf_counter() - started)
            title = f"{label}, {name}: {leg}"
            yield Row(f"{title} CPU of a search", [percentile(cpu, 50)], "ms")
            yield Row(f"{title} p95 of waiting", [percentile(waited, 95)], "ms")
            yield Row(f"{title} {AT_ONCE} clients", [rate], "a second")


class Exact(NamedTuple):
    """The answers of the one server when no index proposes anything."""

    answers: dict[tuple[str, str], list[list[Candidate]]]

    @classmethod
    def of(cls, one: PostgresStore, asked: list[Question], which: Collection[str]) -> "Exact":
        by_index, retrieval.EXACT = retrieval.EXACT, 10**9
        answers = {
            (name, leg): [legs(one, condition)[leg](q)[:TOP] for q in asked]
            for name, condition in FILTERS.items()
            for leg in which
            if leg != "hybrid"
        }
        retrieval.EXACT = by_index
        return cls(answers)

    def compared(self, label: str, store: PostgresStore, asked: list[Question]) -> Iterator[Row]:
        """How many answers are the same: hits, order and scores; and how many of the hits."""
        for (name, leg), expected in self.answers.items():
            work = legs(store, FILTERS[name])[leg]
            pairs = [(work(q)[:TOP], there) for q, there in zip(asked, expected, strict=True)]
            same = sum(ours == there for ours, there in pairs)
            hits = sum(len(set(ours) & set(there)) for ours, there in pairs)
            of = sum(len(there) for _, there in pairs)
            yield Row(f"{label}, {name}: {leg} answers the same", [same], f"of {len(asked)}")
            yield Row(f"{label}, {name}: {leg} hits the same", [hits], f"of {of}")


def spread(url: str, workers: int) -> None:
    """Let so many workers have shards, and move these to where they belong then."""
    with psycopg.connect(url, autocommit=True) as connection:
        known = connection.execute(
            "SELECT nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 ORDER BY groupid"
        ).fetchall()
        for number, (host, port) in enumerate(known):
            connection.execute(
                "SELECT citus_set_node_property(%s, %s, 'shouldhaveshards', %s)",
                (host, port, number < workers),
            )
        connection.execute("SELECT rebalance_table_shards(shard_transfer_mode => 'block_writes')")


@contextmanager
def words_by(url: str, column: str) -> Iterator[None]:
    """The blocks of words on the workers for a while."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO knowbase, public")
        connection.execute(
            "SELECT create_distributed_table('word_blocks', %s, colocate_with => 'none')",
            (column,),
        )
        try:
            yield
        finally:
            connection.execute("SELECT undistribute_table('word_blocks')")


SCORED = """
    SELECT chunk, sum(2.2 * often / (often + 1.2 * (0.25 + 0.75 * length / 90.0))) AS score
    FROM word_blocks b, LATERAL (
        SELECT ('x' || encode(substr(b.narrow, n * 8 + 1, 8), 'hex'))::bit(64)::bigint AS record
        FROM generate_series(0, octet_length(b.narrow) / 8 - 1) AS n OFFSET 0
    ) AS posting, LATERAL (
        SELECT record >> 32 AS chunk, (record >> 16) & 65535 AS length, (record >> 8) & 255 AS often
        OFFSET 0
    ) AS fields
    WHERE b.base_id = %s AND b.word = ANY(%s)
    GROUP BY chunk ORDER BY score DESC, chunk LIMIT %s"""


def scored_in_sql(
    one: PostgresStore, asked: Collection[Question], servers: list[int]
) -> Iterator[Row]:
    """What a search by words takes when the server scores: at least, for here the text alone
    counts, and every word as much."""
    postings, used = [], {"in SQL": 0.0, "by the client": 0.0}
    for question in asked:
        keys = {stem for word in question.words.words for stem in stems(str(word[0]))}

        def score(connection: psycopg.Connection) -> None:
            found = ids_of(connection, one._base, keys).values()  # noqa: B023
            postings.append(sum(chunks for _, chunks in found))
            given = (one._base, [word for word, _ in found], DEPTH)
            connection.execute(SCORED, given).fetchall()

        ours = legs(one, EVERYTHING)["keyword"]
        for name, work in (
            ("in SQL", lambda: one._connections.run(score)),
            ("by the client", lambda: ours(question)),  # noqa: B023
        ):
            used[name] += cost_of(work, servers).cpu
    yield Row("words: postings of a search", [sum(postings) / len(asked)])
    for name, seconds in used.items():
        yield Row(f"words: scored {name}, CPU of a search", [seconds / len(asked) * 1000], "ms")


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("one", help="a database on one server")
    parser.add_argument("many", help="a database of the coordinator")
    parser.add_argument("--chunks", type=int, default=30_000)
    parser.add_argument("--queries", type=int, default=40, help="of each kind (40)")
    parser.add_argument("--workers", type=int, default=3, help="at most (3)")
    parser.add_argument("--words", action="store_true", help="spread the blocks of words, too")
    parser.add_argument("--texts", nargs="+", type=Path, metavar="FOLDER", help="of real text")
    parser.add_argument("--keyword", action="store_true", help="ask for words alone")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    which = LEGS[:1] if given.keyword else LEGS
    servers = postmasters(given.many)
    made = partial(Prose, given.texts) if given.texts else Made
    one = filled(given.one, given.chunks, made, index=not given.keyword)
    asked = questions(made(), given.queries)
    exact = Exact.of(one, asked, which)
    rows = list(measured("one server", one, asked, servers, which))
    rows += exact.compared("one server", one, asked)
    spread(given.many, given.workers)
    store = filled(given.many, given.chunks, made, index=not given.keyword)
    for workers in range(given.workers, 0, -1):
        spread(given.many, workers)
        label = f"{workers} worker{'s' * (workers > 1)}"
        rows += measured(label, store, asked, servers, which)
        rows += exact.compared(label, store, asked)
        if given.words and workers == given.workers:
            for column in ("segment", "word"):
                with words_by(given.many, column):
                    rows += measured(f"words by {column}", store, asked, servers, ("keyword",))
            rows += scored_in_sql(one, asked[:SOME], servers)
    for base in (one, store):
        base.close()
    report("distributed", rows, as_json=given.json)


if __name__ == "__main__":
    main()
