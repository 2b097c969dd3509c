"""The words of a base as it was: those of today's index that are as they were, and those of what
was replaced since. BM25 counts among these."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from knowbase.query.conditions import EVERYTHING, Condition, is_everything
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.bm25 import Population, idf, weighed
from knowbase.store.compile import Compiled
from knowbase.store.sqlite import scoring
from knowbase.store.sqlite.compile import SqliteCompiler, match_expression
from knowbase.text.analysis import Word, stems

if TYPE_CHECKING:
    from knowbase.store.sqlite.then_connections import PastConnections

ROUNDING = 1e-9  # more than another order of adding up is ever off by


def as_they_are(next_chunk: int, column: str = "rowid") -> str:
    """That an entry of the index of today is of what was said then."""
    return f"{column} < {next_chunk:d} AND {column} NOT IN (SELECT chunk FROM temp.was_stale)"


def matching(query: KeywordQuery, next_chunk: int) -> Compiled:
    """The query for the chunks that had any, or all, of the words."""
    wanted = match_expression(query)
    return Compiled(
        "SELECT rowid AS chunk FROM chunks_fts WHERE chunks_fts MATCH ?"
        f" AND {as_they_are(next_chunk, '+rowid')}"
        " UNION ALL SELECT p.chunk FROM past_fts f CROSS JOIN main.past_chunks p ON p.id = f.rowid"
        " CROSS JOIN temp.was_stale r ON r.chunk = p.chunk AND r.row = p.id"
        " WHERE past_fts MATCH ?",
        [wanted, wanted],
    )


@lru_cache(16)
def compiler(next_chunk: int) -> SqliteCompiler:
    return _PastCompiler(next_chunk)


class _PastCompiler(SqliteCompiler):
    def __init__(self, next_chunk: int) -> None:
        self._next_chunk = next_chunk

    def containing(self, word: Word) -> Compiled:
        having = matching(KeywordQuery((word,)), self._next_chunk)
        return Compiled(f"c.id IN ({having.sql})", having.values)


class Found(NamedTuple):
    """Chunks with how long they are, and how often they have each word."""

    lengths: dict[int, int]
    frequencies: list[dict[int, float]]


def scores(
    connections: "PastConnections",
    query: KeywordQuery,
    weights: FieldWeights,
    passing: Compiled,
    limit: int,
) -> dict[int, float]:
    """The scores of the best chunks that pass, and of some others."""
    words = [word for word, _ in query.weighed]
    past = _replaced(connections, words, weights, query.among)
    people = population(connections, query.among)
    counted = [_counted(connections, word, query.among) for word in words]
    having = [one.then + len(more) for one, more in zip(counted, past.frequencies, strict=True)]
    among = _among(connections, query.among)
    test = Compiled(passing.sql + among.sql.format("+rowid"), [*passing.values, *among.values])
    if query.match == "any" and is_everything(query.among):
        test = _candidates(connections, query, weights, (test, limit), (counted, having))
    now = scoring.tallied(connections.get(), "chunks_fts", words, weights, test)
    lengths = {**now.lengths, **past.lengths}
    frequencies = [
        {**one, **more} for one, more in zip(now.frequencies, past.frequencies, strict=True)
    ]
    return weighed(frequencies, lengths, people, query, having)


def _replaced(
    connections: "PastConnections", words: list[Word], weights: FieldWeights, among: Condition
) -> Found:
    """Of what was replaced since, all that has any of the words."""
    connection = connections.get()
    part = _among(connections, among)
    replaced = f"SELECT row FROM temp.was_stale WHERE row IS NOT NULL{part.sql.format('chunk')}"
    within = f" AND +rowid IN ({replaced})"
    found = scoring.tallied(connection, "past_fts", words, weights, Compiled(within, part.values))
    chunks: dict[int, int] = dict(
        connection.execute("SELECT row, chunk FROM temp.was_stale WHERE row IS NOT NULL").fetchall()  # type: ignore[arg-type]
    )
    return Found(
        {chunks[row]: length for row, length in found.lengths.items()},
        [{chunks[row]: often for row, often in one.items()} for one in found.frequencies],
    )


class _Counted(NamedTuple):
    """How many chunks have a word today, and how many of these are as they were."""

    now: int
    then: int


def _counted(connections: "PastConnections", word: Word, among: Condition) -> _Counted:
    if not stems(word.surface):
        return _Counted(0, 0)
    part = _among(connections, among)
    is_then = as_they_are(connections.next_chunk) + part.sql.format("rowid")
    row: Any = (
        connections.get()
        .execute(
            f"SELECT count(*), total({is_then}) FROM chunks_fts WHERE chunks_fts MATCH ?",
            (*part.values, match_expression(KeywordQuery((word,)))),
        )
        .fetchone()
    )
    return _Counted(int(row[0]), int(row[1]))


def _candidates(
    connections: "PastConnections",
    query: KeywordQuery,
    weights: FieldWeights,
    wanted: tuple[Compiled, int],
    counts: tuple[list[_Counted], list[int]],
) -> Compiled:
    """Those that may be among the best. FTS5 scores by what is there today, in no time; a score of
    then is that times something between two bounds, which are near each other."""
    connection = connections.get()
    passing, limit = wanted
    today, then = scoring.population(connection), population(connections)
    least, most = _bounds(today, then, counts)
    sql, given = scoring.statement_by_weight(query, weights, passing)
    number = 2 * limit
    while True:
        found: Any = connection.execute(
            f"{sql} ORDER BY score DESC, id LIMIT ?", (*given, number)
        ).fetchall()
        floor = found[limit - 1][1] * least / most if len(found) >= limit else 0.0
        if len(found) < number or found[-1][1] < floor:
            break
        number *= 4
    chunks = ",".join(str(chunk) for chunk, score in found if score >= floor)
    return Compiled(" AND +rowid IN (SELECT value FROM json_each(?))", [f"[{chunks}]"])


def _bounds(
    today: Population, then: Population, counts: tuple[list[_Counted], list[int]]
) -> tuple[float, float]:
    """How much more or less a word may count then: by how rare it was, and how long chunks were."""
    rarity = [
        idf(then.rows, number) / idf(today.rows, one.now)
        for one, number in zip(*counts, strict=True)
        if one.now
    ] or [1.0]
    length = then.average / today.average
    return min(rarity) * min(1.0, length) * (1 - ROUNDING), max(rarity) * max(1.0, length)


def _among(connections: "PastConnections", among: Condition) -> Compiled:
    if is_everything(among):
        return Compiled("", [])
    sql, values = compiler(connections.next_chunk).for_chunks(among)
    return Compiled(f" AND {{}} IN (SELECT c.id FROM chunks c WHERE {sql})", values)


def population(connections: "PastConnections", among: Condition = EVERYTHING) -> Population:
    """How many chunks there were in this part, and how many words they had together; known until
    somebody writes."""
    connection = connections.get()
    known = connections.population.get(among)
    if known is None:
        known = connections.population[among] = _population(connections, connection, among)
    return known


def _population(
    connections: "PastConnections", connection: apsw.Connection, among: Condition
) -> Population:
    """FTS5 knows the sums of all its rows."""
    part = _among(connections, among)
    past = _sizes(
        connection,
        "past_fts_docsize WHERE id IN (SELECT row FROM temp.was_stale"
        f" WHERE row IS NOT NULL{part.sql.format('chunk')})",
        part.values,
    )
    next_chunk = connections.next_chunk
    if not is_everything(among):
        test = f"{as_they_are(next_chunk, 'id')}{part.sql.format('id')}"
        now = _sizes(connection, f"chunks_fts_docsize WHERE {test}", part.values)
        return Population(now.rows + past.rows, now.length + past.length)
    everything = scoring.population(connection)
    other = _sizes(
        connection,
        f"chunks_fts_docsize WHERE id >= {next_chunk:d}"
        " OR id IN (SELECT chunk FROM temp.was_stale)",
    )
    return Population(
        everything.rows - other.rows + past.rows, everything.length - other.length + past.length
    )


def _sizes(connection: apsw.Connection, where: str, values: Any = ()) -> Population:
    rows: Any = connection.execute(f"SELECT sz FROM {where}", values)
    lengths = [scoring.length_of(size) for (size,) in rows]
    return Population(len(lengths), sum(lengths))


def having_terms(next_chunk: int) -> str:
    """The query for the words that chunks had, and which."""
    return (
        f"SELECT term, doc AS chunk FROM temp.places WHERE {as_they_are(next_chunk, 'doc')}"
        " UNION ALL SELECT p.term, c.chunk FROM temp.past_places p"
        " CROSS JOIN main.past_chunks c ON c.id = p.doc"
        " CROSS JOIN temp.was_stale r ON r.chunk = c.chunk AND r.row = c.id"
    )
