"""Whether a base is whole: looked at without knowbase as far as that goes."""

from contextlib import closing
from pathlib import Path

import apsw
import psycopg

from knowbase.store.postgres import PostgresStore
from knowbase.store.postgres.checking import words_out_of_step


def assert_sound(base: Path) -> None:
    """The file is sound, and what belongs together is there together."""
    with closing(apsw.Connection(str(base))) as connection:

        def column(sql: str) -> list[object]:
            return [value for (value,) in connection.execute(sql)]

        assert column("PRAGMA integrity_check") == ["ok"]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        chunks = column("SELECT id FROM chunks ORDER BY id")
        assert column("SELECT id FROM chunks_fts_docsize ORDER BY id") == chunks, "index rows"
        connection.execute("INSERT INTO chunks_fts (chunks_fts) VALUES ('integrity-check')")
        for model in column("SELECT id FROM models"):
            sql = "SELECT chunk FROM embedded WHERE model = ? ORDER BY chunk"
            embedded = [chunk for (chunk,) in connection.execute(sql, (model,))]
            vectors = column(f"SELECT chunk_id FROM chunks_vec_{model} ORDER BY chunk_id")
            assert vectors == embedded, "vectors"
        with_chunks = column("SELECT DISTINCT document FROM chunks ORDER BY document")
        assert column("SELECT seq FROM documents ORDER BY seq") == with_chunks, "empty documents"
        stored = column("SELECT path FROM documents WHERE path IS NOT NULL ORDER BY path")
        recorded = "SELECT path FROM files WHERE document IS NOT NULL ORDER BY path"
        assert stored == column(recorded), "file records"


def assert_words_are_in_step(store: PostgresStore, database: str) -> None:
    """What PostgreSQL keeps of words is what its chunks hold."""
    with psycopg.connect(database) as connection:
        connection.execute("SET search_path TO knowbase, public")
        key = (store._base,)
        kept = connection.execute(
            "SELECT chunks, coalesce(length, 0) FROM bases WHERE id = %s", key
        )
        counted = connection.execute(
            "SELECT count(*), coalesce(sum(length), 0) FROM chunks WHERE base_id = %s", key
        )
        assert kept.fetchone() == counted.fetchone()
        assert not any(words_out_of_step(connection, store._base).values())
