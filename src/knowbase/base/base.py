"""Base: the object that users hold, and what can be asked of it."""

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from knowbase.base import given
from knowbase.base.services import BaseServices
from knowbase.errors import Conflict, NotAllowed
from knowbase.query.conditions import Visible, both
from knowbase.ranking.profile import Profile
from knowbase.search.answer import Answer
from knowbase.search.request import SearchRequest
from knowbase.search.search import search
from knowbase.search.services import Language, Services
from knowbase.store.location import home_of, is_url, locate, new_place
from knowbase.store.opening import create_store
from knowbase.values.arguments import checks_arguments
from knowbase.values.characters import storable
from knowbase.values.documents import ALL, Document, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from knowbase.base.keywords import SearchKeywords, Texts
    from knowbase.base.status import Status
    from knowbase.ingest.embedding import Embedding, Step
    from knowbase.ingest.removal import Removal
    from knowbase.ingest.report import Progress, Report
    from knowbase.memory.brief import Brief
    from knowbase.memory.bulk import WrittenNotes
    from knowbase.memory.lifecycle import Changed
    from knowbase.memory.notes import NoteServices
    from knowbase.memory.sessions import DocumentContext
    from knowbase.memory.use import Feedback
    from knowbase.search.plan import QueryPlan
    from knowbase.search.saved import SavedSearches
    from knowbase.search.understand import Inquiry
    from knowbase.search.whynot import WhyNot
    from knowbase.text.sections import Content
    from knowbase.upkeep.backup import Backup
    from knowbase.upkeep.check import Checked
    from knowbase.values.documents import Listing
    from knowbase.values.folders import Folder
    from knowbase.values.notes import Note, Remembered


def open(path: "Path | None" = None) -> "Base":  # noqa: A001 - knowbase.open reads well
    """An existing base, by its path or found upwards from the working folder."""
    return Base(locate(_place(path)))


def create(path: "Path | None" = None, *, profile: str | None = None) -> "Base":
    """A new base at `path` (a file, a folder to hold .kb/base.db, or a URL), else here; its
    ranking recipe is kept in kb.toml."""
    target = new_place(_place(path) or os.environ.get("KB_BASE") or os.getcwd())
    if profile is not None:
        from knowbase.base.choosing import check_profile, keep_profile

        check_profile(profile, home_of(target))
    is_new = create_store(target)
    if profile is not None:
        keep_profile(profile, home_of(target))
    base = Base(target)
    base.is_new = is_new
    return base


Path: TypeAlias = str | os.PathLike[str]
LEAST_BRIEF = 50  # tokens


@checks_arguments
class Base(BaseServices):
    """One knowledge base."""

    # finding

    def search(
        self, request: SearchRequest | str = "", **keywords: "Unpack[SearchKeywords]"
    ) -> Answer:
        """Hits for a query, best first: search("words", tags=["ops"], path="docs/")."""
        request = self._recalling(self._request(request, keywords))
        profile = self._profile_of(request)
        answer = search(request, profile, self.search_services, self.now())
        use = profile.record_use == "returned" or request.recalled_in is not None
        if use and self.access.write:
            self.recorder.returned(request, answer, profile.record_use)
        return answer

    def _request(
        self, request: SearchRequest | str, keywords: "Mapping[str, Any]"
    ) -> SearchRequest:
        """The request as it is stored and run: without vectors, a search is one by words."""
        request = given.search_request(request, keywords)
        if request.mode == "hybrid" and not self.settings.embed_vectors:
            return request._replace(mode="keyword")
        return request

    def _recalling(self, request: SearchRequest) -> SearchRequest:
        """The request with the name of its session as it is stored, if it records in one."""
        if request.recalled_in is None:
            return request
        from knowbase.values.changes import session_name

        if not self.access.write:
            raise NotAllowed(
                "recording in a session is writing",
                field="session",
                hint="session_filter looks without recording; over HTTP, a POST records",
            )
        name = session_name(request.recalled_in)
        if request.session is not None:
            return request._replace(session=name)
        return request._replace(session_record=name)

    def plan(
        self, request: SearchRequest | str = "", **keywords: "Unpack[SearchKeywords]"
    ) -> "QueryPlan":
        """What a query means, and what would run."""
        from knowbase.search.plan import plan

        return plan(self._understand(request, keywords), self.search_services.language)

    def why_not(
        self,
        reference: str,
        request: SearchRequest | str = "",
        **keywords: "Unpack[SearchKeywords]",
    ) -> "WhyNot":
        """Which stage of a search drops this document, or which place it has."""
        from knowbase.search.whynot import why_not

        document = self.whole(reference)
        return why_not(self._understand(request, keywords), self.search_services, document)

    def _understand(
        self, request: SearchRequest | str, keywords: "Mapping[str, Any] | None" = None
    ) -> "Inquiry":
        from knowbase.search.understand import understand

        request = self._request(request, keywords or {})
        language = self.search_services.language
        return understand(request, self._profile_of(request), language, self.now())

    @property
    def search_services(self) -> Services:
        """What a search of this base works with."""
        names = self.references
        language = Language(
            self.types,
            names.find,
            names.nearest,
            lambda one: bool(self.store.sessions((one,))),
            self.home,
        )
        grouping = lambda passing: self.graph.communities_among(passing)  # noqa: E731 - lazy
        has_vectors = self.settings.embed_vectors
        return Services(
            self.store, lambda: self.embedder, language, grouping, has_vectors=has_vectors
        )

    def _profile_of(self, request: SearchRequest) -> Profile:
        self.check_types(request.type)
        return self.profile_for(request.profile)

    @cached_property
    def saved(self) -> "SavedSearches":
        """Searches under a name: add, list, run, remove."""
        from knowbase.search.saved import SavedSearches

        return SavedSearches(self.store, self.search, self._understand, self.now)

    def get(self, reference: str) -> "Content":
        """A document by code, id, number or path; `:slug` behind it names one section."""
        from knowbase.text.sections import content_of

        document, slug = self.references.resolve(reference, by_name=True)
        content = content_of(document, self.store.chunks(document.id), slug)
        head = self.store.heads((document.id,)).get(document.id) if document.superseded_by else None
        return content._replace(current=head.code if head else None)

    def documents(
        self,
        *,
        tags: "Texts" = (),
        types: "Texts" = (),
        where: "Texts" = (),
        include: "Texts" = (),
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Listing":
        """Documents, newest first."""
        from knowbase.values.documents import Listing

        lists = {"tags": tags, "type": types, "where": where, "include": include}
        asked = self._understand("", {**lists, "tags_match": "all"})
        condition = both(asked.visible, asked.filter)
        return Listing(tuple(self.store.documents(condition, page)), self.store.count(condition))

    def browse(
        self,
        folder: str = "",
        *,
        tags: "Texts" = (),
        types: "Texts" = (),
        project: str | None = None,
        include: "Texts" = (),
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Folder":
        """The folders in a folder, and the documents below it, newest first."""
        from knowbase.text.folders import folder_name, folders_in
        from knowbase.values.folders import Folder

        name = folder_name(storable(folder))
        filters = {"path": f"/{name}"} if name else {}
        filters |= {"project": project} if project is not None else {}
        lists = {"tags": tags, "type": types, "include": include}
        asked = self._understand("", {**lists, "tags_match": "all", "filters": filters})
        found = self.store.documents(
            both(asked.visible, asked.filter), page._replace(limit=2**62, offset=0)
        )
        shown = found[page.offset : page.offset + page.limit]
        folders = folders_in(name, (document.path for document in found))
        return Folder(name, folders, tuple(shown), len(found))

    def tags(self) -> tuple[tuple[str, int], ...]:
        """Every tag and how many documents have it, most used first."""
        return tuple(self.store.tags(Visible(self.now())))

    @property
    def _has_own_file(self) -> bool:
        """Whether there is a file, and nothing in it that is not the caller's."""
        return not is_url(self.path) and self.access.project is None

    def status(self) -> "Status":
        from knowbase.base.status import Status
        from knowbase.ingest.sync import out_of_step
        from knowbase.ingest.telling import suspects, unread

        newer = self.models.newer()
        files = self.store.files().values()
        return Status(
            base=self.shown,
            size_bytes=_size(self.path) if self._has_own_file else None,
            **self.store.counts()._asdict(),
            model=self.store.model(),
            newer_model=newer.embedder.model if newer else None,
            models=tuple(self.store.models()),
            sources=tuple(self.store.sources()),
            problems=tuple(self.store.problems()),
            unread=unread(files),
            suspects=suspects(files, self.store),
            out_of_step=self.store.count(out_of_step(self.ingest_services().drafter)),
            copy_of=self.store.copying().source() if self.access.is_full else None,
            lost_writes=self.store.has_lost_writes(),
        )

    # filling

    def add(  # noqa: PLR0913 - as much as `kb add` takes
        self,
        paths: "Path | Iterable[Path]",
        *,
        tags: "Texts" = (),
        parent: str | None = None,
        tree: bool = False,
        defer: bool = False,
        verify: bool = False,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Report":
        """Put files and folders in, one or several, and keep them in step from now on.

        With `defer`, words find them at once and meaning after the next `embed`; with `verify`,
        every file is read to see whether it changed.
        """
        from knowbase.ingest.scopes import scopes_for
        from knowbase.ingest.sync import sync
        from knowbase.values.files import Source

        services = self.ingest_services(defer=defer)
        named = self.whole(parent).code if parent else None
        wanted = Source("", tuple(tags), named, tree)
        scopes = scopes_for(
            given.paths(paths, "paths"), wanted, self.store.sources(), services.home
        )
        scopes = [scope._replace(verify=verify) for scope in scopes]
        return sync(services, scopes, progress=progress)

    def sync(
        self,
        *,
        prune: bool = False,
        defer: bool = False,
        verify: bool = False,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Report":
        """Bring every source that was added in step with the disk."""
        from knowbase.ingest.pending import Scope
        from knowbase.ingest.sync import sync

        lost = self.store.has_lost_writes()
        scopes = [Scope(source, verify=verify or lost) for source in self.store.sources()]
        services = self.ingest_services(defer=defer)
        report = sync(services, scopes, prune=prune, notes=True, progress=progress)
        if lost and not report.interrupted:
            self.store.clear_lost_writes()
        return report

    def watch(self) -> "Iterator[Report]":
        """A report for each round of changes on disk, for as long as it is asked for more."""
        from knowbase.base.background import embedding
        from knowbase.ingest.watch import watch
        from knowbase.store.sqlite.beside import files_of

        services = self.ingest_services()
        roots = [services.home.absolute(source.path) for source in self.store.sources()]
        with embedding(self):
            yield from watch(self.sync, roots, set(files_of(os.path.abspath(self.path))))

    def note(self, note: "Note | str") -> Document:
        """Write a note; it is sectioned and embedded like a file."""
        from knowbase.memory.notes import write_note
        from knowbase.values.notes import as_note

        return write_note(self._note_services(), as_note(note))

    def notes(self, notes: "Sequence[Note | str]", *, key: str | None = None) -> "WrittenNotes":
        """Write many notes, all or none; sent again with the same key, they are not written
        again, and the answer is the first one."""
        from knowbase.memory.bulk import write_notes

        return write_notes(self._note_services(), notes, key, self.access.project or "")

    def _note_services(self) -> "NoteServices":
        from knowbase.memory.notes import NoteServices

        return NoteServices(
            self.ingest_services(), self.whole, lambda kind: self.check_types((kind,))
        )

    def embed(
        self,
        model: str | None = None,
        *,
        drop_old: bool = False,
        progress: "Callable[[Step], None]" = lambda _: None,
    ) -> "Embedding":
        """Make the vectors that are missing; those of another model beside, then switch to it."""
        result = self.models.embed(model, drop_old=drop_old, progress=progress)
        self.ingest_services().link_similar()
        return result

    # upkeep

    def backup(
        self,
        target: "Path",
        *,
        keep: int | None = None,
        dry_run: bool = False,
        progress: "Callable[[Step], None]" = lambda _: None,
    ) -> "Backup":
        """The whole base as one verified file, taken while others write; into a folder, dated."""
        from knowbase.upkeep.backup import Wanted, backup

        wanted = Wanted(given.path(target, "target"), keep, dry_run)
        return backup(self.store, self.path, wanted, self.now(), progress)

    def check(
        self, *, deep: bool = False, progress: "Callable[[Step], None]" = lambda _: None
    ) -> "Checked":
        """What is damaged or out of step; deep: every document, vector and file is read."""
        from knowbase.upkeep.check import check

        return check(self.store, self.shown, self.home, deep=deep, progress=progress)

    # memory

    def remember(self, note: "Note | str") -> "Remembered":
        """Write a memory, unless its text is known; what says almost the same is told."""
        from knowbase.memory.notes import remember
        from knowbase.values.notes import as_note

        return remember(self._note_services(), as_note(note))

    def tag(self, references: "Texts", *, add: "Texts" = (), remove: "Texts" = ()) -> "Changed":
        """Give notes and memories tags, or take tags from them; a file says its own."""
        from knowbase.memory.lifecycle import Changed
        from knowbase.memory.notes import retagged

        services = self._note_services()
        documents = [self.whole(reference) for reference in references]
        return Changed(tuple(retagged(services, documents, tuple(add), tuple(remove))))

    def feedback(self, reference: str, verdict: str, session: str | None = None) -> "Feedback":
        """Whether a hit was good: a use that counts, once a session or a day."""
        from knowbase.memory.use import REINFORCEMENT, feedback_on

        document = self.get(reference).document  # a section that is not there is an error
        counts = self.profile_for().record_use != "off"
        amount = REINFORCEMENT if counts else 0.0
        return feedback_on(self.store, document, verdict, session, self.now(), amount)

    def relate(
        self,
        source: str,
        target: str,
        relation: str = "RELATED_TO",
        *,
        by: str = "user",
        remove: bool = False,
    ) -> "DocumentContext":
        """Say what two documents have to do with each other, or that it is so no more; `by` is
        who says so, a user or an agent."""
        self.sessions.relate(source, target, relation, by=by, remove=remove)
        return self.sessions.context(source)

    def brief(self, project: str | None = None, max_tokens: int = 2000) -> "Brief":
        """What is worth knowing before work starts, packed to a number of tokens."""
        from knowbase.memory.brief import Briefing

        tokens = given.number(max_tokens, "max_tokens", LEAST_BRIEF)
        briefing = Briefing(self.store, self.models.count_tokens, self.now())
        return briefing.brief(storable(project), tokens)

    def expire(
        self,
        within: str | None = None,
        *,
        delete: bool = False,
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Listing | Removal":
        """What has expired or will; with `delete`, all that has is removed for good."""
        if not delete:
            return self.lifecycle.due(within, page)
        if within is not None:
            raise Conflict(
                "what has not expired is not deleted", field="within", hint="without within"
            )
        return self.remove([one.id for one in self.lifecycle.due(page=ALL).documents])

    def remove(self, references: "Texts", *, dry_run: bool = False) -> "Removal":
        """Remove documents, or a source with all its documents, from the base; never a file."""
        from knowbase.ingest.removal import removal_of

        def resolve(reference: str) -> Document:
            return self.references.find_any(reference) or self.whole(reference)

        named, home = tuple(references), self.ingest_services().home
        changes, removal = removal_of(named, self.store, home, resolve)
        if not dry_run:
            self.store.apply(changes, self.now())
        return removal._replace(dry_run=dry_run)


def _place(path: "Path | None") -> str | None:
    return None if path is None else given.path(path, "path")


def _size(path: str) -> int:
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
