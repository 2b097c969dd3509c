"""The words of chunks: which there are, where they stand, and how often."""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeAlias

from psycopg import Connection
from psycopg.sql import SQL

from knowbase.store.bm25 import occurrences
from knowbase.store.postgres import gathering
from knowbase.store.postgres.bulk import numbers, texts
from knowbase.store.postgres.cluster import is_distributed
from knowbase.text.analysis import Word, stems

Counts: TypeAlias = tuple[int, int, int, int]
"""How often something stands in title, heading, text and terms."""

Matches: TypeAlias = dict[int, tuple[int, Counts]]
"""For each chunk that has it: the chunk's length, and how often it stands where."""

LAST = "\U0010ffff"  # sorts after every word
MOST = 2**15 - 1  # times that a word is counted in a field
LONGEST = 200  # characters of a stem that are kept; an index key has a limit


def key_of(stem: str) -> str:
    """A stem as it is stored: a very long one by its start and its hash."""
    stem = stem.replace("\0", "")
    if len(stem) <= LONGEST:
        return stem
    return stem[:LONGEST] + hashlib.sha256(stem.encode()).hexdigest()


def counted(fields: Sequence[str]) -> tuple[int, dict[str, Counts]]:
    """The number of words in the four fields of a chunk, and how often each stands where."""
    found = [stems(field) for field in fields]
    title, heading, text, terms = map(_by_key, found)
    counts: dict[str, Counts] = {stem: (0, 0, number, 0) for stem, number in text.items()}
    for stem in {*title, *heading, *terms}:  # few, beside those of the text
        counts[stem] = _four([one.get(stem, 0) for one in (title, heading, text, terms)])
    return sum(map(len, found)), counts


def _by_key(found: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for stem, number in Counter(found).items():
        key = key_of(stem)
        counts[key] = min(counts.get(key, 0) + number, MOST)
    return counts


def _four(numbers: Sequence[int]) -> Counts:
    title, heading, text, terms = numbers
    return title, heading, text, terms


def ids_of(connection: Connection, base: int, found: Collection[str]) -> dict[str, tuple[int, int]]:
    """For each stem that is known, by its key: its id, and how many chunks have it."""
    rows = connection.execute(
        "SELECT stem, id, chunks FROM words WHERE base_id = %s AND stem = ANY(%s::text[])",
        (base, texts(map(key_of, found))),
    )
    return {stem: (word, chunks) for stem, word, chunks in rows}


def matches_of(connection: Connection, base: int, word: Word) -> Matches:
    """The chunks that have a word, a prefix, or several words in a row."""
    phrase = stems(word.surface)
    if not phrase:
        return {}
    if len(phrase) == 1:
        return _with_prefix(connection, base, phrase[0]) if word.prefix else {}
    return _with_phrase(connection, base, phrase, word.prefix)


def _with_prefix(connection: Connection, base: int, stem: str) -> Matches:
    words = connection.execute(
        "SELECT id FROM words WHERE base_id = %s AND stem >= %s AND stem < %s",
        (base, stem[:LONGEST], stem[:LONGEST] + LAST),
    ).fetchall()
    rows = gathering.rows(
        connection,
        SQL(
            "SELECT p.chunk, max(p.length), sum(p.title)::int, sum(p.heading)::int,"
            " sum(p.text)::int, sum(p.terms)::int FROM postings p"
            " WHERE p.base_id = %s AND p.word = ANY(%s::int[]) GROUP BY p.chunk"
        ),
        (base, numbers(word for (word,) in words)),
    )
    return {row[0]: (row[1], _four(row[2:])) for row in rows}


def _with_phrase(connection: Connection, base: int, phrase: list[str], prefix: bool) -> Matches:
    """Candidates have all of the words; that they stand in a row is looked up in the text."""
    exact = {key_of(stem) for stem in (phrase[:-1] if prefix else phrase)}
    words = [word for word, _ in ids_of(connection, base, exact).values()]
    if len(words) < len(exact):
        return {}
    document = "document, " if is_distributed(connection) else ""
    statement = SQL(
        "SELECT c.id, c.title, coalesce(c.heading, ''), c.text, c.terms FROM chunks c"
        " WHERE c.base_id = %s AND ({of_chunk}c.id) IN (SELECT {of_posting}p.chunk FROM postings p"
        " WHERE p.base_id = %s AND p.word = ANY(%s) GROUP BY {of_posting}p.chunk"
        " HAVING count(*) = %s)"
    ).format(
        of_chunk=SQL(f"c.{document}" if document else ""),
        of_posting=SQL(f"p.{document}" if document else ""),
    )
    rows = gathering.rows(connection, statement, (base, base, words, len(words)))
    found: Matches = {}
    for chunk, *fields in rows:
        split = [stems(field) for field in fields]
        counts = _four([occurrences(field, phrase, prefix) for field in split])
        if any(counts):
            found[chunk] = (sum(map(len, split)), counts)
    return found
