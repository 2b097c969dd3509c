"""What is asked of a base: searches, lists, documents."""

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.base import given
from knowbase.base.services import BaseServices
from knowbase.errors import Conflict, InvalidInput, NotAllowed
from knowbase.query.conditions import EVERYTHING, Not, Visible, both
from knowbase.ranking.profile import Profile
from knowbase.search.answer import Answer
from knowbase.search.request import SearchRequest
from knowbase.search.search import search
from knowbase.search.services import Language, Second, Services
from knowbase.store.lagging import may_lag
from knowbase.values.arguments import checks_arguments
from knowbase.values.characters import storable
from knowbase.values.documents import Document, Page, Passage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Unpack

    from knowbase.base.keywords import SearchKeywords, Texts
    from knowbase.ingest.embedding import Step
    from knowbase.rendering import Rendered
    from knowbase.rendering.marking import Passages
    from knowbase.search.calibrate import Calibrated
    from knowbase.search.log import Searches
    from knowbase.search.plan import QueryPlan
    from knowbase.search.saved import SavedSearches
    from knowbase.search.synonyms import SynonymService
    from knowbase.search.understand import Inquiry
    from knowbase.search.whynot import WhyNot
    from knowbase.text.sections import Content
    from knowbase.values.documents import Listing
    from knowbase.values.folders import Folder


AS_OF = "as_of:"


class _Read(NamedTuple):
    """What a reference names."""

    document: Document
    chunks: "Sequence[Passage]"
    slug: str | None
    when: str | None = None  # None: as it is


@may_lag("search", "plan", "why_not", "get", "render", "documents", "browse", "tags")
@checks_arguments
class Finding(BaseServices):
    """The part of a base that finds; `Base` is the whole."""

    def search(
        self, request: SearchRequest | str = "", **keywords: "Unpack[SearchKeywords]"
    ) -> Answer:
        """Hits for a query, best first: search("words", tags=["ops"], path="docs/")."""
        request = self._request(request, keywords)
        when = self._moment_of(request)
        if when is not None:
            answer = self._search_as_of(when, request)
            return answer if request.draft else self._noted(request, answer)
        request = self._recalling(request)
        profile = self._profile_of(request)
        answer = search(request, profile, self.search_services, self.now())
        return self._recorded(request, profile, answer)

    def _recorded(self, request: SearchRequest, profile: Profile, answer: Answer) -> Answer:
        """An answer, once it is written down that it was given."""
        if self.moment is not None:  # that something is found again is no use of today
            return answer._replace(notices=(*answer.notices, self._told_moment()))
        if request.draft:
            return answer
        self._noted(request, answer)
        use = profile.record_use == "returned" or request.recalled_in is not None
        if use and self.access.write:
            self.recorder.returned(request, answer, profile.record_use)
        return answer

    def _noted(self, request: SearchRequest, answer: Answer) -> Answer:
        if self._searched is not None:
            self._searched.note(request.query, answer, self.now())
        return answer

    def moment_of(self, request: SearchRequest | str) -> str | None:
        """The moment that a search asks of, by a parameter or in its query."""
        return self._moment_of(self._request(request, {}))

    def _moment_of(self, request: SearchRequest) -> str | None:
        if self.moment is not None:
            return None  # it is asked of another one already
        when = request.as_of
        if AS_OF in request.query.lower() and request.syntax != "plain":
            from knowbase.search.understand import check, understand_query

            profile = self._profile_of(request)
            asked = understand_query(
                check(request, profile), profile.match, self.search_services.language, self.now()
            ).as_of
            if when is not None and asked not in (None, when):
                raise Conflict(
                    f"two moments are asked of: {when!r} and {asked!r}",
                    field="as_of",
                    hint="one of them",
                )
            when = when if asked is None else asked
        return when

    def _search_as_of(self, when: str, request: SearchRequest) -> Answer:
        """What a search would have found then. No text of a query is an error: of a moment that
        never was it finds nothing, and says why."""
        try:
            with self.as_of(when) as then:
                return then.search(request._replace(as_of=None))
        except (Conflict, InvalidInput) as error:
            if request.as_of is not None or error.field != "as_of":
                raise
            told = f"{error.message}: nothing was searched ({error.hint})"
        found = self.search(request._replace(query="", only=Not(EVERYTHING), draft=True))
        return found._replace(query=request.query, notices=(told,))

    def _told_moment(self) -> str:
        """Of which moment this base answers, and what of it is no longer kept."""
        if self.moment is None:
            return ""
        number, shown, _ = self.moment
        told = (
            f"as of {shown}" if shown == f"#{number}" else f"as of {shown}, after change #{number}"
        )
        lost = self.store.history().lost(number)
        if not lost:
            return told
        are = "document of then is" if lost == 1 else "documents of then are"
        return f"{told}; {lost} {are} no longer kept"

    def count_search(self, query: str, answer: Any) -> None:
        """Count one that another process made for this one."""
        if self._searched is not None:
            self._searched.note(query, answer, self.now())

    def searches(self, *, count: bool = False) -> "Searches":
        """What was searched for in this process, once it is counted; `count` begins to."""
        from knowbase.search.log import SearchLog

        if count and self._searched is None:
            self._searched = SearchLog()
        if self.access.project is not None:
            raise NotAllowed("what others search for concerns the whole base")
        return (self._searched or SearchLog()).summary()

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

        if self.moment is not None and request.session_record is not None:
            from knowbase.store.asked_of_the_past import refused

            raise refused()
        if not self.access.write:
            raise NotAllowed(
                "recording in a session is writing",
                field="session",
                hint="without a session it is only looked for; over HTTP, a POST records",
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

        request = self._request(request, keywords)
        when = self.moment_of(request)
        if when is not None:
            with self.as_of(when) as then:
                return then.plan(request._replace(as_of=None))
        return plan(self._understand(request), self.search_services.language)

    def why_not(
        self,
        reference: str,
        request: SearchRequest | str = "",
        **keywords: "Unpack[SearchKeywords]",
    ) -> "WhyNot":
        """Which stage of a search drops this document, or which place it has."""
        from knowbase.search.whynot import why_not

        request = self._request(request, keywords)
        when = self.moment_of(request)
        if when is not None:
            with self.as_of(when) as then:
                return then.why_not(reference, request._replace(as_of=None))
        document = self.named(reference)
        return why_not(self._understand(request), self.search_services, document)

    def calibrate(
        self, *, show: bool = False, progress: "Callable[[Step], None]" = lambda _: None
    ) -> "Calibrated":
        """Learn how answers of this base look, and those that are not there: for the verdicts.
        With `show`, only what was learnt last."""
        from knowbase.ingest.embedding import Step
        from knowbase.search.calibrate import calibrate, told

        if show:
            return told(self.store.calibration(), self.store)
        made = calibrate(
            self.search_services,
            self.now(),
            lambda done, total: progress(Step(done, total, "questions")),
        )
        if made is not None:
            self.store.put_calibration(made)
        return told(made)

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
            names.find_named,
            names.nearest,
            lambda one: bool(self.store.sessions((one,))),
            self.home,
        )
        grouping = lambda passing: self.graph.communities_among(passing)  # noqa: E731 - lazy
        has_vectors = self.settings.embed_vectors
        return Services(
            self.store,
            lambda: self.embedder,
            language,
            grouping,
            has_vectors=has_vectors,
            link=self._link_similar,
            second=self._second,
        )

    def _link_similar(self) -> None:
        from knowbase.store.linking import link_or_later

        link_or_later(self.store, self.settings)

    @property
    def _second(self) -> "Second | None":
        said = self.settings
        if not said.rerank_model:
            return None
        # An evaluation asks a base that lies elsewhere by the settings from here.
        folder = self.configuration.folder or self.home
        made = lambda: self._embedders.reranker(folder)  # noqa: E731 - lazy
        return Second(made, said.rerank_top, said.rerank_budget)

    def _profile_of(self, request: SearchRequest) -> Profile:
        self.check_types(request.type)
        return self.profile_for(request.profile)

    @cached_property
    def saved(self) -> "SavedSearches":
        """Searches under a name: add, list, run, remove."""
        from knowbase.search.saved import SavedSearches

        return SavedSearches(self.store, self.search, self._understand, self.now)

    @cached_property
    def synonyms(self) -> "SynonymService":
        """Words that stand for each other: add, list, remove, load."""
        from knowbase.search.synonyms import SynonymService

        return SynonymService(self.store, self.now)

    def get(self, reference: str, as_of: str | None = None) -> "Content":
        """A document by code, id, number or path; `:slug` behind it names one section, `@` and a
        moment what it was, as `as_of` does."""
        from knowbase.text.sections import content_of

        found = self._read(reference, as_of)
        document = found.document
        content = content_of(document, found.chunks, found.slug)
        if found.when is not None or not document.superseded_by:
            return content
        head = self.store.heads((document.id,)).get(document.id)
        return content._replace(current=head.code if head else None)

    def _read(self, reference: str, as_of: str | None = None) -> _Read:
        """What a reference names, as it is or, at a moment, with @ behind it too, as it was."""
        front, when = reference, as_of
        if as_of is not None:
            self._moment_named(as_of)
        if when is None and "@" in reference:
            front, when = self.history.split(reference)
        if when is None:
            document, slug = self.references.resolve(reference, by_name=True)
            return _Read(document, self.store.chunks(document.id), slug)
        slug = None
        if self.references.find_any(front) is None and ":" in front:
            front, _, slug = front.rpartition(":")
        kept = self.history.at(front, when)
        document = kept.document
        chunks = [Passage(one.id, one.chunk, document) for one in kept.copy.chunks]
        return _Read(document, chunks, slug, when)

    def render(self, reference: str, query: str = "", line: int | None = None) -> "Rendered":
        """A document as it is read, with the passages that a query finds in it; of a long one
        what stands around a line, a section that is named, or the best passage. With @ and a
        moment behind it all of that is of then."""
        from knowbase.rendering import render
        from knowbase.rendering.parts import Start
        from knowbase.text.sections import content_of, sections_of

        front, when = self.history.split(reference) if "@" in reference else (reference, None)
        if when is not None:
            with self.as_of(when) as then:
                return then.render(front, query, line)
        document, slug = self.references.resolve(reference, by_name=True)
        chunks = self.store.chunks(document.id)
        passages = self._passages_in(document, query)
        start = Start(line or 1)
        if line is None and slug is not None:
            named = content_of(document, chunks, slug).sections[0].section
            start = Start(slug=named.rpartition(":")[2])
        elif line is None and passages.chunks:
            start = Start(passages.chunks[0].line, passages.chunks[0].slug)
        sections = sections_of(chunks, document.code)
        shown = render(self.store, document, sections, passages, start)
        return shown._replace(when=self.moment.shown if self.moment else None)

    def _passages_in(self, document: "Document", query: str) -> "Passages":
        """What a search finds in one document: what has its words, and the best in any case."""
        from knowbase.query.conditions import HIDDEN_STATES, Compare
        from knowbase.rendering.marking import MOST_PASSAGES, Passages
        from knowbase.search.rank import rank_all

        only = Compare("id", "=", document.id)
        request = SearchRequest(query, unit="chunk", include=HIDDEN_STATES, only=only)
        inquiry = self._understand(request)
        if inquiry.query.is_empty:
            return Passages()
        outcome = rank_all(inquiry, self.search_services, MOST_PASSAGES)
        chunks = tuple(
            outcome.proposals.passages[one.chunk].chunk
            for number, one in enumerate(outcome.ranked[:MOST_PASSAGES])
            if number == 0 or any(part.leg == "keyword" for part in one.contributions)
        )
        looked_for = outcome.inquiry.query.keyword.weighed  # what was meant, and synonyms, too
        return Passages(chunks, tuple(word for word, _ in looked_for))

    def documents(  # noqa: PLR0913 - what can be asked for
        self,
        *,
        tags: "Texts" = (),
        types: "Texts" = (),
        where: "Texts" = (),
        path: str | None = None,
        project: str | None = None,
        include: "Texts" = (),
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Listing":
        """Documents, newest first."""
        from knowbase.memory.lifecycle import hidden_by_state
        from knowbase.values.documents import Listing

        lists = {"tags": tags, "type": types, "where": where, "include": include}
        asked = self._understand(
            "", {**lists, "tags_match": "all", "path": path, "project": project}
        )
        condition = both(asked.visible, asked.filter)
        total = self.store.count(condition)
        notices: tuple[str, ...] = ()
        if not total or where:
            from knowbase.search.unknown import unknown_names

            notices = tuple(unknown_names(asked, self.store, keys_alone=total > 0))
        if self.moment is not None:
            notices = (*notices, self._told_moment())
        hidden = hidden_by_state(self.store, asked.filter, self.now(), include)
        return Listing(tuple(self.store.documents(condition, page)), total, notices, hidden)

    def browse(  # noqa: PLR0913 - what can be asked for
        self,
        folder: str = "",
        *,
        tags: "Texts" = (),
        types: "Texts" = (),
        project: str | None = None,
        created: "Texts" = (),
        session: str | None = None,
        writer: str | None = None,
        include: "Texts" = (),
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Folder":
        """The folders in a folder, and the documents below it, newest first. What an agent wrote
        was made in a session; what a person wrote, in none, and it has no file."""
        from knowbase.query.writers import written_by
        from knowbase.store.facets import Ages
        from knowbase.text.folders import folder_name, folders_in
        from knowbase.values.folders import Folder

        name = folder_name(storable(folder))
        filters = {"path": f"/{name}"} if name else {}
        filters |= {"project": project} if project is not None else {}
        filters |= {"session": session} if session is not None else {}
        lists = {"tags": tags, "type": types, "include": include}
        asked = self._understand("", {**lists, "tags_match": "all", "filters": filters})
        times = (self._understand("", {"filters": {"created": one}}).filter for one in created)
        below = both(asked.visible, asked.filter, *times, *written_by(writer))
        counts = self.store.facets(below, ("folder",), Ages(())).get("folder", [])
        shown, total = self.store.documents(below, page), self.store.count(below)
        notices: tuple[str, ...] = ()
        if not total:
            from knowbase.search.unknown import unknown_names

            notices = tuple(unknown_names(asked, self.store))
        return Folder(name, folders_in(name, counts), tuple(shown), total, notices)

    def tags(self) -> tuple[tuple[str, int], ...]:
        """Every tag and how many documents have it, most used first."""
        return tuple(self.store.tags(Visible(self.now())))
