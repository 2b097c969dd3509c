"""Words as PostgreSQL's own ranking sees them: an index that only those bases have that ask for it.

To keep it up takes more than all else that is written of a chunk.
"""

from typing import NamedTuple

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from knowbase.store.postgres.schema import LOCK
from knowbase.store.postgres.vector_tables import are_more, is_owned, is_there

ENTRY = "to_tsvector('english', {}.text)"
_INDEX = "chunks_entry"


class Indexes(NamedTuple):
    """Which ones a base is to have, when it is large."""

    vectors: str = "hnsw"  # or ivfflat, none
    english: bool = False  # a profile ranks by cover density


def index_english(connection: Connection, enough: int) -> None:
    """Once there are so many chunks that reading all of them takes long."""
    if is_there(connection, _INDEX) or not is_owned(connection, "chunks"):
        return
    if not are_more(connection, "chunks", enough):
        return
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
    words = SQL(ENTRY).format(Identifier("chunks"))
    connection.execute(
        SQL("CREATE INDEX {} ON chunks USING gin ({})").format(Identifier(_INDEX), words)
    )
