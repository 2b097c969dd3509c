"""Reading sessions, uses and relations; each for many documents in one query."""

from collections.abc import Collection

from knowbase.store.sqlite.connection import Connected, as_json
from knowbase.store.values import Page
from knowbase.types import Relation, Session, Use

_SESSION = (
    "s.id, s.project, s.started_at, s.ended_at, s.summary,"
    " (SELECT count(*) FROM uses JOIN documents ON seq = document"
    " WHERE session = s.id AND deleted_at IS NULL)"
)
_USE = "u.session, d.id, u.usage, u.used_at FROM uses u JOIN documents d ON d.seq = u.document"


class Sessions(Connected):
    """The part of `knowbase.store.contract.Store` about sessions and relations."""

    def sessions(self, ids: Collection[str]) -> dict[str, Session]:
        found = self._read(
            f"SELECT {_SESSION} FROM json_each(?) wanted"
            " CROSS JOIN sessions s ON s.id = wanted.value",
            (as_json(ids),),
        )
        return {row[0]: Session(*row) for row in found}

    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        found = self._read(
            f"SELECT {_SESSION} FROM sessions s WHERE ?1 IS NULL OR s.project = ?1"
            " ORDER BY s.started_at DESC, s.id LIMIT ?2 OFFSET ?3",
            (project, page.limit, page.offset),
        )
        return [Session(*row) for row in found]

    def uses_in(self, session: str) -> list[Use]:
        found = self._read(
            f"SELECT {_USE} WHERE u.session = ? AND d.deleted_at IS NULL ORDER BY u.used_at, u.id",
            (session,),
        )
        return [Use(*row) for row in found]

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        found = self._read(
            f"SELECT {_USE} WHERE u.id IN (SELECT (SELECT id FROM uses WHERE document = w.seq"
            " AND (?2 IS NULL OR usage = ?2) ORDER BY used_at DESC, id DESC LIMIT 1)"
            " FROM json_each(?1) wanted CROSS JOIN documents w ON w.id = wanted.value)",
            (as_json(documents), usage),
        )
        return {row[1]: Use(*row) for row in found}

    def relations(self, document: str) -> list[Relation]:
        found = self._read(
            "SELECT s.id, t.id, r.relation, r.origin, r.created_at FROM relations r"
            " JOIN documents s ON s.seq = r.source JOIN documents t ON t.seq = r.target"
            " JOIN documents d ON d.seq IN (r.source, r.target) WHERE d.id = ?"
            " AND s.deleted_at IS NULL AND t.deleted_at IS NULL"
            " ORDER BY r.created_at, s.seq, t.seq, r.relation",
            (document,),
        )
        return [Relation(*row) for row in found]

    def related_counts(self, documents: Collection[str]) -> dict[str, int]:
        found = self._read(
            "SELECT d.id, (SELECT count(*) FROM relations r JOIN documents o ON o.seq = r.target"
            " WHERE r.source = d.seq AND o.deleted_at IS NULL)"
            " + (SELECT count(*) FROM relations r JOIN documents o ON o.seq = r.source"
            " WHERE r.target = d.seq AND o.deleted_at IS NULL)"
            " FROM json_each(?) wanted CROSS JOIN documents d ON d.id = wanted.value",
            (as_json(documents),),
        )
        return {document: number for document, number in found if number}
