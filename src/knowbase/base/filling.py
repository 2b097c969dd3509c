"""Filling a base: files, pages, repositories, notes."""

import os
from typing import TYPE_CHECKING, TypeAlias

from knowbase.base import given
from knowbase.base.finding import Finding
from knowbase.errors import InvalidInput, NotAllowed, NotFound
from knowbase.values.arguments import checks_arguments
from knowbase.values.documents import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from knowbase.base.keywords import Texts
    from knowbase.ingest.report import Progress, Report
    from knowbase.memory.bulk import WrittenNotes
    from knowbase.memory.notes import NoteServices
    from knowbase.values.notes import Note

Path: TypeAlias = str | os.PathLike[str]


@checks_arguments
class Filling(Finding):
    """The part of a base that is filled; `Base` is the whole."""

    def add(  # noqa: PLR0913 - as much as `kb add` takes
        self,
        paths: "Path | Iterable[Path]",
        *,
        tags: "Texts" = (),
        untag: "Texts" = (),
        parent: str | None = None,
        tree: bool = False,
        defer: bool = False,
        verify: bool = False,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Report":
        """Put files, folders and pages of the web in, and keep them in step from now on.

        With `defer`, words find them at once and meaning after the next `embed`; with `verify`,
        every file is read to see whether it changed; `untag` takes back tags that were given.
        """
        from knowbase.ingest.places import is_address
        from knowbase.ingest.report import Report, joined
        from knowbase.ingest.scopes import scopes_for
        from knowbase.ingest.sync import sync
        from knowbase.values.files import Source

        services = self.ingest_services(defer=defer)
        named = self.whole(parent).code if parent else None
        wanted = Source("", tuple(tags), named, tree)
        everything = given.paths(paths, "paths")
        pages = self._pages([one for one in everything if is_address(one)])
        files = [one for one in everything if not is_address(one)]
        scopes = []
        if pages and untag:
            raise InvalidInput("untag is for files and folders", field="untag")
        if files or not pages:
            known = self.store.sources()
            scopes = scopes_for(files, wanted, known, services.home, tuple(untag))
        scopes = [scope._replace(verify=verify) for scope in scopes]
        report = sync(services, scopes, progress=progress) if scopes else Report()
        report = self._synced([one.source.path for one in scopes if not one.only], report)
        if not pages or report.interrupted:
            return report
        from knowbase.ingest.web import add_pages

        return joined(report, add_pages(services, pages, wanted.tags, progress))

    def add_history(  # noqa: PLR0913 - as much as `kb add --history` takes
        self,
        path: "Path" = ".",
        *,
        since: str | None = None,
        limit: int | None = None,
        tags: "Texts" = (),
        versions: bool = False,
        defer: bool = False,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Report":
        """Put the commits of a git repository in, those that are not there yet: since a date, or
        the last ones. With `versions`, its files too, with what they said at each commit."""
        from knowbase.ingest.history import add_history
        from knowbase.ingest.report import Report, joined
        from knowbase.ingest.repository import Wanted
        from knowbase.query.moments import span
        from knowbase.values.files import Source

        found = span(since, self.now()) if since is not None else None
        if since is not None and found is None:
            raise InvalidInput(
                f"since cannot be {since!r}", field="since", hint="a date: 2026-01-31, 90d, 1y"
            )
        if limit is not None:
            given.number(limit, "limit", 1)
        self._check_may_fetch()
        wanted = Wanted(given.path(path, "path"), found.start if found else None, limit)
        services = self.ingest_services(defer=defer)
        report = Report()
        if versions:
            from knowbase.ingest.replay import replay

            source = Source(services.home.stored(wanted.path), tuple(tags))
            report = replay(services, wanted._replace(is_main_line=True), source, progress)
            if not report.interrupted:
                files = self.add([wanted.path], tags=tags, defer=defer, progress=progress)
                report = joined(report, files)
        if report.interrupted:
            return report
        return joined(report, add_history(services, wanted, tuple(tags), progress))

    def _pages(self, named: "Sequence[str]") -> list[str]:
        """Addresses as they are kept, if this base may fetch them."""
        if not named:
            return []
        from knowbase.ingest.fetching import address_of

        self._check_may_fetch()
        return [address_of(one) for one in named]

    def _check_may_fetch(self) -> None:
        """Whoever a base is served to does not use the server's network or its files."""
        if not self.access.is_full:
            raise NotAllowed(
                "pages and repositories are added where the base is", hint="kb add there"
            )

    def sync(
        self,
        *,
        prune: bool = False,
        defer: bool = False,
        verify: bool = False,
        pages: bool = True,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Report":
        """Bring every source that was added in step with the disk, every page with the web, and
        every history with its repository."""
        from knowbase.ingest.pending import Scope
        from knowbase.ingest.report import joined
        from knowbase.ingest.sync import sync

        lost = self.store.has_lost_writes()
        scopes = [Scope(source, verify=verify or lost) for source in self.store.sources()]
        services = self.ingest_services(defer=defer)
        report = sync(services, scopes, prune=prune, notes=True, progress=progress)
        report = self._synced([one.source.path for one in scopes], report)
        if lost and not report.interrupted:
            self.store.clear_lost_writes()
        asks = pages and self.access.is_full
        if asks and not report.interrupted and self._has_type("web"):
            from knowbase.ingest.web import refresh_pages

            report = joined(report, refresh_pages(services, prune=prune, progress=progress))
        if asks and not report.interrupted and self._has_type("commit"):
            from knowbase.ingest.history import refresh_histories

            report = joined(report, refresh_histories(services, progress))
        if asks and not report.interrupted and self.settings.history_prune:
            self.history.prune()
        return report

    def watch(
        self,
        sources: "Texts" = (),
        *,
        each: "Callable[[], None]" = lambda: None,
    ) -> "Iterator[Report]":
        """A report for each round of changes on disk, of all sources or of these, for as long as
        it is asked for more; `each` is called about once a second, and ends it by raising."""
        from knowbase.base.background import embedding
        from knowbase.base.moments import watching
        from knowbase.ingest.watch import watch
        from knowbase.store.sqlite.beside import files_of

        services = self.ingest_services()
        chosen = self._chosen_sources(sources)
        roots = [services.home.absolute(path) for path in chosen]
        own = set(files_of(os.path.abspath(self.path)))
        with embedding(self), watching(self.shown, chosen):
            yield from watch(lambda: self.sync(pages=False), roots, own, self._sync_some, each)

    def _chosen_sources(self, named: "Texts") -> list[str]:
        known = [one.path for one in self.store.sources()]
        for one in named:
            if one not in known:
                raise NotFound(f"{one} was not added", field="paths", hint="see kb status")
        return [one for one in known if not named or one in named]

    def _sync_some(self, paths: "Collection[str]") -> "Report | None":
        from knowbase.ingest.changed import sync_some

        if self.store.has_lost_writes():
            return None
        services = self.ingest_services()
        report = sync_some(services, paths)
        if report is not None:
            roots = {one.path: services.home.absolute(one.path) for one in self.store.sources()}
            compared = [
                source
                for source, root in roots.items()
                if any(path == root or path.startswith(root + os.sep) for path in paths)
            ]
            report = self._synced(compared, report)
        return report

    def _synced(self, sources: "Sequence[str]", report: "Report") -> "Report":
        """The report, once it is written down when these were last in step with the disk."""
        if report.interrupted or not sources:
            return report
        from knowbase.base.moments import keep_moment

        try:
            keep_moment(self.shown, "synced", sources, self.now())
        except KeyboardInterrupt:  # what was done is reported all the same
            return report._replace(interrupted=True)
        return report

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
