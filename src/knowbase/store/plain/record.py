"""What is said of documents and how they are used, in the plain store."""

from collections.abc import Sequence

from knowbase.store.plain.state import State
from knowbase.values.changes import Changes, Edit, Verdict, after_verdict, moved
from knowbase.values.copies import GivenVerdict
from knowbase.values.documents import EDITABLE
from knowbase.values.edges import Relation
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use


def record(state: State, changes: Changes, now: str) -> None:
    """Write everything in `changes` that is not the text of documents and files."""
    for edit in changes.edits:
        _edit(state, edit)
    for session in changes.sessions:
        _write_session(state, session)
    for use in changes.uses:
        _write_use(state, use, now)
    for one in changes.reinforced:
        _reinforce(state, one.document, one.amount, now)
    for verdict in changes.verdicts:
        _judge(state, verdict, now)
    for relation in changes.relations:
        _relate(state, relation, now)
    for document, codes in changes.codes:
        _write_codes(state, document, codes)
    dropped = {one[:3] for one in changes.dropped_relations}
    state.relations = [one for one in state.relations if one[:3] not in dropped]


def _edit(state: State, edit: Edit) -> None:
    if not set(edit.values) <= set(EDITABLE):
        raise ValueError(f"not editable: {set(edit.values) - set(EDITABLE)}")
    document = state.documents.get(edit.document)
    if document is not None:
        said = {**state.said.get(edit.document, {}), **edit.values}
        state.said[edit.document] = said
        state.documents[edit.document] = document._replace(**said)


def _write_session(state: State, session: Session) -> None:
    old = state.sessions.get(session.id, session)
    state.sessions[session.id] = old._replace(
        project=session.project if old.project is None else old.project,
        ended_at=old.ended_at if session.ended_at is None else session.ended_at,
        summary=old.summary if session.summary is None else session.summary,
    )


def _write_use(state: State, use: Use, now: str) -> None:
    if use.document in state.documents and use[:3] not in [one[:3] for one in state.uses]:
        state.uses.append(use._replace(used_at=use.used_at or now))


def _reinforce(state: State, document: str, amount: float, now: str) -> None:
    old = state.documents.get(document)
    if old is not None:
        state.documents[document] = old._replace(
            salience=moved(old.salience, amount),
            access_count=old.access_count + 1,
            last_accessed_at=now,
        )


def _judge(state: State, verdict: Verdict, now: str) -> None:
    document, key = state.documents.get(verdict.document), (verdict.document, verdict.occasion)
    known = state.verdicts.get(key)
    old = None if known is None else known.good
    if document is None or old == verdict.good:
        return
    state.verdicts[key] = GivenVerdict(verdict.occasion, verdict.good, now)
    given = [one.good for (owner, _), one in state.verdicts.items() if owner == document.id]
    confirmed = sum(1 if good else -1 for good in given)
    used = verdict.counts and old is None
    state.documents[document.id] = document._replace(
        confirmed=confirmed,
        salience=after_verdict(document.salience, verdict, old),
        access_count=document.access_count + used,
        last_accessed_at=now if used else document.last_accessed_at,
    )


def _write_codes(state: State, document: str, codes: Sequence[str]) -> None:
    if document in state.documents:
        others = [link for link in state.links[document] if link.kind != "code"]
        state.links[document] = (*others, *(Link(code, "code") for code in codes))


def _relate(state: State, relation: Relation, now: str) -> None:
    known = relation.source in state.documents and relation.target in state.documents
    if known and relation[:3] not in [one[:3] for one in state.relations]:
        state.relations.append(relation._replace(created_at=relation.created_at or now))
