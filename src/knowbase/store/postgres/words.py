"""The words of chunks: which there are, where they stand, and how often."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TypeAlias

from psycopg import Connection

from knowbase.store.postgres.bulk import array
from knowbase.store.tokenizer import stems_alone

Counts: TypeAlias = dict[str, int]
"""How often each stem stands in the fields of a chunk, four numbers in one: see `four_of`."""

TEXT, TITLE, HEADING, TERMS = 48, 32, 16, 0  # where in it each of them begins
LAST = "\U0010ffff"  # sorts after every word
MOST = 2**15 - 1  # times that a word is counted in a field
LONGEST = 200  # characters of a stem that are kept; an index key has a limit


def key_of(stem: str) -> str:
    """A stem as it is stored: a very long one by its start and its hash."""
    stem = stem.replace("\0", "")
    if len(stem) <= LONGEST:
        return stem
    return stem[:LONGEST] + hashlib.sha256(stem.encode()).hexdigest()


def counted(fields: Sequence[str]) -> tuple[int, Counts]:
    """The number of words in the four fields of a chunk, and how often each stands where."""
    title, heading, text, terms = found = [stems_alone(field) if field else [] for field in fields]
    counts = {stem: number << TEXT for stem, number in Counter(text).items()}
    for place, words in ((TITLE, title), (HEADING, heading), (TERMS, terms)):
        for stem in words:
            counts[stem] = counts.get(stem, 0) + (1 << place)
    length = sum(map(len, found))
    if counts and (
        length > MOST or max(map(len, counts)) > LONGEST or "\0" in "".join(counts)
    ):  # as almost never: not each is its own key, or a count may not fit
        return length, _by_key(zip((TITLE, HEADING, TEXT, TERMS), found, strict=True))
    return length, counts


def _by_key(fields: Iterable[tuple[int, Sequence[str]]]) -> Counts:
    counts: Counts = {}
    for place, words in fields:
        for stem, number in Counter(map(key_of, words)).items():
            counts[stem] = counts.get(stem, 0) | min(number, MOST) << place
    return counts


def four_of(counts: int) -> tuple[int, int, int, int]:
    """How often a word stands in title, heading, text and terms."""
    title, heading, text, terms = (counts >> at & MOST for at in (TITLE, HEADING, TEXT, TERMS))
    return title, heading, text, terms


def ids_of(connection: Connection, base: int, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """For each stem that is known, by its key: its id, and how many chunks have it."""
    rows = connection.execute(
        "SELECT stem, id, chunks FROM words WHERE base_id = %s AND stem = ANY(%s::text[])",
        (base, array(keys)),
    )
    return {stem: (word, chunks) for stem, word, chunks in rows}
