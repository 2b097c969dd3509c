"""A store as somebody with less than full access sees it.

The one place where a project restriction and read-only access hold: whatever asks the store, by
whichever operation, gets documents and sessions of the project alone, and writes nothing else.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from knowbase.errors import Conflict, NotAllowed
from knowbase.query.conditions import (
    EVERYTHING,
    FORGOTTEN,
    Compare,
    Condition,
    Contains,
    Not,
    OneOf,
    both,
)
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.contract import Copying, Store
from knowbase.text.analysis import Word
from knowbase.values.access import Access
from knowbase.values.changes import Changes, Draft, SavedSearch
from knowbase.values.documents import ALL, Candidate, Counts, Document, Page, Passage
from knowbase.values.edges import Edge, Relation
from knowbase.values.files import FileRecord, Source
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, StoredModel, Vector


class ScopedStore:
    """See `knowbase.store.contract.Store` for what each method promises."""

    def __init__(self, store: Store, access: Access) -> None:
        self._store = store
        self._access = access
        project = access.project
        self._ours: Condition = EVERYTHING if project is None else Compare("project", "=", project)

    def close(self) -> None:
        """Whoever opened the store closes it."""

    # writing

    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:
        self._need_writing()
        if self._access.project is not None:
            changes = self._within(changes, self._access.project)
        return self._store.apply(changes, now, wait=wait)

    def _within(self, changes: Changes, project: str) -> Changes:
        """The changes if all of them concern the project; what is new belongs to it."""
        if changes.removed or changes.files or changes.forgotten:
            raise NotAllowed("removing for good needs access to the whole base", hint="kb forget")
        if changes.sources or changes.dropped_sources or changes.codes:
            raise NotAllowed("this needs access to the whole base")
        drafts = tuple(self._draft(draft, project) for draft in changes.drafts)
        self._check_documents(changes, {draft.id for draft in drafts})
        self._check_sessions(
            {*(one.id for one in changes.sessions), *(use.session for use in changes.uses)}, project
        )
        sessions = tuple(session._replace(project=project) for session in changes.sessions)
        return changes._replace(drafts=drafts, sessions=sessions)

    def _draft(self, draft: Draft, project: str) -> Draft:
        if draft.reading.value("project") not in (None, project):
            raise NotAllowed(
                f"this access is for the project {project!r} alone",
                field="project",
                hint="leave the project out",
            )
        there = self._store.find(draft.id)
        if draft.path is not None or (there is not None and there.project != project):
            raise NotAllowed("this document is not of the project")
        self._check_code(draft)
        return draft._replace(reading=draft.reading.stating(project=project))

    def _check_code(self, draft: Draft) -> None:
        """A code that is taken elsewhere is refused as one's own is, without a word on whose."""
        code = draft.reading.value("code")
        owner = self._store.find(code) if code else None
        if owner is None or owner.id == draft.id or self._is_ours(owner):
            return
        raise Conflict(f"the code {code} is taken", field="code", hint="take another")

    def _check_documents(self, changes: Changes, new: set[str]) -> None:
        named = {edit.document for edit in changes.edits}
        named |= {one.document for one in changes.reinforced}
        named |= {verdict.document for verdict in changes.verdicts}
        named |= {use.document for use in changes.uses}
        for relation in (*changes.relations, *changes.dropped_relations):
            named |= {relation.source, relation.target}
        if len(self._known(named - new)) != len(named - new):
            raise NotAllowed("this document is not of the project")

    def _check_sessions(self, names: set[str], project: str) -> None:
        """A session's name means one session: another project's cannot be gone on with."""
        for session in self._store.sessions(names).values():
            if session.project != project:
                raise NotAllowed(
                    f"the session {session.id!r} cannot be used here",
                    field="session",
                    hint="take another name",
                )

    # documents

    def find(self, reference: str) -> Document | None:
        found = self._store.find(reference)
        return found if found is not None and self._is_ours(found) else None

    def documents(self, condition: Condition, page: Page) -> list[Document]:
        return self._store.documents(both(self._ours, condition), page)

    def count(self, condition: Condition) -> int:
        return self._store.count(both(self._ours, condition))

    def chunks(self, document: str) -> list[Passage]:
        return self._store.chunks(document) if self._known((document,)) else []

    def codes(self) -> list[str]:
        if self._access.project is None:
            return self._store.codes()
        return [document.code for document in self.documents(Not(FORGOTTEN), ALL)]

    def openings(self, documents: Collection[str]) -> dict[str, str]:
        return self._store.openings(self._known(documents))

    def heads(self, documents: Collection[str]) -> dict[str, Document]:
        found = self._store.heads(self._known(documents))
        return {one: head for one, head in found.items() if self._is_ours(head)}

    def tags(self, condition: Condition) -> list[tuple[str, int]]:
        return self._store.tags(both(self._ours, condition))

    def projects(self, condition: Condition) -> list[tuple[str, int]]:
        return self._store.projects(both(self._ours, condition))

    # retrieval

    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        return self._store.keyword(query, both(self._ours, condition), limit, weights)

    def semantic(
        self, vector: Vector, condition: Condition, limit: int, model: Model | None = None
    ) -> list[Candidate]:
        return self._store.semantic(vector, both(self._ours, condition), limit, model)

    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        """A word that only other projects have is as unknown as one that nobody has."""
        if self._access.project is None:
            return self._store.unknown_words(words)
        return [word for word in words if not self.newest(Contains(word), 1)]

    def nearest_words(self, word: Word, limit: int) -> list[str]:
        near = self._store.nearest_words(word, limit)
        if self._access.project is None:
            return near
        return [one for one in near if self.newest(Contains(Word(one)), 1)]

    def newest(self, condition: Condition, limit: int) -> list[Passage]:
        return self._store.newest(both(self._ours, condition), limit)

    def passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        found = self._store.passages(chunks)
        return {number: one for number, one in found.items() if self._is_ours(one.document)}

    # sessions and relations

    def sessions(self, ids: Collection[str]) -> dict[str, Session]:
        found = self._store.sessions(ids)
        return {name: one for name, one in found.items() if self._has(one.project)}

    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        if not self._has(project if project is not None else self._access.project):
            return []
        return self._store.recent_sessions(project or self._access.project, page)

    def uses_in(self, session: str) -> list[Use]:
        uses = self._store.uses_in(session) if self.sessions((session,)) else []
        known = self._known({use.document for use in uses})
        return [use for use in uses if use.document in known]

    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        uses = self._store.latest_uses(self._known(documents), usage)
        if self._access.project is None:
            return uses
        shown = self.sessions({use.session for use in uses.values()})
        return {one: use for one, use in uses.items() if use.session in shown}

    def relations(self, document: str) -> list[Relation]:
        found = self._store.relations(document) if self._known((document,)) else []
        known = self._known({end for one in found for end in (one.source, one.target)})
        return [one for one in found if one.source in known and one.target in known]

    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        return self._store.related_counts(self._known(documents), both(self._ours, shown))

    # the graph

    def edges(self, condition: Condition) -> list[Edge]:
        return self._store.edges(both(self._ours, condition))

    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        return self._store.edges_around(self._known(documents), depth, both(self._ours, condition))

    def unresolved(self, document: str) -> list[Link]:
        """Nothing for a project: what is missing there would tell what others have."""
        return self._store.unresolved(document) if self._access.project is None else []

    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        if not self._known((document,)):
            return []
        return self._store.sharing_tags(document, least, both(self._ours, condition))

    def link_similar(self, threshold: float) -> int:
        self._need_writing()
        return self._store.link_similar(threshold)

    def relink(self) -> None:
        self._need_everything()
        self._store.relink()

    # files

    def sources(self) -> list[Source]:
        return self._store.sources() if self._access.project is None else []

    def files(self) -> dict[str, FileRecord]:
        return self._store.files() if self._access.project is None else {}

    def problems(self) -> list[FileRecord]:
        return self._store.problems() if self._access.project is None else []

    # saved searches belong to the whole base: what they ask can tell of other projects

    def saved_searches(self) -> list[SavedSearch]:
        return self._store.saved_searches() if self._access.project is None else []

    def save_search(self, search: SavedSearch, *, replace: bool = False) -> bool:
        self._need_everything()
        return self._store.save_search(search, replace=replace)

    def drop_search(self, name: str) -> bool:
        self._need_everything()
        return self._store.drop_search(name)

    def copying(self) -> Copying:
        self._need_everything()
        return self._store.copying()

    # models and their vectors: the same for everybody, changed with full access alone

    def model(self) -> Model | None:
        return self._store.model()

    def models(self) -> list[StoredModel]:
        return self._store.models()

    def use_model(self, model: Model, source: str = "") -> None:
        self._need_writing()
        self._store.use_model(model, source)

    def put_vectors(self, model: Model, source: str, vectors: Mapping[str, Vector]) -> None:
        self._need_everything()
        self._store.put_vectors(model, source, vectors)

    def unembedded(self, model: Model, after: int, limit: int) -> list[Passage]:
        self._need_everything()
        return self._store.unembedded(model, after, limit)

    def switch_model(self, model: Model) -> bool:
        self._need_everything()
        return self._store.switch_model(model)

    def drop_model(self, model: Model) -> None:
        self._need_everything()
        self._store.drop_model(model)

    def vectors(self, hashes: Collection[str], model: Model | None = None) -> Mapping[str, Vector]:
        return self._store.vectors(hashes, model)

    def semantic_coverage(self) -> float:
        return self._store.semantic_coverage()

    def counts(self) -> Counts:
        """Of the whole base: how many, never which."""
        return self._store.counts()

    # what is ours

    def _has(self, project: str | None) -> bool:
        return self._access.project is None or project == self._access.project

    def _is_ours(self, document: Document) -> bool:
        return self._has(document.project)

    def _known(self, documents: Iterable[str]) -> list[str]:
        """Those of the ids that are the project's."""
        ids = list(documents)
        if self._access.project is None or not ids:
            return ids
        found = self._store.documents(
            both(self._ours, OneOf("id", tuple(ids))), Page(len(ids), order="created")
        )
        ours = {document.id for document in found}
        return [one for one in ids if one in ours]

    def _need_writing(self) -> None:
        if not self._access.write:
            raise NotAllowed("this access is for reading alone")

    def _need_everything(self) -> None:
        if not self._access.write or self._access.project is not None:
            raise NotAllowed("this needs access to the whole base")
