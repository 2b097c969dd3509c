"""The planner's view of the tables follows a base as it grows, without an analysis a batch."""

import psycopg

from knowbase.store.postgres import create
from knowbase.values.changes import Changes
from postgres import database, new_base
from stores import NOW, draft, section

BATCHES, SIZE = 12, 50


def analyses() -> int:
    with psycopg.connect(database(), autocommit=True) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        row = connection.execute(
            "SELECT analyze_count FROM pg_stat_user_tables"
            " WHERE schemaname = 'knowbase' AND relname = 'words'"
        ).fetchone()
    return int(row[0]) if row else 0


def test_filling_a_base_analyses_its_tables_when_it_has_grown_not_with_each_batch() -> None:
    store = create(new_base())
    before = analyses()
    for batch in range(BATCHES):
        drafts = (draft(f"{batch}-{n}", section(f"text {n}"), vectors=(None,)) for n in range(SIZE))
        store.apply(Changes(drafts=tuple(drafts)), NOW)
    store.close()  # a session that ends has its counts written
    assert 1 <= analyses() - before <= 5
