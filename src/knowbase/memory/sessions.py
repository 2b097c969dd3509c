"""Sessions: what was made and used in them, and documents along the line of time."""

import uuid
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.logs import log
from knowbase.query.conditions import (
    HIDDEN_STATES,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    OneOf,
    Operator,
    Visible,
    both,
)
from knowbase.store.contract import DocumentStore, SessionStore
from knowbase.store.lagging import may_lag
from knowbase.store.rules import same_project
from knowbase.values.arguments import checks_arguments
from knowbase.values.changes import Changes, session_name
from knowbase.values.characters import clean
from knowbase.values.documents import Document, Page
from knowbase.values.edges import RELATIONS, Relation
from knowbase.values.sessions import Session

LONGEST_NAME = 64  # of whoever says that documents are related


class SessionList(NamedTuple):
    """Sessions, the last started first."""

    sessions: tuple[Session, ...]


class Used(NamedTuple):
    """A document and how it took part in a session."""

    document: Document
    usage: str
    used_at: str


class SessionView(NamedTuple):
    """A session and what was made and used in it."""

    session: Session
    used: tuple[Used, ...]


class SessionContext(NamedTuple):
    """S2-25: the session that a document took part in last, and how."""

    session: Session
    memories_in_session: int
    usage_type: str


class Related(NamedTuple):
    """A relation as seen from one of its ends."""

    relation: str
    direction: str  # "to" or "from" the other document
    document: Document
    origin: str  # who says so: "user", or an agent's name
    created_at: str


class DocumentContext(NamedTuple):
    """Where a document comes from and what it belongs to."""

    document: Document
    created_in: Session | None
    latest: SessionContext | None
    related: tuple[Related, ...]


class Timeline(NamedTuple):
    """S2-24: documents of one project around an anchor, in the order in which they were made."""

    anchor: Document
    before: tuple[Document, ...]
    after: tuple[Document, ...]
    sessions: dict[str, Session]


class SessionDocuments(SessionStore, DocumentStore, Protocol):
    """Sessions, and the documents that take part in them."""


@may_lag("recent", "show", "context", "contexts", "timeline")
@checks_arguments
class Sessions:
    """The sessions of a base, and what its documents have to do with each other."""

    def __init__(
        self,
        store: SessionDocuments,
        whole: Callable[[str], Document],  # the document that a reference names
        clock: Callable[[], str],
    ) -> None:
        self.store = store
        self.whole = whole
        self.clock = clock

    def start(self, session: str | None = None, project: str | None = None) -> Session:
        """A new session, under a name of its own or one that is given."""
        name = uuid.uuid4().hex[:12] if session is None else session_name(session)
        if self.store.sessions((name,)):
            raise Conflict(
                f"there is a session {name!r} already", field="session", hint="take another name"
            )
        now = self.clock()
        self.store.apply(Changes(sessions=(Session(name, project, now),)), now)
        return self.get(name)

    def end(self, session: str, summary: str | None = None) -> Session:
        """Say that a session is over, and what came of it."""
        known, now = self.get(session), self.clock()
        ended = known._replace(ended_at=now, summary=summary)
        self.store.apply(Changes(sessions=(ended,)), now)
        return self.get(session)

    def get(self, session: str) -> Session:
        session = session_name(session)
        found = self.store.sessions((session,))
        if session not in found:
            raise NotFound(
                f"there is no session {session!r}", field="session", hint="see them: kb sessions"
            )
        return found[session]

    def recent(self, project: str | None = None, page: Page = Page()) -> SessionList:  # noqa: B008
        """Of a project, or all."""
        return SessionList(tuple(self.store.recent_sessions(project, page)))

    def show(self, session: str) -> SessionView:
        """A session, and each document that took part in it."""
        known = self.get(session)
        uses = self.store.uses_in(known.id)
        documents = self._documents({use.document for use in uses})
        present = [use for use in uses if use.document in documents]
        used = (Used(documents[use.document], use.usage, use.used_at) for use in present)
        return SessionView(known, tuple(used))

    def context(self, reference: str) -> DocumentContext:
        """The sessions that a document belongs to, and its relations."""
        document = self.whole(reference)
        created = self.store.latest_uses((document.id,), "created").get(document.id)
        sessions = self.store.sessions((created.session,) if created else ())
        return DocumentContext(
            document=document,
            created_in=next(iter(sessions.values()), None),
            latest=self.contexts((document.id,)).get(document.id),
            related=self._related(document),
        )

    def contexts(self, documents: Collection[str]) -> dict[str, SessionContext]:
        """The latest session of each of these documents that has one."""
        uses = self.store.latest_uses(documents)
        sessions = self.store.sessions({use.session for use in uses.values()})
        return {
            document: SessionContext(sessions[use.session], sessions[use.session].uses, use.usage)
            for document, use in uses.items()
        }

    def timeline(
        self, anchor: str, before: int = 5, after: int = 5, include: Sequence[str] = ()
    ) -> Timeline:
        """What was made in the same project before and after; superseded ones are shown too."""
        log("debug", "Timeline query", anchor_id=anchor, depth_before=before, depth_after=after)
        for state in include:
            if state not in HIDDEN_STATES:
                hint = "one of " + ", ".join(HIDDEN_STATES)
                raise InvalidInput(f"include cannot be {state!r}", field="include", hint=hint)
        try:
            middle = self.whole(anchor)
        except NotFound as error:
            log("warning", "Timeline anchor not found", anchor_id=anchor)
            hint = f"{error.message}; {error.hint}" if error.hint else error.message
            raise NotFound("Anchor memory not found", field="anchor", hint=hint) from error
        shown = Visible(self.clock(), frozenset((*include, "superseded")))
        same = both(shown, same_project(middle.project))
        earlier = Page(max(before, 0), order="created last")
        found_before = self.store.documents(both(same, _beside(middle, "<")), earlier)
        later = Page(max(after, 0), order="created")
        found_after = self.store.documents(both(same, _beside(middle, ">")), later)
        everything = [*found_before, middle, *found_after]
        contexts = self.contexts([document.id for document in everything])
        return Timeline(
            anchor=middle,
            before=tuple(reversed(found_before)),
            after=tuple(found_after),
            sessions={one.session.id: one.session for one in contexts.values()},
        )

    def relate(
        self, source: str, target: str, relation: str, *, by: str = "user", remove: bool = False
    ) -> None:
        """Say what two documents have to do with each other, or that it is so no more."""
        first, second = self.whole(source), self.whole(target)
        if relation not in RELATIONS:
            hint = "one of " + ", ".join(RELATIONS) + "; kb supersede for what takes a place"
            raise InvalidInput(f"relation cannot be {relation!r}", field="relation", hint=hint)
        if first.id == second.id:
            raise Conflict("a document is not related to itself", field="target")
        if relation == "RELATED_TO":  # said in either direction, it is the same
            first, second = sorted((first, second), key=lambda document: document.seq)
        who = " ".join(clean(by).split())
        if not who or len(who) > LONGEST_NAME:
            hint = f"a name of at most {LONGEST_NAME} letters"
            raise InvalidInput(f"by cannot be {by[:LONGEST_NAME]!r}", field="by", hint=hint)
        said = (Relation(first.id, second.id, relation, who),)
        changes = Changes(dropped_relations=said) if remove else Changes(relations=said)
        self.store.apply(changes, self.clock())

    def _documents(self, ids: Collection[str]) -> dict[str, Document]:
        if not ids:
            return {}
        found = self.store.documents(OneOf("id", tuple(ids)), Page(len(ids)))
        return {document.id: document for document in found}

    def _related(self, document: Document) -> tuple[Related, ...]:
        relations = self.store.relations(document.id)
        others = self._documents({_other(relation, document) for relation in relations})
        return tuple(
            Related(
                relation.relation,
                "to" if relation.source == document.id else "from",
                others[_other(relation, document)],
                relation.origin,
                relation.created_at,
            )
            for relation in relations
            if _other(relation, document) in others
        )


def _other(relation: Relation, document: Document) -> str:
    return relation.target if relation.source == document.id else relation.source


def _beside(document: Document, sign: Operator) -> Condition:
    """Made before (<) or after (>); among those of the same moment, by their numbers."""
    at_once = AllOf(
        (Compare("created_at", "=", document.created_at), Compare("seq", sign, document.seq))
    )
    return AnyOf((Compare("created_at", sign, document.created_at), at_once))
