"""Reading sessions, uses and relations; each for many documents in one query."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from knowbase.query.conditions import Condition
from knowbase.store.sqlite.compile import compile_condition
from knowbase.store.sqlite.connection import Connected, as_json
from knowbase.values.documents import Page

if TYPE_CHECKING:
    from knowbase.values.edges import Relation
    from knowbase.values.sessions import Session, Use

_SESSION = (
    "s.id, s.project, s.started_at, s.ended_at, s.summary,"
    " (SELECT count(*) FROM uses JOIN documents ON seq = document"
    " WHERE session = s.id AND deleted_at IS NULL)"
)
_USE = "u.session, d.id, u.usage, u.used_at FROM uses u JOIN documents d ON d.seq = u.document"


class SqliteSessions(Connected):
    """See `knowbase.store.contract.SessionStore` for what each method promises."""

    def sessions(self, ids: Collection[str]) -> "dict[str, Session]":
        from knowbase.values.sessions import Session

        found = self._read(
            f"SELECT {_SESSION} FROM json_each(?) wanted"
            " CROSS JOIN sessions s ON s.id = wanted.value",
            (as_json(ids),),
        )
        return {row[0]: Session(*row) for row in found}

    def recent_sessions(self, project: str | None, page: Page) -> "list[Session]":
        from knowbase.values.sessions import Session

        found = self._read(
            f"SELECT {_SESSION} FROM sessions s WHERE ?1 IS NULL OR s.project = ?1"
            " ORDER BY s.started_at DESC, s.id LIMIT ?2 OFFSET ?3",
            (project, page.limit, page.offset),
        )
        return [Session(*row) for row in found]

    def uses_in(self, session: str) -> "list[Use]":
        from knowbase.values.sessions import Use

        found = self._read(
            f"SELECT {_USE} WHERE u.session = ? AND d.deleted_at IS NULL ORDER BY u.used_at, u.id",
            (session,),
        )
        return [Use(*row) for row in found]

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> "dict[str, Use]":
        if not self._kept("uses", self._has_uses):
            return {}
        found = self._read(
            f"SELECT {_USE} WHERE u.id IN (SELECT (SELECT id FROM uses WHERE document = w.seq"
            " AND (?2 IS NULL OR usage = ?2) ORDER BY used_at DESC, id DESC LIMIT 1)"
            " FROM json_each(?1) wanted CROSS JOIN documents w ON w.id = wanted.value)",
            (as_json(documents), usage),
        )
        if not found:
            return {}
        from knowbase.values.sessions import Use

        return {row[1]: Use(*row) for row in found}

    def _has_uses(self) -> bool:
        return bool(self._read("SELECT 1 FROM uses LIMIT 1"))

    def relations(self, document: str) -> "list[Relation]":
        from knowbase.values.edges import Relation

        found = self._read(
            "SELECT s.id, t.id, r.relation, r.origin, r.created_at FROM relations r"
            " JOIN documents s ON s.seq = r.source JOIN documents t ON t.seq = r.target"
            " JOIN documents d ON d.seq IN (r.source, r.target) WHERE d.id = ?"
            " AND s.deleted_at IS NULL AND t.deleted_at IS NULL"
            " ORDER BY r.created_at, s.seq, t.seq, r.relation",
            (document,),
        )
        return [Relation(*row) for row in found]

    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        sql, values = compile_condition(shown)
        found = self._read(
            "SELECT o.id, count(*) FROM json_each(?) wanted CROSS JOIN documents o"
            " ON o.id = wanted.value JOIN (SELECT source AS one, target AS other FROM relations"
            " UNION ALL SELECT target, source FROM relations) r ON r.one = o.seq"
            f" JOIN documents d ON d.seq = r.other WHERE {sql} GROUP BY o.id",
            (as_json(documents), *values),
        )
        return dict(found)
