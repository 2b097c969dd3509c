"""The words of chunks: which there are, where they stand, and how often."""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TypeAlias

from psycopg import Connection

from knowbase.store.postgres.bulk import texts
from knowbase.text.analysis import stems

Counts: TypeAlias = tuple[int, int, int, int]
"""How often something stands in title, heading, text and terms."""

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


def ids_of(connection: Connection, base: int, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """For each stem that is known, by its key: its id, and how many chunks have it."""
    rows = connection.execute(
        "SELECT stem, id, chunks FROM words WHERE base_id = %s AND stem = ANY(%s::text[])",
        (base, texts(keys)),
    )
    return {stem: (word, chunks) for stem, word, chunks in rows}
