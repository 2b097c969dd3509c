"""BM25 counted among a part of the base.

FTS5's own counts every chunk: from such a score, somebody who may see one project alone could read
how many chunks of others have a word.
"""

from typing import Any
from weakref import WeakSet

import apsw

from knowbase.query.conditions import Condition
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.bm25 import Population, weighed
from knowbase.store.sqlite.compile import compile_for_chunks, match_expression

_FUNCTION = "occurrences"
_prepared: WeakSet[apsw.Connection] = WeakSet()


def scores_among(
    connection: apsw.Connection, query: KeywordQuery, weights: FieldWeights, among: Condition
) -> dict[int, float]:
    """The score of every chunk of the part that has any, or all, of the words."""
    if connection not in _prepared:
        connection.register_fts5_function(_FUNCTION, _occurrences)
        _prepared.add(connection)
    sql, values = compile_for_chunks(among)
    part = f"(SELECT c.id FROM chunks c WHERE {sql})"
    found: Any = connection.execute(
        f"SELECT rowid, {_FUNCTION}(chunks_fts, ?, ?, ?, ?) FROM chunks_fts"
        f" WHERE chunks_fts MATCH ? AND +rowid IN {part}",
        (*weights, match_expression(query._replace(match="any")), *values),
    )
    lengths: dict[int, int] = {}
    frequencies: list[dict[int, float]] = [{} for _ in query.words]
    for chunk, counted in found:
        length, *numbers = counted.split(" ")
        lengths[chunk] = int(length)
        for word, number in zip(frequencies, numbers, strict=True):
            if number != "0":
                word[chunk] = float(number)
    sizes: Any = connection.execute(f"SELECT sz FROM chunks_fts_docsize WHERE id IN {part}", values)
    totals = [_length(size) for (size,) in sizes]
    population = Population(len(totals), sum(totals))
    return weighed(frequencies, lengths, population, query.match)


def _occurrences(api: apsw.FTS5ExtensionApi, *weights: Any) -> str:
    """The length of a row, and how often it has each phrase, by the weights of its fields."""
    counts = []
    for phrase in range(api.phrase_count):
        places = api.phrase_locations(phrase)
        times = sum(w * len(field) for w, field in zip(weights, places, strict=True) if field)
        counts.append(str(times) if any(places) else "0")
    return " ".join([str(api.column_size(-1)), *counts])


def _length(size: bytes) -> int:
    """The words of a row: FTS5 keeps those of each field as SQLite's numbers of variable length."""
    total = number = 0
    for byte in size:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            total, number = total + number, 0
    return total
