"""What surrounds a hit: its session, its relations, and what took its place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from knowbase.query.conditions import Visible
from knowbase.search.answer import Successor
from knowbase.values.documents import Document, is_in

if TYPE_CHECKING:
    from knowbase.store.contract import DocumentStore, SessionStore, Store
    from knowbase.values.sessions import Session

MOST_SHOWN = 200  # S2-18: characters of what took a superseded one's place


class Surroundings(NamedTuple):
    """For documents by their ids; one without an entry has none."""

    successors: dict[str, Successor]
    sessions: "dict[str, Session]"
    related: dict[str, int]


def surroundings(store: "Store", documents: Sequence[Document], now: str) -> Surroundings:
    """All of it in at most five queries, however many documents there are."""
    ids = list({document.id: None for document in documents})
    if not ids:
        return Surroundings({}, {}, {})
    old = [document for document in documents if is_in(document, "superseded", now)]
    return Surroundings(
        _successors(store, old),
        _source_sessions(store, ids),
        store.related_counts(ids, Visible(now)),
    )


def _successors(store: "DocumentStore", old: Sequence[Document]) -> dict[str, Successor]:
    if not old:
        return {}
    heads = store.heads([document.id for document in old])
    openings = store.openings({head.id for head in heads.values()})
    return {
        document.id: Successor(
            head.id,
            head.code,
            openings[head.id][:MOST_SHOWN],
            head.created_at,
            document.valid_until,
        )
        for document in old
        if (head := heads.get(document.id)) is not None
    }


def _source_sessions(store: "SessionStore", ids: Sequence[str]) -> "dict[str, Session]":
    """S2-17: the session in which each was created."""
    uses = store.latest_uses(ids, "created")
    if not uses:
        return {}
    sessions = store.sessions({use.session for use in uses.values()})
    return {
        document: sessions[use.session] for document, use in uses.items() if use.session in sessions
    }
