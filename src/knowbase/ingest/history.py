"""The history of a git repository: a document for each commit, with links to its files.

What is known already is neither read nor written again.
"""

import os
from collections.abc import Callable, Iterator

from knowbase.errors import InvalidInput, NotFound, ReadError, ToolMissing
from knowbase.ingest.foreign import Foreign, Left, id_of, plain_reading, take
from knowbase.ingest.places import Home
from knowbase.ingest.report import Progress, Report, joined
from knowbase.ingest.repository import MOST_FILES, NAME, Commit, Repository, Wanted
from knowbase.ingest.services import IngestServices
from knowbase.query.conditions import Compare, OneOf
from knowbase.store.acting import as_one
from knowbase.values.documents import ALL, Document
from knowbase.values.kinds import clean_tags

TYPE = "commit"
COMMIT, HISTORY = "commit", "history_of"
"""In a document's metadata: the commit's name, and the path that it was asked for by."""
MOST_LISTED = 200  # files that a commit's text names; it is linked to more
_NO_LINK = frozenset("[]|#^\n")


@as_one
def add_history(
    services: IngestServices,
    wanted: Wanted,
    tags: tuple[str, ...],
    progress: Callable[[Progress], None],
) -> Report:
    """Every commit that is not there yet, the newest first."""
    repository = Repository(wanted.path)
    known = 0
    new: list[str] = []
    for group in repository.commits(wanted):
        there = _known(services, group, tags)
        known += len(there)
        new += [sha for sha in group if id_of(_key(sha)) not in there]
    items = _Documents(repository, services.home, tags).of(new)
    taken = take(services, items, unit="commits", total=len(new), progress=progress)
    return joined(Report(unchanged=known), taken)


def refresh_histories(services: IngestServices, progress: Callable[[Progress], None]) -> Report:
    """What was committed since, in every repository whose history was added; each commit gets the
    tags that all those before it have."""
    report = Report()
    for path, known in _histories(services).items():
        wanted = Wanted(path, after=tuple(str(one.metadata[COMMIT]) for one in known))
        tags = set.intersection(*(set(one.tags) for one in known))
        try:
            taken = add_history(services, wanted, tuple(sorted(tags)), progress)
        except (InvalidInput, NotFound, ReadError, ToolMissing) as error:
            told = f"{path}: {error.message}; its commits stay as they were"
            taken = Report(warnings=(told,))
        report = joined(report, taken._replace(unchanged=0))
        if report.interrupted:
            break
    return report


def _histories(services: IngestServices) -> dict[str, list[Document]]:
    """The commits that are there, by the path that somebody has named. The id of a commit is made
    of its name, which no file and no note can say of itself: theirs are not believed."""
    found: dict[str, list[Document]] = {}
    for one in services.store.documents(Compare("type", "=", TYPE), ALL):
        path, sha = one.metadata.get(HISTORY), one.metadata.get(COMMIT)
        is_ours = one.path is None and one.id == id_of(_key(str(sha))) and NAME.fullmatch(str(sha))
        if is_ours and isinstance(path, str):
            found.setdefault(services.home.absolute(path), []).append(one)
    return found


def _known(services: IngestServices, group: list[str], tags: tuple[str, ...]) -> set[str]:
    """Those that are there, with these tags; what was forgotten gets none."""
    ids = tuple(id_of(_key(sha)) for sha in group)
    found = services.store.documents(OneOf("id", ids), ALL)
    wanted = set(clean_tags(tags))
    return {
        one.id for one in found
        if one.deleted_at is not None or (HISTORY in one.metadata and wanted <= set(one.tags))
    }  # fmt: skip


def _key(sha: str) -> str:
    return f"commit:{sha}"


class _Documents:
    """The documents of a repository's commits."""

    def __init__(self, repository: Repository, home: Home, tags: tuple[str, ...]) -> None:
        self._repository, self._home, self._tags = repository, home, tags

    def of(self, shas: list[str]) -> Iterator[Foreign | Left]:
        for sha, commit in self._repository.read(shas):
            if commit is None:
                yield Left(sha[:12], "git cannot read it")
            else:
                yield self._document(commit)

    def _document(self, commit: Commit) -> Foreign:
        subject = " ".join(commit.message.strip().partition("\n")[0].split()) or commit.sha[:12]
        shown = [*commit.files[:MOST_LISTED]]
        left = len(commit.files) + commit.more_files - len(shown)
        listed = "".join(f"- {one}\n" for one in shown)
        listed += f"- and {left} more\n" if left else ""
        parts = [commit.message.strip(), f"Author: {commit.author}"]
        parts += [f"Files:\n{listed}"] if listed else []
        linked = [self._stored(one) for one in commit.files[:MOST_FILES]]
        metadata = {
            COMMIT: commit.sha,
            "author": commit.author,
            "repository": self._repository.name,
            HISTORY: self._home.stored(self._repository.path),
            "changes": [f"[[{one}]]" for one in linked if not _NO_LINK & set(one)],
        }
        text = "\n\n".join(parts).rstrip() + "\n"
        stated = {
            "created_at": commit.written_at,
            "updated_at": commit.committed_at,
            "metadata": metadata,
        }
        if not commit.sha[:12].isdecimal():  # a number names another document
            stated["code"] = commit.sha[:12]
        title = subject if len(subject) <= 200 else subject[:199] + "…"
        reading = plain_reading(TYPE, title, text)
        return Foreign(
            _key(commit.sha), TYPE, title, text, stated, reading, given={"tags": self._tags}
        )

    def _stored(self, path: str) -> str:
        """A file of the repository as the base knows it."""
        return self._home.stored(os.path.join(self._repository.top, path)).replace(os.sep, "/")
