"""What files said at each commit of a repository, as versions of their documents.

Each commit of the main line is written out elsewhere, as far as it differs from the one before,
and read as the folder itself would be: at the moment of the commit, by its author. So there is
one way to read files, and nothing is known of versions here.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from knowbase.errors import Conflict
from knowbase.ingest.changed import sync_some
from knowbase.ingest.pending import Scope
from knowbase.ingest.places import Home
from knowbase.ingest.report import Progress, Report
from knowbase.ingest.repository import (
    Commit,
    Entry,
    Process,
    Repository,
    Wanted,
    read_commit,
    read_object,
)
from knowbase.ingest.services import IngestServices
from knowbase.ingest.sync import sync
from knowbase.values.access import speaker
from knowbase.values.files import Source
from knowbase.values.history import Change, Command, command
from knowbase.values.history import Wanted as WantedChanges

SURFACE = "git"
_HIDDEN = frozenset({"", ".", "..", ".git"})


def replay(
    services: IngestServices,
    wanted: Wanted,
    source: Source,
    progress: Callable[[Progress], None],
) -> Report:
    """Every commit that is not there yet, the oldest first; Ctrl-C ends it early with what was
    done, and the next run goes on from there."""
    repository = Repository(wanted.path)
    shas = [sha for group in repository.commits(wanted) for sha in group]
    with (
        tempfile.TemporaryDirectory(prefix="kb-history-") as folder,
        repository.objects() as objects,
    ):
        tree = _Tree(repository, objects, folder, services.disk.rules.max_bytes)
        left = _left(services, shas, tree.commit)
        replaying = _Replaying(services, tree, Scope(source, readmit=True))
        return replaying.run(left, progress)


def _left(
    services: IngestServices, shas: Sequence[str], read: Callable[[str], Commit | None]
) -> Sequence[str]:
    """Those that are still to be done. The one that was done last may not have been done whole.
    What the base did itself since then it keeps by itself, and nothing fits in before it."""
    newest = _newest(services, WantedChanges(limit=1))
    if newest is None or not newest.number or not shas:
        return shas
    done = _newest(services, WantedChanges(surface=SURFACE, limit=1))
    names = [_named(sha) for sha in shas]
    if done is not None and done.command in names:
        return shas[names.index(done.command) :] if done == newest else ()
    first = read(shas[0])
    if first is not None and newest.at > first.committed_at:
        raise Conflict(
            f"the base was changed at {newest.at}, after the first of these commits"
            f" ({first.committed_at}): versions are filled in before anything else",
            field="versions",
            hint="make a new base (kb init), fill it from the repository, then add the rest",
        )
    return shas


def _newest(services: IngestServices, wanted: WantedChanges) -> Change | None:
    return next(iter(services.store.history().changes(wanted)), None)


def _named(sha: str) -> str:
    return f"commit {sha[:12]}"


class _Replaying:
    """Commits that are read one after the other."""

    def __init__(self, services: IngestServices, tree: "_Tree", scope: Scope) -> None:
        self._services, self._tree, self._scope = services, tree, scope
        self._at = ""
        self._then = _elsewhere(services, tree.folder, lambda: self._at)
        self._before: str | None = None
        self.report = Report()

    def run(self, shas: Sequence[str], progress: Callable[[Progress], None]) -> Report:
        try:
            for done, sha in enumerate(shas, 1):
                commit = self._tree.commit(sha)
                if commit is not None:
                    self._take(commit)
                if self.report.interrupted:
                    break
                embedded = self.report.chunks_embedded
                progress(Progress(done, len(shas), embedded, sha[:12], "commits"))
        except KeyboardInterrupt:
            self.report = self.report._replace(interrupted=True)
        return self.report

    def _take(self, commit: Commit) -> None:
        entries = self._tree.entries(self._before, commit.sha)
        is_first, self._before = self._before is None, commit.sha
        self._at = commit.committed_at
        with _by(commit):
            if self._tree.rename(entries):  # by itself: a file that stays the same is known again
                self._sync(None)
            self._tree.become(entries, commit)
            self._sync(None if is_first else frozenset(map(self._tree.place, entries)))

    def _sync(self, paths: frozenset[str] | None) -> None:
        if self.report.interrupted:
            return
        found = sync_some(self._then, paths) if paths is not None else None
        if found is None:
            found = sync(self._then, [self._scope], prune=True)
        named = (found.added, found.changed, found.moved, found.removed)
        self.report = self.report._replace(
            versions=self.report.versions + sum(map(len, named)),
            chunks_embedded=self.report.chunks_embedded + found.chunks_embedded,
            interrupted=found.interrupted,
        )


def _elsewhere(services: IngestServices, folder: str, clock: Callable[[], str]) -> IngestServices:
    """The same base, whose files lie below another folder, at another time."""
    home = Home(services.home.folder, folder)
    top = services.disk.rules.top
    rules = services.disk.rules._replace(top=home.elsewhere(top) if top else None)
    return IngestServices(
        services.store,
        services.drafter,
        services.disk._replace(home=home, rules=rules),
        clock,
        services.likeness,
        defer=services.defer,
    )


@contextmanager
def _by(commit: Commit) -> Iterator[None]:
    """What is written within was done by the author, through git."""
    name = _named(commit.sha)
    acts = command.set(Command(SURFACE, name, name))
    speaks = speaker.set(commit.author.partition(" <")[0] or commit.author)
    try:
        yield
    finally:
        speaker.reset(speaks)
        command.reset(acts)


class _Tree:
    """The files of one commit after the other, below a folder."""

    def __init__(self, repository: Repository, objects: Process, folder: str, most: int) -> None:
        self._repository, self._objects = repository, objects
        self.folder, self._most = folder, most
        self._top = Home(None, folder).elsewhere(repository.top)
        os.makedirs(self._top)

    def commit(self, sha: str) -> Commit | None:
        return read_commit(self._objects, sha)

    def entries(self, before: str | None, sha: str) -> list[Entry]:
        """What differs from the commit before, as far as it is a file below the top."""
        return [one for one in self._repository.differences(before, sha) if _is_safe(one)]

    def rename(self, entries: Sequence[Entry]) -> bool:
        """Whether one of them had another name."""
        renamed = [one for one in entries if one.was is not None]
        for one in renamed:
            place = self.place(one)
            with suppress(OSError):  # then it is a new file
                os.makedirs(os.path.dirname(place), exist_ok=True)
                os.rename(self._place(str(one.was)), place)
        return bool(renamed)

    def become(self, entries: Sequence[Entry], commit: Commit) -> None:
        """The files of this commit."""
        for one in entries:
            self._remove(self.place(one))
        seconds = datetime.fromisoformat(commit.committed_at).timestamp()
        for one in entries:
            data = one.blob and read_object(self._objects, one.blob, b"blob", self._most + 1)
            if isinstance(data, bytes):
                self._write(self.place(one), data, seconds)

    def place(self, entry: Entry) -> str:
        return self._place(entry.path)

    def _place(self, path: str) -> str:
        return os.path.join(self._top, *path.split("/"))

    def _remove(self, path: str) -> None:
        """With the folders that hold nothing else: a file may come in their place."""
        if os.path.isdir(path):
            shutil.rmtree(path)
        with suppress(OSError):
            os.unlink(path)
            while (path := os.path.dirname(path)) != self._top:
                os.rmdir(path)

    @staticmethod
    def _write(path: str, data: bytes, seconds: float) -> None:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        os.utime(path, (seconds, seconds))


def _is_safe(entry: Entry) -> bool:
    """A repository of somebody else may name anything."""
    paths = [one for one in (entry.path, entry.was) if one is not None]
    return not any(
        _HIDDEN.intersection(path.split("/")) or os.sep in path.replace("/", "") for path in paths
    )
