"""BM25 counted among a part of the base.

FTS5's own counts every chunk: from such a score, somebody who may see one project alone could read
how many chunks of others have a word.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import apsw

from knowbase.query.conditions import Condition
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.bm25 import Population, weighed
from knowbase.store.compile import Compiled
from knowbase.store.sqlite.compile import by_column, compile_for_chunks, expression
from knowbase.text.analysis import Word, stems


def scores_among(
    connection: apsw.Connection, query: KeywordQuery, weights: FieldWeights
) -> dict[int, float]:
    """The score of every chunk of the part that has any, or all, of the words."""
    sql, values = compile_for_chunks(query.among)
    part = f"(SELECT c.id FROM chunks c WHERE {sql})"
    words = [word for word, _ in query.weighed]
    found = tallied(
        connection, "chunks_fts", words, weights, Compiled(f" AND +rowid IN {part}", values)
    )
    tally = _tally_of(connection)
    population = tally.population(connection, part, values)
    tally.note(query)
    return weighed(found.frequencies, found.lengths, population, query)


def phrases(connection: apsw.Connection, word: Word, weights: FieldWeights) -> dict[int, float]:
    """How often each row has the words of one in a row, weighed by field."""
    return tallied(connection, "chunks_fts", [word], weights).frequencies[0]


class Tallied(NamedTuple):
    """How long each row is, and how often it has each of some words, weighed by field."""

    lengths: dict[int, int]
    frequencies: list[dict[int, float]]


def tallied(
    connection: apsw.Connection,
    table: str,
    words: Sequence[Word],
    weights: FieldWeights,
    among: Compiled = Compiled("", []),  # noqa: B008 - a value, never changed
) -> Tallied:
    """Of the rows of a text index that have any of the words."""
    found = counted(connection, table, words, among)
    title, heading, text, terms = weights
    return Tallied(
        found.lengths,
        [
            {
                row: title * a + heading * b + text * c + terms * d
                for row, (a, b, c, d) in one.items()
            }
            for one in found.counts
        ],
    )


class Counted(NamedTuple):
    """How long each row is, and how often it has each of some words in each field."""

    lengths: dict[int, int]
    counts: "list[dict[int, tuple[int, int, int, int]]]"


def counted(
    connection: apsw.Connection,
    table: str,
    words: Sequence[Word],
    among: Compiled = Compiled("", []),  # noqa: B008 - a value, never changed
) -> Counted:
    """Of the rows of a text index that have any of the words."""
    tally = _tally_of(connection)
    tally.begin(len(words))
    connection.execute(
        f"SELECT tally({table}) FROM {table} WHERE {table} MATCH ?{among.sql}",
        (expression(words), *among.values),
    ).fetchall()
    return Counted(tally.lengths, tally.counts)


def counted_among(
    connection: apsw.Connection, words: Sequence[Word], among: Condition
) -> Frequencies:
    """How many chunks of the part have each word: as it was counted for the scores, if the last
    ones were of these words."""
    tally = _tally_of(connection)
    sql, values = compile_for_chunks(among)
    population = tally.population(connection, f"(SELECT c.id FROM chunks c WHERE {sql})", values)
    wanted = tuple(word for word in words if stems(word.surface))
    if not tally.having.keys() >= set(wanted):
        scores_among(connection, KeywordQuery(wanted, among=among), FieldWeights())
    return Frequencies(population.rows, tuple(tally.having.get(word, 0) for word in words))


def population(connection: apsw.Connection) -> Population:
    """How many rows FTS5 has, and how long they are together: the first of its records."""
    held: Any = connection.execute("SELECT block FROM chunks_fts_data WHERE id = 1").get
    numbers, number = [], 0
    for byte in held or b"":
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            numbers.append(number)
            number = 0
    return Population(numbers[0], sum(numbers[1:])) if numbers else Population(0, 0)


def _tally_of(connection: apsw.Connection) -> "_Tally":
    tally = _tallies.get(connection)
    if tally is None:
        tally = _tallies[connection] = _Tally()
        connection.register_fts5_function("tally", tally.count)
    return tally


def statement_by_weight(query: KeywordQuery, weights: FieldWeights, passing: Compiled) -> Compiled:
    """Rows and scores where words count differently: FTS5 scores a whole query alike, so each
    weight is one of its own, and a row's score their sum."""
    groups: dict[float, list[Word]] = {}
    for word, weight in query.weighed:
        groups.setdefault(weight, []).append(word)
    part = (
        "SELECT rowid AS id, -bm25(chunks_fts, ?, ?, ?, ?) * ? AS score FROM chunks_fts"
        f" WHERE chunks_fts MATCH ?{passing.sql}"
    )
    values: list[str | int | float] = []
    for weight, words in groups.items():
        values += [*by_column(weights), weight, expression(words), *passing.values]
    if len(groups) == 1:  # FTS5 scores within no other query that could be one with its own
        return Compiled(part, values)
    parts = " UNION ALL ".join([part] * len(groups))
    return Compiled(f"SELECT id, sum(score) AS score FROM ({parts}) GROUP BY id", values)


class _Tally:
    """What a connection counts: how long each row is, and how often it has each phrase."""

    def __init__(self) -> None:
        self._known: tuple[Any, Population] | None = None
        self.lengths: dict[int, int] = {}
        self.counts: list[dict[int, tuple[int, int, int, int]]] = []
        self.having: dict[Word, int] = {}  # rows of the population that is known

    def begin(self, phrases: int) -> None:
        self.lengths, self.counts = {}, [{} for _ in range(phrases)]

    def count(self, api: apsw.FTS5ExtensionApi, *_: Any) -> None:
        row = api.rowid
        self.lengths[row] = api.column_size(-1)
        for phrase, found in enumerate(self.counts):
            c, a, b, d = map(len, api.phrase_locations(phrase))
            if a or b or c or d:
                found[row] = a, b, c, d

    def population(self, connection: apsw.Connection, part: str, values: Any) -> Population:
        """The last one is known until something is written."""
        written = connection.pragma("data_version"), connection.total_changes()
        asked = (*written, part, *values)
        if self._known is None or self._known[0] != asked:
            rows: Any = connection.execute(
                f"SELECT sz FROM chunks_fts_docsize WHERE id IN {part}", values
            )
            lengths = [length_of(size) for (size,) in rows]
            self._known = asked, Population(len(lengths), sum(lengths))
            self.having = {}
        return self._known[1]

    def note(self, query: KeywordQuery) -> None:
        """How many rows have each word of the query that was counted."""
        words = [word for word, _ in query.weighed]
        self.having = dict(zip(words, map(len, self.counts), strict=True))


_tallies: WeakKeyDictionary[apsw.Connection, _Tally] = WeakKeyDictionary()


def length_of(size: bytes) -> int:
    """The words of a row: FTS5 keeps those of each field as SQLite's numbers of variable length."""
    if size.isascii():  # each is one byte
        return sum(size)
    total = number = 0
    for byte in size:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            total, number = total + number, 0
    return total
