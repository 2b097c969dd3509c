"""A store as somebody with less than full access sees it.

The one place where a project restriction and read-only access hold: whatever asks the store, by
whichever operation, gets documents and sessions of the project alone, and writes nothing else.
Each method states its policy; one that states none is not there.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager

from knowbase.errors import NotAllowed
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
from knowbase.query.words import FieldWeights, Frequencies, KeywordQuery
from knowbase.store.contract import (
    CalibrationStore,
    DocumentStore,
    FileStore,
    GraphStore,
    HistoryStore,
    LeaseStore,
    RetrievalStore,
    SavedSearchStore,
    SpaceStore,
    Store,
    VectorStore,
)
from knowbase.store.naming import OwnNames
from knowbase.store.policies import Policy, narrowed, of_project, passed_on, stated
from knowbase.text.analysis import Word
from knowbase.values.access import Access
from knowbase.values.calibration import Calibration
from knowbase.values.changes import Changes, Draft, SavedSearch
from knowbase.values.documents import ALL, Candidate, Document, Page, Passage
from knowbase.values.edges import Edge, Relation
from knowbase.values.files import FileRecord, Look, Settled, Source
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, StoredModel, Vector


class ScopedStore:
    """See `knowbase.store.contract.Store` for what each method promises."""

    keeps: Callable[[Document], bool] | None  # the store itself knows

    def __init__(self, store: Store, access: Access) -> None:
        self._store = store
        self._access = access
        project = access.project
        self._ours: Condition = EVERYTHING if project is None else Compare("project", "=", project)
        self._names = OwnNames(store, project or "")

    @stated(Policy.SHARED)
    def close(self) -> None:
        """Whoever opened the store closes it."""

    # writing

    @stated(Policy.WRITING)
    def apply(self, changes: Changes, now: str, *, wait: bool = True) -> list[Document]:
        if self._access.project is not None:
            changes = self._within(changes, self._access.project)
        return self._store.apply(changes, now, wait=wait)

    def _within(self, changes: Changes, project: str) -> Changes:
        """The changes if all of them concern the project; what is new belongs to it."""
        if changes.removed or changes.erased or changes.files or changes.forgotten:
            raise NotAllowed("removing for good needs access to the whole base", hint="kb forget")
        if changes.sources or changes.dropped_sources or changes.codes:
            raise NotAllowed("this needs access to the whole base")
        drafts = tuple(self._draft(draft, project) for draft in changes.drafts)
        self._check_documents(changes, {draft.id for draft in drafts})
        names = self._names
        sessions = tuple(
            one._replace(id=names.session(one.id), project=project) for one in changes.sessions
        )
        uses = tuple(use._replace(session=names.session(use.session)) for use in changes.uses)
        return changes._replace(drafts=drafts, sessions=sessions, uses=uses)

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
        reading = draft.reading.stating(project=project, code=self._code(draft, there))
        return draft._replace(reading=reading)

    def _code(self, draft: Draft, there: Document | None) -> str | None:
        """A project's codes begin with its name: whether others have a code, none can tell."""
        code = draft.reading.value("code")
        owner = self.find(code) if code else None
        if owner is not None and owner.id == draft.id:
            return owner.code
        if code is None:
            return None if there is not None else self._names.next_code()
        return self._names.code(code)

    def _check_documents(self, changes: Changes, new: set[str]) -> None:
        named = {edit.document for edit in changes.edits}
        named |= {one.document for one in changes.reinforced}
        named |= {verdict.document for verdict in changes.verdicts}
        named |= {use.document for use in changes.uses}
        for relation in (*changes.relations, *changes.dropped_relations):
            named |= {relation.source, relation.target}
        if len(self._known(named - new)) != len(named - new):
            raise NotAllowed("this document is not of the project")

    # documents

    @of_project
    def find(self, reference: str) -> Document | None:
        """A code of the project needs not be written in full."""
        for name in (self._names.code(reference), reference):
            found = self._store.find(name)
            if found is not None and self._is_ours(found):
                return found
        return None

    documents = narrowed(DocumentStore.documents)
    count = narrowed(DocumentStore.count)

    @of_project
    def chunks(self, document: str) -> list[Passage]:
        return self._store.chunks(document) if self._known((document,)) else []

    @of_project
    def codes(self) -> list[str]:
        return [document.code for document in self.documents(Not(FORGOTTEN), ALL)]

    @of_project
    def openings(self, documents: Collection[str]) -> dict[str, str]:
        return self._store.openings(self._known(documents))

    @of_project
    def heads(self, documents: Collection[str]) -> dict[str, Document]:
        found = self._store.heads(self._known(documents))
        return {one: head for one, head in found.items() if self._is_ours(head)}

    tags = narrowed(DocumentStore.tags)
    heaviest = narrowed(DocumentStore.heaviest)
    projects = narrowed(DocumentStore.projects)
    meta_keys = narrowed(DocumentStore.meta_keys)
    counts = narrowed(DocumentStore.counts)
    generation = passed_on(Policy.SHARED, DocumentStore.generation)

    digest = narrowed(DocumentStore.digest)
    semantic_coverage = narrowed(DocumentStore.semantic_coverage)
    # retrieval

    @of_project
    def keyword(
        self, query: KeywordQuery, condition: Condition, limit: int, weights: FieldWeights
    ) -> list[Candidate]:
        """How rare a word is elsewhere is nothing that a score may tell."""
        query = query._replace(among=self._of_ours(query.among))
        return self._store.keyword(query, self._of_ours(condition), limit, weights)

    @of_project
    def matching(self, query: KeywordQuery, condition: Condition) -> int:
        return self._store.matching(query, self._of_ours(condition))

    @of_project
    def frequencies(self, words: Sequence[Word], among: Condition = EVERYTHING) -> Frequencies:
        return self._store.frequencies(words, self._of_ours(among))

    @of_project
    def semantic(
        self, vector: Vector, condition: Condition, limit: int, model: Model | None = None
    ) -> list[Candidate]:
        return self._store.semantic(vector, self._of_ours(condition), limit, model)

    @of_project
    def unknown_words(self, words: Sequence[Word]) -> list[Word]:
        """A word that only other projects have is as unknown as one that nobody has."""
        nowhere = set(self._store.unknown_words(words))
        return [one for one in words if one in nowhere or not self.newest(Contains(one), 1)]

    @of_project
    def nearest_words(self, word: Word, limit: int) -> list[str]:
        near = self._store.nearest_words(word, limit)
        return [one for one in near if self.newest(Contains(Word(one)), 1)]

    newest = narrowed(RetrievalStore.newest)

    @stated(Policy.SHARED)
    def one_state(self) -> AbstractContextManager[None]:
        return self._store.one_state()

    @of_project
    def passages(self, chunks: Collection[int]) -> dict[int, Passage]:
        found = self._store.passages(chunks)
        return {number: one for number, one in found.items() if self._is_ours(one.document)}

    facets = narrowed(RetrievalStore.facets)
    # sessions and relations

    @of_project
    def sessions(self, ids: Collection[str]) -> dict[str, Session]:
        asked = {self._names.session(name): name for name in ids}
        found = self._store.sessions(asked)
        return {
            asked[name]: self._shown(one) for name, one in found.items() if self._has(one.project)
        }

    @of_project
    def recent_sessions(self, project: str | None, page: Page) -> list[Session]:
        if project not in (None, self._access.project):
            return []
        return [self._shown(one) for one in self._store.recent_sessions(self._access.project, page)]

    def _shown(self, session: Session) -> Session:
        return session._replace(id=self._names.shown_session(session.id))

    @of_project
    def uses_in(self, session: str) -> list[Use]:
        known = self.sessions((session,))
        uses = self._store.uses_in(self._names.session(session)) if known else []
        ours = self._known({use.document for use in uses})
        return [use._replace(session=session) for use in uses if use.document in ours]

    @of_project
    def latest_uses(self, documents: Collection[str], usage: str | None = None) -> dict[str, Use]:
        uses = self._store.latest_uses(self._known(documents), usage)
        sessions = self._store.sessions({use.session for use in uses.values()})
        return {
            one: use._replace(session=self._names.shown_session(use.session))
            for one, use in uses.items()
            if use.session in sessions and self._has(sessions[use.session].project)
        }

    @of_project
    def relations(self, document: str) -> list[Relation]:
        found = self._store.relations(document) if self._known((document,)) else []
        known = self._known({end for one in found for end in (one.source, one.target)})
        return [one for one in found if one.source in known and one.target in known]

    @of_project
    def related_counts(self, documents: Collection[str], shown: Condition) -> dict[str, int]:
        return self._store.related_counts(self._known(documents), self._of_ours(shown))

    # the graph

    edges = narrowed(GraphStore.edges)
    wiring = narrowed(GraphStore.wiring)

    @of_project
    def edges_around(
        self, documents: Collection[str], depth: int, condition: Condition
    ) -> list[Edge]:
        return self._store.edges_around(self._known(documents), depth, self._of_ours(condition))

    @of_project
    def unresolved(self, document: str) -> list[Link]:  # noqa: ARG002 - as the contract has it
        """Nothing for a project: what is missing there would tell what others have."""
        return []

    @of_project
    def unresolved_in(self, documents: Collection[str]) -> dict[str, list[Link]]:  # noqa: ARG002
        """Nothing for a project, for the same reason."""
        return {}

    @of_project
    def dead_links(self) -> list[tuple[str, int]]:
        """Nothing for a project, for the same reason."""
        return []

    @of_project
    def sharing_tags(
        self, document: str, least: int, condition: Condition
    ) -> list[tuple[str, int]]:
        if not self._known((document,)):
            return []
        return self._store.sharing_tags(document, least, self._of_ours(condition))

    link_similar = passed_on(Policy.WRITING, GraphStore.link_similar)
    relink = passed_on(Policy.WHOLE, GraphStore.relink)

    # files

    @of_project
    def sources(self) -> list[Source]:
        return []

    @of_project
    def files(self, within: Collection[str] | None = None) -> dict[str, FileRecord]:  # noqa: ARG002
        return {}

    @of_project
    def looks(self, source: str, settled: Settled) -> dict[str, Look]:  # noqa: ARG002
        return {}

    @of_project
    def unsettled(
        self,
        sources: Collection[str],  # noqa: ARG002
        settled: Settled,  # noqa: ARG002
    ) -> dict[str, FileRecord]:
        return {}

    @of_project
    def problems(self) -> list[FileRecord]:
        return []

    has_lost_writes = passed_on(Policy.SHARED, FileStore.has_lost_writes)
    clear_lost_writes = passed_on(Policy.WHOLE, FileStore.clear_lost_writes)

    # saved searches belong to the whole base: what they ask can tell of other projects

    @of_project
    def saved_searches(self) -> list[SavedSearch]:
        return []

    @of_project
    def synonyms(self) -> list[str]:
        return []

    save_search = passed_on(Policy.WHOLE, SavedSearchStore.save_search)
    drop_search = passed_on(Policy.WHOLE, SavedSearchStore.drop_search)
    replace_synonyms = passed_on(Policy.WHOLE, SavedSearchStore.replace_synonyms)

    # what the base has learnt of its answers was learnt from all projects

    @of_project
    def calibration(self) -> Calibration | None:
        return None

    @of_project
    def hashes(self, chunks: Collection[int]) -> Mapping[int, str]:  # noqa: ARG002 - the interface
        return {}

    put_calibration = passed_on(Policy.WHOLE, CalibrationStore.put_calibration)
    lease = passed_on(Policy.WRITING, LeaseStore.lease)
    end_lease = passed_on(Policy.WRITING, LeaseStore.end_lease)
    space = passed_on(Policy.WHOLE, SpaceStore.space)
    compact = passed_on(Policy.WHOLE, SpaceStore.compact)

    # models and their vectors: one model for all, the first to write decides on it

    @of_project
    def models(self) -> list[StoredModel]:
        """The one in use, with as many vectors as the project has of it."""
        number = self.counts().embedded
        return [one._replace(vectors=number) for one in self._store.models() if one.active]

    model = passed_on(Policy.SHARED, VectorStore.model)
    vectors = passed_on(Policy.SHARED, VectorStore.vectors)
    use_model = passed_on(Policy.WRITING, VectorStore.use_model)
    put_vectors = passed_on(Policy.WHOLE, VectorStore.put_vectors)
    unembedded = passed_on(Policy.WHOLE, VectorStore.unembedded)
    claims = passed_on(Policy.WHOLE, VectorStore.claims)
    renew_index = passed_on(Policy.WRITING, VectorStore.renew_index)
    vector_index = passed_on(Policy.WHOLE, VectorStore.vector_index)
    switch_model = passed_on(Policy.WHOLE, VectorStore.switch_model)
    drop_model = passed_on(Policy.WHOLE, VectorStore.drop_model)

    # the base as a whole

    copying = passed_on(Policy.WHOLE, Store.copying)
    replicas = passed_on(Policy.WHOLE, Store.replicas)
    cluster = passed_on(Policy.WHOLE, Store.cluster)

    @stated(Policy.PROJECT)
    def history(self) -> HistoryStore:
        from knowbase.store.scoped_history import scoped_history

        return scoped_history(self._store.history(), self._access, self._names)

    @stated(Policy.PROJECT)
    def as_of(self, number: int) -> Store:
        from knowbase.store.scoped_history import real_number

        real = real_number(self.history(), number)
        view: Store = _ScopedAsOf(self._store.as_of(real), self._access)
        return view

    # what is ours

    def _of_ours(self, condition: Condition) -> Condition:
        return both(self._ours, self._names.condition(condition))

    def _has(self, project: str | None) -> bool:
        return project == self._access.project

    def _is_ours(self, document: Document) -> bool:
        return self._has(document.project)

    def _known(self, documents: Iterable[str]) -> list[str]:
        """Those of the ids that are the project's."""
        ids = list(documents)
        if not ids:
            return ids
        found = self._store.documents(
            both(self._ours, OneOf("id", tuple(ids))), Page(len(ids), order="created")
        )
        ours = {document.id for document in found}
        return [one for one in ids if one in ours]


class _ScopedAsOf(ScopedStore):
    """One that was opened for itself alone."""

    def close(self) -> None:
        self._store.close()
