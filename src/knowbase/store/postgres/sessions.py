"""Reading sessions, uses and relations; each for many documents in one query."""

from collections.abc import Collection

from psycopg.sql import SQL

from knowbase.query.conditions import Condition
from knowbase.store.postgres.compile import compile_condition
from knowbase.store.postgres.connection import Connected
from knowbase.values.documents import Page
from knowbase.values.edges import Relation
from knowbase.values.sessions import Session, Use

_SESSION = (
    "SELECT s.id, s.project, s.started_at, s.ended_at, s.summary, (SELECT count(*) FROM uses u"
    " JOIN documents d ON d.base_id = u.base_id AND d.seq = u.document"
    " WHERE u.base_id = s.base_id AND u.session = s.id AND d.deleted_at IS NULL)"
    " FROM sessions s WHERE s.base_id = %s AND "
)
_USE = (
    "SELECT u.session, d.id, u.usage, u.used_at FROM uses u JOIN documents d"
    " ON d.base_id = u.base_id AND d.seq = u.document WHERE u.base_id = %s AND "
)


class PostgresSessions(Connected):
    """See `knowbase.store.contract.SessionStore` for what each method promises."""

    def sessions(self, ids: Collection[str]) -> dict[str, Session]:
        found = self._read(SQL(_SESSION + "s.id = ANY(%s)"), (self._base, list(ids)))
        return {row[0]: Session(*row) for row in found}

    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        found = self._read(
            SQL(
                _SESSION + "(%s::text IS NULL OR s.project = %s)"
                " ORDER BY s.started_at DESC, s.id LIMIT %s OFFSET %s"
            ),
            (self._base, project, project, page.limit, page.offset),
        )
        return [Session(*row) for row in found]

    def uses_in(self, session: str) -> list[Use]:
        found = self._read(
            SQL(_USE + "u.session = %s AND d.deleted_at IS NULL ORDER BY u.used_at, u.id"),
            (self._base, session),
        )
        return [Use(*row) for row in found]

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        found = self._read(
            SQL(
                "SELECT DISTINCT ON (d.id) u.session, d.id, u.usage, u.used_at FROM documents d"
                " JOIN uses u ON u.base_id = d.base_id AND u.document = d.seq"
                " WHERE d.base_id = %s AND d.id = ANY(%s) AND (%s::text IS NULL OR u.usage = %s)"
                " ORDER BY d.id, u.used_at DESC, u.id DESC"
            ),
            (self._base, list(documents), usage, usage),
        )
        return {row[1]: Use(*row) for row in found}

    def relations(self, document: str) -> list[Relation]:
        found = self._read(
            SQL(
                "SELECT DISTINCT s.id, t.id, r.relation, r.origin, r.created_at, s.seq, t.seq"
                " FROM documents d JOIN relations r ON r.base_id = d.base_id"
                " AND d.seq IN (r.source, r.target)"
                " JOIN documents s ON s.base_id = r.base_id AND s.seq = r.source"
                " JOIN documents t ON t.base_id = r.base_id AND t.seq = r.target"
                " WHERE d.base_id = %s AND d.id = %s AND s.deleted_at IS NULL"
                " AND t.deleted_at IS NULL ORDER BY r.created_at, s.seq, t.seq, r.relation"
            ),
            (self._base, document),
        )
        return [Relation(*row[:5]) for row in found]

    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        test, values = compile_condition(shown)
        statement = SQL(
            "SELECT o.id, count(*) FROM documents o JOIN (SELECT base_id, source AS one,"
            " target AS other FROM relations UNION ALL SELECT base_id, target, source"
            " FROM relations) r ON r.base_id = o.base_id AND r.one = o.seq"
            " JOIN documents d ON d.base_id = r.base_id AND d.seq = r.other"
            " WHERE o.base_id = %s AND o.id = ANY(%s) AND {} GROUP BY o.id"
        ).format(test)
        return dict(self._read(statement, (self._base, list(documents), *values)))
