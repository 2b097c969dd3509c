"""How PostgreSQL runs the statements of a search, under filters that many and few documents pass.

    python bench/postgres_plans.py --keep FOLDER    a base that postgres_size.py has made and kept

EXPLAIN ANALYZE of each statement that the legs of one search send, as it was sent; nothing is set
for the planner but what the statements before it set.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
from psycopg.sql import SQL

from corpus import vocabulary
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.postgres import PostgresStore
from knowbase.text.analysis import Word
from postgres_size import DEPTH, FILTERS, Made, tuned

LONGEST = 150  # characters of a line that are shown


@contextmanager
def recorded() -> Iterator[list[tuple[Any, Any]]]:
    """The statements that are sent meanwhile, each with its values."""
    sent: list[tuple[Any, Any]] = []
    execute = psycopg.Cursor.execute

    def record(self: Any, statement: Any, values: Any = None, **more: Any) -> Any:
        sent.append((statement, values))
        return execute(self, statement, values, **more)

    psycopg.Cursor.execute = record  # type: ignore[assignment, method-assign]
    try:
        yield sent
    finally:
        psycopg.Cursor.execute = execute  # type: ignore[method-assign]


def plans(store: PostgresStore, sent: list[tuple[Any, Any]]) -> list[str]:
    def explain(connection: psycopg.Connection) -> list[str]:
        lines: list[str] = []
        for statement, values in sent:
            text = statement if isinstance(statement, str) else statement.as_string(connection)
            if text.startswith("SET LOCAL"):
                connection.execute(statement, values)
            if text.startswith("SELECT") and " FROM " in text:
                given = SQL(statement) if isinstance(statement, str) else statement
                asked = SQL("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) {}")
                lines += ["", text[:LONGEST]]
                found = connection.execute(asked.format(given), values)
                lines += [f"    {row[0][:LONGEST]}" for row in found]
        return lines

    return store._connections.run(explain)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--keep", metavar="FOLDER", required=True)
    given = parser.parse_args()
    made = Made()
    vector = made.vectors(1)[0]
    words = made.words(3, len(vocabulary().words))
    query = KeywordQuery(tuple(Word(vocabulary().words[one]) for one in words))
    with tuned(Path(given.keep, "server")) as (url, _):
        store = PostgresStore(f"{url}#bench")
        for label, condition in FILTERS.items():
            with recorded() as sent:
                store.keyword(query, condition, DEPTH, FieldWeights())
            print(f"\n== keyword, {label} pass", *plans(store, sent), sep="\n")
            with recorded() as sent:
                store.semantic(vector, condition, DEPTH)
            print(f"\n== semantic, {label} pass", *plans(store, sent), sep="\n")
        store.close()


if __name__ == "__main__":
    main()
