"""The words of chunks: which there are, where they stand, and how often."""

import hashlib
from collections.abc import Collection

from psycopg import Connection

from knowbase.store.postgres.bulk import array

LAST = "\U0010ffff"  # sorts after every word
MOST = 2**15 - 1  # times that a word is counted in a field
LONGEST = 200  # characters of a stem that are kept; an index key has a limit


def key_of(stem: str) -> str:
    """A stem as it is stored: a very long one by its start and its hash."""
    stem = stem.replace("\0", "")
    if len(stem) <= LONGEST:
        return stem
    return stem[:LONGEST] + hashlib.sha256(stem.encode()).hexdigest()


def ids_of(connection: Connection, base: int, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """For each stem that is known, by its key: its id, and how many chunks have it."""
    rows = connection.execute(
        "SELECT stem, id, chunks FROM words WHERE base_id = %s AND stem = ANY(%s::text[])",
        (base, array(keys)),
    )
    return {stem: (word, chunks) for stem, word, chunks in rows}
