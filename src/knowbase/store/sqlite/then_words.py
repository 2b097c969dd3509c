"""The words of a base as it was: those of today's index that are as they were, and those of what
was replaced since. BM25 counts among these."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import apsw

from knowbase.query.conditions import EVERYTHING, Condition, is_everything
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.bm25 import Population, weighed
from knowbase.store.compile import Compiled
from knowbase.store.sqlite import scoring
from knowbase.store.sqlite.compile import SqliteCompiler, match_expression
from knowbase.text.analysis import Word

if TYPE_CHECKING:
    from knowbase.store.sqlite.as_of import PastConnections

Populations: TypeAlias = "dict[Condition, Population]"


def as_they_are(next_chunk: int, column: str = "rowid") -> str:
    """That an entry of the index of today is of what was said then."""
    return f"{column} < {next_chunk:d} AND {column} NOT IN (SELECT chunk FROM temp.was_stale)"


def matching(query: KeywordQuery, next_chunk: int) -> Compiled:
    """The query for the chunks that had any, or all, of the words."""
    wanted = match_expression(query)
    return Compiled(
        "SELECT rowid AS chunk FROM chunks_fts WHERE chunks_fts MATCH ?"
        f" AND {as_they_are(next_chunk, '+rowid')}"
        " UNION ALL SELECT r.chunk FROM past_fts f CROSS JOIN temp.was_replaced r"
        " ON r.row = f.rowid WHERE past_fts MATCH ?",
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


def scores(
    connections: "PastConnections", query: KeywordQuery, weights: FieldWeights
) -> dict[int, float]:
    """The score of every chunk of the part that had any, or all, of the words."""
    connection = connections.get()
    words = [word for word, _ in query.weighed]
    among = _among(connections, query.among)
    test = f" AND {as_they_are(connections.next_chunk, '+rowid')}"
    now = scoring.tallied(
        connection,
        "chunks_fts",
        words,
        weights,
        Compiled(test + among.sql.format("+rowid"), among.values),
    )
    lengths, frequencies = dict(now.lengths), [dict(one) for one in now.frequencies]
    inner = among.sql.format("chunk")
    past = scoring.tallied(
        connection,
        "past_fts",
        words,
        weights,
        Compiled(
            f" AND +rowid IN (SELECT row FROM temp.was_replaced WHERE 1{inner})", among.values
        ),
    )
    chunks = _chunks_of(connection)
    lengths |= {chunks[row]: length for row, length in past.lengths.items()}
    for own, more in zip(frequencies, past.frequencies, strict=True):
        own |= {chunks[row]: number for row, number in more.items()}
    return weighed(frequencies, lengths, population(connections, query.among), query)


def _among(connections: "PastConnections", among: Condition) -> Compiled:
    if is_everything(among):
        return Compiled("", [])
    sql, values = compiler(connections.next_chunk).for_chunks(among)
    return Compiled(f" AND {{}} IN (SELECT c.id FROM chunks c WHERE {sql})", values)


def _chunks_of(connection: apsw.Connection) -> dict[int, int]:
    found: Any = connection.execute("SELECT row, chunk FROM temp.was_replaced")
    return dict(found.fetchall())


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
        "past_fts_docsize WHERE id IN (SELECT row FROM temp.was_replaced"
        f" WHERE 1{part.sql.format('chunk')})",
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


def open_vocabulary(connection: apsw.Connection) -> None:
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.places USING"
        " fts5vocab(main, chunks_fts, instance);"
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.past_places USING"
        " fts5vocab(main, past_fts, instance)"
    )


def having_terms(next_chunk: int) -> str:
    """The query for the words that chunks had, and which."""
    return (
        f"SELECT term, doc AS chunk FROM temp.places WHERE {as_they_are(next_chunk, 'doc')}"
        " UNION ALL SELECT p.term, r.chunk FROM temp.past_places p"
        " JOIN temp.was_replaced r ON r.row = p.doc"
    )
