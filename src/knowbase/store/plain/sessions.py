"""Sessions, uses and relations in the plain store."""

from collections import Counter
from collections.abc import Collection

from knowbase.query.conditions import Condition
from knowbase.store.plain.contents import Contents
from knowbase.values.characters import clean, storable
from knowbase.values.documents import Page
from knowbase.values.edges import Relation
from knowbase.values.sessions import Session, Use


class PlainSessions(Contents):
    """See `knowbase.store.contract.SessionStore` for what each method promises."""

    def sessions(self, ids: Collection[str]) -> dict[str, Session]:
        number = Counter(u.session for u in self._state.uses if self._is_alive(u.document))
        known = self._state.sessions
        wanted = [one for one in storable(list(ids)) if one in known]
        return {one: known[one]._replace(uses=number[one]) for one in wanted}

    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        project = storable(project)
        found = [s for s in self._state.sessions.values() if project in (None, s.project)]
        found.sort(key=lambda session: session.id)
        found.sort(key=lambda session: session.started_at, reverse=True)
        ids = [session.id for session in found[page.offset : page.offset + page.limit]]
        return list(self.sessions(ids).values())

    def uses_in(self, session: str) -> list[Use]:
        session = clean(session)
        found = [u for u in self._state.uses if u.session == session and self._is_alive(u.document)]
        return sorted(found, key=lambda use: use.used_at)

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        wanted = [use for use in self._state.uses if usage in (None, use.usage)]
        wanted.sort(key=lambda use: use.used_at)
        return {use.document: use for use in wanted if use.document in documents}

    def relations(self, document: str) -> list[Relation]:
        found = [
            r
            for r in self._state.relations
            if document in (r.source, r.target)
            and self._is_alive(r.source)
            and self._is_alive(r.target)
        ]
        seq = {one.id: one.seq for one in self._state.documents.values()}
        return sorted(found, key=lambda r: (r.created_at, seq[r.source], seq[r.target], r.relation))

    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        visible = {document.id for document in self._passing(shown)}
        ends = Counter(
            end
            for r in self._state.relations
            for end, other in ((r.source, r.target), (r.target, r.source))
            if other in visible
        )
        return {one: ends[one] for one in documents if ends[one]}
