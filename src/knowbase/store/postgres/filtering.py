"""Which chunks pass a condition: few are named, of many those that were found are looked at."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from psycopg import Connection
from psycopg.sql import SQL, Composable

from knowbase.query.conditions import Condition, is_everything, is_lifecycle
from knowbase.store.postgres import gathering
from knowbase.store.postgres.bulk import numbers
from knowbase.store.postgres.cluster import apart, is_distributed
from knowbase.store.postgres.compile import Statement, compile_for_chunks
from knowbase.values.documents import Candidate

if TYPE_CHECKING:
    from knowbase.store.postgres.blocks import Integers

LIFECYCLE = (
    "archived OR expires_at IS NOT NULL OR superseded_by IS NOT NULL"
    " OR valid_until IS NOT NULL OR deleted_at IS NOT NULL"
)
_SURELY_MORE = 4  # times as many as are few: what the server expects is not counted then


class _Best(Protocol):
    """Finds so many of the best, of all chunks or among some."""

    def __call__(self, limit: int, *, among: "Integers | None" = None) -> list[Candidate]: ...


class Filtered:
    """A condition, in one state of the base."""

    def __init__(
        self, connection: Connection, base: int, condition: Condition, having: Callable[..., Any]
    ) -> None:
        self._connection = connection
        self._base = base
        self._test, self._values = self._compiled(condition, having)

    def _compiled(self, condition: Condition, having: Callable[..., Any]) -> Statement:
        if is_everything(condition) or (is_lifecycle(condition) and not self._has_lifecycle()):
            return SQL("true"), []
        return compile_for_chunks(condition, having, apart(self._connection, self._base))

    def _has_lifecycle(self) -> bool:
        statement = SQL(f"SELECT 1 FROM documents WHERE base_id = %s AND ({LIFECYCLE}) LIMIT 1")
        return self._connection.execute(statement, (self._base,)).fetchone() is not None

    @property
    def passes_all(self) -> bool:
        return self._test == SQL("true")

    def of(self, column: Composable) -> Statement:
        """That a chunk passes, looked up for each one that is found: `column` has its number."""
        statement = SQL(
            "(SELECT true FROM chunks c WHERE c.base_id = %s AND c.id = {} AND {})"
        ).format(column, self._test)
        if is_distributed(self._connection):
            table = column.as_string(self._connection).partition(".")[0]
            statement = SQL(
                "({}.document, {}) IN (SELECT c.document, c.id FROM chunks c"
                " WHERE c.base_id = %s AND {})"
            ).format(SQL(table), column, self._test)
        return (SQL("true"), []) if self.passes_all else (statement, [self._base, *self._values])

    def few(self, most: int) -> list[int] | None:
        """The chunks that pass, if they are no more than so many."""
        if not is_distributed(self._connection) and self._expected() > most * _SURELY_MORE:
            return None
        found = self._ids(*self._select(SQL("LIMIT {}").format(most + 1)))
        return found if len(found) <= most else None

    def _expected(self) -> int:
        """As the server's planner sees it, which takes it a millisecond."""
        statement, values = self._select(SQL(""))
        row = self._connection.execute(
            SQL("EXPLAIN (FORMAT JSON) {}").format(statement), values
        ).fetchone()
        return int(row[0][0]["Plan"]["Plan Rows"]) if row else 0

    def all(self) -> list[int]:
        return self._ids(*self._select(SQL("")))

    def _select(self, limit: Composable) -> tuple[Composable, list[Any]]:
        statement = SQL("SELECT c.id FROM chunks c WHERE c.base_id = %s AND {} {}")
        return statement.format(self._test, limit), [self._base, *self._values]

    def _ids(self, statement: Composable, values: Sequence[Any]) -> list[int]:
        """As one array: rows of one number each take several times as long."""
        if gathering.is_partial(self._connection):
            return sorted(row[0] for row in gathering.rows(self._connection, statement, values))
        whole = SQL("SELECT coalesce(array_agg(f.id ORDER BY f.id), '{{}}') FROM ({}) f")
        with self._connection.cursor(binary=True) as cursor:
            row = cursor.execute(whole.format(statement), values).fetchone()
        return list(row[0]) if row else []

    def best(self, limit: int, score: _Best, most: int) -> list[Candidate]:
        """The best of those that pass; up to so many of them are named beforehand."""
        import numpy as np

        if self.passes_all:
            return score(limit)
        few = self.few(most)
        if few is not None:
            return score(limit, among=np.array(few, "i8"))
        asked = 2 * limit
        while True:
            found = score(asked)
            kept = self._kept(found)
            if len(kept) >= limit or len(found) < asked:
                return kept[:limit]
            asked = max(4 * asked, 2 * limit * len(found) // max(1, len(kept)))

    def _kept(self, found: Sequence[Candidate]) -> list[Candidate]:
        statement = SQL(
            "SELECT c.id FROM chunks c WHERE c.base_id = %s AND c.id = ANY(%s::bigint[]) AND {}"
        ).format(self._test)
        given = numbers(one.chunk for one in found)
        passing = set(self._ids(statement, (self._base, given, *self._values)))
        return [one for one in found if one.chunk in passing]
