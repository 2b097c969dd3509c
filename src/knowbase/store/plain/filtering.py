"""Which documents of the plain store pass a condition."""

from knowbase.query.conditions import AllOf, AnyOf, Condition, InSession, Not, OneOf, Under
from knowbase.query.predicate import passes
from knowbase.store.plain.state import State
from knowbase.values.characters import storable
from knowbase.values.documents import Document


def passing(state: State, condition: Condition) -> list[Document]:
    """The newest first."""
    condition = resolved(state, storable(condition))
    found = [d for d in state.documents.values() if passes(d, condition)]
    found.sort(key=lambda document: document.seq)
    return sorted(found, key=lambda document: document.updated_at, reverse=True)


def resolved(state: State, condition: Condition) -> Condition:
    """`Under` and `InSession` as the documents that they mean now."""
    if isinstance(condition, Under):
        return OneOf("id", tuple(_below(state, condition)))
    if isinstance(condition, InSession):
        made, session = condition.made, condition.session
        uses = (u for u in state.uses if (u.usage == "created" if made else u.session == session))
        return OneOf("id", tuple(use.document for use in uses))
    if isinstance(condition, Not):
        return Not(resolved(state, condition.part))
    if isinstance(condition, AllOf | AnyOf):
        return condition._replace(parts=tuple(resolved(state, part) for part in condition.parts))
    return condition


def _below(state: State, condition: Under) -> set[str]:
    found: set[str] = set()
    names = {name.lower() for name in condition.names}
    while True:
        new = {
            d.id: d
            for d in state.documents.values()
            if d.parent is not None and d.parent.lower() in names and d.id not in found
        }
        found |= set(new)
        if not new or condition.direct:
            return found
        names = {n.lower() for d in new.values() for n in (d.code, d.id, d.path) if n}
