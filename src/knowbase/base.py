"""Base: the object that users hold. It puts the parts together and keeps no state of its own."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from knowbase import config
from knowbase.answers import Answer, SearchRequest
from knowbase.errors import BaseLocked, BaseMissing, InvalidInput, NotFound
from knowbase.query.conditions import Condition, OneOf, Tagged, Visible, both
from knowbase.ranking.profile import PROFILES, Profile
from knowbase.search import Language, Searcher, clean_tag
from knowbase.store.sqlite import SqliteStore
from knowbase.store.sqlite import create as create_sqlite
from knowbase.store.values import Page
from knowbase.times import timestamp
from knowbase.types import DOCUMENT_TYPES, Document, Source

if TYPE_CHECKING:
    from knowbase.documents import Content, Listing, Note, Status
    from knowbase.embed import Embedder
    from knowbase.ingest.removal import Removal
    from knowbase.ingest.sync import Parts, Progress, Report
    from knowbase.plan import QueryPlan
    from knowbase.ranking.custom import Custom
    from knowbase.whynot import WhyNot

FOLDER = ".kb"
FILE = "base.db"


def locate(base: str | None, start: str | None = None) -> str:
    """The base's file: as given, else KB_BASE, else .kb/base.db here or in a folder above."""
    given = base or os.environ.get("KB_BASE")
    if given:
        given = os.path.abspath(os.path.expanduser(given))
        return os.path.join(given, FOLDER, FILE) if os.path.isdir(given) else given
    folder = os.path.abspath(start or os.getcwd())
    while True:
        path = os.path.join(folder, FOLDER, FILE)
        if os.path.exists(path):
            return path
        if os.path.dirname(folder) == folder:
            raise BaseMissing(
                "there is no base here or in any folder above",
                hint="make one with: kb init",
            )
        folder = os.path.dirname(folder)


def home_of(path: str) -> str:
    """The folder that a base's relative paths start from, and where its kb.toml lies."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.dirname(folder) if os.path.basename(folder) == FOLDER else folder


def open(path: str | None = None) -> "Base":  # noqa: A001 - knowbase.open reads well
    """An existing base, by its path or found upwards from the working folder."""
    return Base(locate(path))


def create(path: str | None = None) -> "Base":
    """A new base at `path` (a file, or a folder to hold .kb/base.db), else here."""
    given = os.path.expanduser(path or os.environ.get("KB_BASE") or os.getcwd())
    target = os.path.abspath(given)
    if os.path.isdir(target) or given.endswith(("/", os.sep)):
        target = os.path.join(target, FOLDER, FILE)
    create_sqlite(target).close()
    return Base(target)


class Base:
    """One knowledge base."""

    def __init__(
        self,
        path: str,
        *,
        embedder: "Embedder | None" = None,
        clock: Callable[[], float] = time.time,
        configuration: config.Configuration | None = None,
    ) -> None:
        self.path = path
        self.home = home_of(path)
        self.configuration = configuration or config.load(self.home, os.environ)
        self.settings = self.configuration.settings
        self.profile(self.settings.search_profile)  # a mistake is said at once, whatever is asked
        self.store = SqliteStore(path, self.settings.store_busy_timeout)
        self._given_embedder = embedder
        self._clock = clock

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> "Base":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # finding

    def search(self, request: SearchRequest | str) -> Answer:
        """Hits for a query, best first."""
        if isinstance(request, str):
            request = SearchRequest(request)
        return self.searcher(request).search(request, self.now())

    def plan(self, request: SearchRequest | str) -> "QueryPlan":
        """What a query means, and what would run."""
        from knowbase.plan import plan

        if isinstance(request, str):
            request = SearchRequest(request)
        return plan(self.searcher(request), request, self.now())

    def why_not(self, reference: str, request: SearchRequest | str) -> "WhyNot":
        """Which stage of a search drops this document, or which place it has."""
        from knowbase.whynot import why_not

        if isinstance(request, str):
            request = SearchRequest(request)
        document = self.whole(reference)
        return why_not(self.searcher(request), request, document, self.now())

    def searcher(self, request: SearchRequest) -> Searcher:
        """The parts of a search with the profile that the request asks for."""
        self.check_types(request.types)
        profile = self.profile(request.profile or self.settings.search_profile)
        if self.settings.search_default_top:
            profile = profile._replace(default_top=self.settings.search_default_top)
        language = Language(self.types, self._find, self._nearest)
        return Searcher(self.store, lambda: self.embedder, profile, language)

    def profile(self, name: str) -> Profile:
        """A ranking recipe: shipped, or as kb.toml and the environment have it."""
        if name in PROFILES and not self.configuration.profiles and not _has_variables():
            return PROFILES[name]
        known = self.profiles()
        if name not in known:
            raise InvalidInput(
                f"unknown profile {name!r}", field="profile", hint="one of " + ", ".join(known)
            )
        return known[name].profile

    def profiles(self) -> "dict[str, Custom]":
        """Every profile, and where each of its values comes from."""
        from knowbase.ranking.custom import profiles

        return profiles(self.configuration.profiles, os.environ)

    def get(self, reference: str) -> "Content":
        """A document by code, id, number or path; `:slug` behind it names one section."""
        from knowbase.documents import Content, sections_of

        document, slug = self._resolve(reference)
        sections = sections_of(self.store.chunks(document.id), document.code)
        if slug is not None:
            from knowbase.text.slugs import slugify

            wanted = (f"{document.code}:{slug}", f"{document.code}:{slugify(slug)}")
            sections = tuple(section for section in sections if section.section in wanted)
            if not sections:
                raise NotFound(
                    f"{document.code} has no section {slug!r}",
                    hint=f"see its sections with: kb get {document.code} --json",
                )
        return Content(document, sections, "".join(section.text for section in sections))

    def documents(
        self,
        *,
        tags: Sequence[str] = (),
        types: Sequence[str] = (),
        include: Sequence[str] = (),
        page: Page = Page(),  # noqa: B008 - a value, never changed
    ) -> "Listing":
        """Documents, newest first."""
        from knowbase.documents import Listing

        self.check_types(types)
        parts: list[Condition] = [Visible(self.now(), frozenset(include))]
        if tags:
            parts.append(Tagged(tuple(clean_tag(tag) for tag in tags)))
        if types:
            parts.append(OneOf("type", tuple(types)))
        condition = both(*parts)
        return Listing(tuple(self.store.documents(condition, page)), self.store.count(condition))

    def tags(self) -> tuple[tuple[str, int], ...]:
        """Every tag and how many documents have it, most used first."""
        return tuple(self.store.tags(Visible(self.now())))

    def status(self) -> "Status":
        from knowbase.documents import Status

        counts = self.store.counts()
        model = self.store.model()
        return Status(
            base=self.path,
            size_bytes=_size(self.path),
            documents=counts.documents,
            chunks=counts.chunks,
            embedded=counts.embedded,
            tags=counts.tags,
            types=dict(counts.by_type),
            model=model,
            sources=tuple(self.store.sources()),
            problems=tuple(self.store.problems()),
        )

    # filling

    def add(
        self,
        paths: Sequence[str],
        *,
        tags: Sequence[str] = (),
        parent: str | None = None,
        tree: bool = False,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Report":
        """Put files and folders in, and keep them in step from now on."""
        from knowbase.ingest.scopes import scopes_for
        from knowbase.ingest.sync import sync

        parts = self.parts()
        named = self.whole(parent).code if parent else None
        wanted = Source("", tuple(tags), named, tree)
        scopes = scopes_for(paths, wanted, self.store.sources(), parts.home)
        return sync(parts, scopes, progress=progress)

    def sync(
        self, *, prune: bool = False, progress: "Callable[[Progress], None]" = lambda _: None
    ) -> "Report":
        """Bring every source that was added in step with the disk."""
        from knowbase.ingest.plan import Scope
        from knowbase.ingest.sync import sync

        scopes = [Scope(source) for source in self.store.sources()]
        return sync(self.parts(), scopes, prune=prune, progress=progress)

    def watch(self) -> "Iterator[Report]":
        """A report for each round of changes on disk, for as long as it is asked for more."""
        from watchfiles import watch

        first = self.sync()
        yield first
        if first.interrupted:
            return
        parts = self.parts()
        roots = [parts.home.absolute(source.path) for source in self.store.sources()]
        present = [root for root in roots if os.path.exists(root)]
        if not present:
            raise NotFound("there is nothing to watch", hint="add a folder with: kb add PATH")
        own = {os.path.abspath(self.path) + end for end in ("", "-wal", "-shm", "-journal")}
        rounds = watch(
            *present,
            watch_filter=lambda _, path: path not in own,
            raise_interrupt=True,
            yield_on_timeout=True,
            rust_timeout=1000,
        )
        for number, changes in enumerate(rounds):
            if changes or number == 0:  # once more, for what changed before the watch was up
                report = self._synced_or_later()
                yield report
                if report.interrupted:
                    return

    def _synced_or_later(self) -> "Report":
        """A round of watching; another writer's lock does not end it."""
        from knowbase.ingest.sync import Report

        try:
            return self.sync()
        except BaseLocked as error:
            return Report(warnings=(f"{error.message}; the next change looks again",))

    def note(self, note: "Note") -> Document:
        """Write a note; it is sectioned and embedded like a file."""
        from knowbase.notes import Desk, write_note

        desk = Desk(self.parts(), self.whole, lambda kind: self.check_types((kind,)))
        return write_note(desk, note)

    def remove(self, references: Sequence[str], *, dry_run: bool = False) -> "Removal":
        """Remove documents, or a source with all its documents, from the base; never a file."""
        from knowbase.ingest.removal import removal_of

        changes, removal = removal_of(references, self.store, self.parts().home, self.whole)
        if not dry_run:
            self.store.apply(changes, self.now())
        return removal._replace(dry_run=dry_run)

    # parts

    @cached_property
    def embedder(self) -> "Embedder":
        """The model, loaded when something first needs it."""
        if self._given_embedder is not None:
            return self._given_embedder
        from knowbase.embed.granite import Granite

        return Granite(self.settings.embed_threads)

    @property
    def types(self) -> tuple[str, ...]:
        """The document types that this base knows."""
        return (*DOCUMENT_TYPES, *self.settings.index_types)

    def now(self) -> str:
        return timestamp(self._clock())

    def parts(self) -> "Parts":
        """What adding and writing work with."""
        from knowbase.ingest.drafts import Drafter
        from knowbase.ingest.places import Home
        from knowbase.ingest.sync import Parts
        from knowbase.text.splitting import Limits
        from knowbase.walk import WalkRules

        settings = self.settings
        limits = Limits(
            settings.chunk_max_tokens, settings.chunk_overlap, settings.chunk_min_overlap
        )
        return Parts(
            store=self.store,
            drafter=Drafter(lambda: self.embedder, limits, self.types),
            home=Home(self.home),
            rules=WalkRules(settings.index_hidden, settings.index_max_file_mb << 20, self.home),
            clock=self.now,
        )

    def _resolve(self, reference: str) -> tuple[Document, str | None]:
        """The document that a reference names, and the section's slug if it names one."""
        whole = self._find(reference)
        if whole is not None:
            return whole, None
        front, colon, slug = reference.rpartition(":")
        document = self._find(front) if colon else None
        if document is None:
            raise NotFound(f"there is no document {reference!r}", hint=self._nearest(reference))
        return document, slug

    def whole(self, reference: str) -> Document:
        """The document that a reference names; a section does not stand for its document."""
        document, slug = self._resolve(reference)
        if slug is not None:
            raise InvalidInput(
                f"{reference!r} is a section",
                field="reference",
                hint=f"the document is {document.code}",
            )
        return document

    def _find(self, reference: str) -> Document | None:
        from knowbase.ingest.places import Home

        return self.store.find(reference) or self.store.find(Home(self.home).stored(reference))

    def _nearest(self, reference: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(reference.upper(), self.store.codes(), n=3, cutoff=0.5)
        return "did you mean " + ", ".join(near) + "?" if near else "see what there is: kb list"

    def check_types(self, types: Sequence[str]) -> None:
        """Refuse a type that this base does not know."""
        for name in types:
            if name not in self.types:
                raise InvalidInput(
                    f"unknown type {name!r}", field="type", hint="one of " + ", ".join(self.types)
                )


def _has_variables() -> bool:
    return any(name.startswith(("KB_RRF_", "KB_SEARCH_", "KB_SEMANTIC_")) for name in os.environ)


def _size(path: str) -> int:
    return sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
