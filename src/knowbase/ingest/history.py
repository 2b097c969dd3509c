"""The history of a git repository: a document for each commit, with links to its files.

What git is asked for is read as objects of known length, so no message can pass for anything
else; what is known already is neither read nor written again.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import IO, NamedTuple

from knowbase.errors import InvalidInput, NotFound, ReadError, ToolMissing
from knowbase.ingest.foreign import AT_ONCE, Foreign, Left, id_of, plain_reading, take
from knowbase.ingest.places import Home
from knowbase.ingest.report import Progress, Report, joined
from knowbase.ingest.services import IngestServices
from knowbase.query.conditions import Compare, OneOf
from knowbase.store.acting import as_one
from knowbase.values.documents import ALL, Document
from knowbase.values.kinds import clean_tags
from knowbase.values.times import timestamp

TYPE = "commit"
COMMIT, HISTORY = "commit", "history_of"
"""In a document's metadata: the commit's name, and the path that it was asked for by."""
MOST_MESSAGE = 1 << 20  # bytes of a commit that are read
MOST_LISTED = 200  # files that a commit's text names …
MOST_LINKED = 500  # … and that it is linked to
_STEP = 1 << 16
_QUIET = (
    "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=false",
    "--no-optional-locks", "--no-replace-objects", "--no-pager",
)  # fmt: skip
_NAME = re.compile(r"[0-9a-f]{40,64}")
_NO_LINK = frozenset("[]|#^\n")


class Wanted(NamedTuple):
    """Which commits: those of the branch that is checked out, and of a path in it."""

    path: str
    since: str | None = None  # a moment
    limit: int | None = None
    after: tuple[str, ...] = ()  # neither these nor what came before them


class Commit(NamedTuple):
    """A commit as git has it."""

    sha: str
    author: str
    written_at: str
    committed_at: str
    message: str
    files: tuple[str, ...] = ()
    more_files: int = 0


@as_one
def add_history(
    services: IngestServices,
    wanted: Wanted,
    tags: tuple[str, ...],
    progress: Callable[[Progress], None],
) -> Report:
    """Every commit that is not there yet, the newest first."""
    repository = _Repository(wanted.path, services.home)
    known = 0
    new: list[str] = []
    for group in repository.commits(wanted):
        there = _known(services, group, tags)
        known += len(there)
        new += [sha for sha in group if id_of(_key(sha)) not in there]
    items = repository.documents(new, tags)
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
        is_ours = one.path is None and one.id == id_of(_key(str(sha))) and _NAME.fullmatch(str(sha))
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


class _Repository:
    """A repository, through the git command: nothing of it is run, and nothing fetched."""

    def __init__(self, path: str, home: Home) -> None:
        if not os.path.exists(path):
            raise NotFound(f"there is no file or folder {path!r}", hint="check the path")
        self._path = os.path.abspath(path)
        self._home = home
        folder = self._path if os.path.isdir(self._path) else os.path.dirname(self._path)
        found = self._run(folder, "rev-parse", "--show-toplevel")
        if found.returncode:
            raise InvalidInput(
                f"{path} is not in a git repository that can be read:"
                f" {_last_line(found.stderr) or 'git says no more'}",
                field="paths",
                hint="name a folder of a repository",
            )
        self.top = os.path.normpath(os.fsdecode(found.stdout).rstrip("\r\n"))
        self.name = os.path.basename(self.top)

    def commits(self, wanted: Wanted) -> Iterator[list[str]]:
        """Their names, some at a time."""
        if self._run(self.top, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
            return  # nothing was committed yet
        arguments = ["log", "--format=%H"]
        arguments += [f"--since={wanted.since}"] if wanted.since else []
        arguments += [f"--max-count={wanted.limit}"] if wanted.limit else []
        real = os.path.realpath(self._path)
        limits = [] if real == os.path.realpath(self.top) else [self._path]
        # Of what the repository no longer has, nothing is left to leave out.
        named = ["--ignore-missing", "--stdin"] if wanted.after else []
        with self._started(
            *arguments, *named, "HEAD", "--", *limits, asks=bool(wanted.after)
        ) as process:
            assert process.stdout is not None
            if process.stdin is not None:
                process.stdin.write("".join(f"^{sha}\n" for sha in wanted.after).encode("ascii"))
                process.stdin.close()
            group: list[str] = []
            for line in process.stdout:
                group.append(line.decode("ascii", "replace").strip())
                if len(group) >= AT_ONCE:
                    yield group
                    group = []
            if process.wait():
                raise InvalidInput(f"git log failed in {self.top}", field="paths")
            if group:
                yield group

    def documents(self, shas: list[str], tags: tuple[str, ...]) -> Iterator[Foreign | Left]:
        if not shas:
            return
        with ExitStack() as stack:
            objects = stack.enter_context(self._started("cat-file", "--batch", asks=True))
            asked = ("diff-tree", "--stdin", "-r", "--root", "--no-renames", "--name-status", "-z")
            changes = _Changes(stack.enter_context(self._started(*asked, asks=True)))
            for sha in shas:
                commit = _read_commit(objects, sha)
                if commit is None:
                    yield Left(sha[:12], "git cannot read it")
                else:
                    yield self._document(_with_files(changes, commit), tags)

    def _document(self, commit: Commit, tags: tuple[str, ...]) -> Foreign:
        subject = " ".join(commit.message.strip().partition("\n")[0].split()) or commit.sha[:12]
        shown = [*commit.files[:MOST_LISTED]]
        left = len(commit.files) + commit.more_files - len(shown)
        listed = "".join(f"- {one}\n" for one in shown)
        listed += f"- and {left} more\n" if left else ""
        parts = [commit.message.strip(), f"Author: {commit.author}"]
        parts += [f"Files:\n{listed}"] if listed else []
        linked = [self._stored(one) for one in commit.files[:MOST_LINKED]]
        metadata = {
            COMMIT: commit.sha,
            "author": commit.author,
            "repository": self.name,
            HISTORY: self._home.stored(self._path),
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
        return Foreign(_key(commit.sha), TYPE, title, text, stated, reading, given={"tags": tags})

    def _stored(self, path: str) -> str:
        """A file of the repository as the base knows it."""
        return self._home.stored(os.path.join(self.top, path)).replace(os.sep, "/")

    def _run(self, folder: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                ["git", *_QUIET, "-C", folder, *arguments],
                capture_output=True, check=False, env=_environment(), stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except FileNotFoundError:
            raise ToolMissing(
                "git is not installed", hint="install git: a repository is read through it"
            ) from None

    def _started(self, *arguments: str, asks: bool = False) -> "_Process":
        return _Process(
            ["git", *_QUIET, "-C", self.top, *arguments],
            stdin=subprocess.PIPE if asks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else ""


class _Process(subprocess.Popen[bytes]):
    """One that ends with what it was started for, also when that ends early."""

    def __exit__(self, *problem: object) -> None:
        if self.poll() is None:
            self.kill()
        super().__exit__(*problem)  # type: ignore[arg-type]


def _environment() -> dict[str, str]:
    """Nobody is asked for a password, and objects that are elsewhere stay there."""
    return {
        **os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C",
    }  # fmt: skip


def _read_commit(objects: "_Process", sha: str) -> Commit | None:
    assert objects.stdin is not None
    assert objects.stdout is not None
    objects.stdin.write(f"{sha}\n".encode("ascii"))
    objects.stdin.flush()
    head = objects.stdout.readline().split()
    if len(head) != 3 or head[1] != b"commit":
        return None
    data = _bounded(objects.stdout, int(head[2]))
    return _parsed(sha, data)


def _bounded(stream: IO[bytes], size: int) -> bytes:
    """An object of this size and the line end after it; what is beyond the limit is not kept."""
    data = stream.read(min(size, MOST_MESSAGE))
    left = size + 1 - len(data)
    while left > 0 and (piece := stream.read(min(left, _STEP))):
        left -= len(piece)
    return data


def _parsed(sha: str, data: bytes) -> Commit | None:
    head, _, message = data.partition(b"\n\n")
    fields: dict[bytes, bytes] = {}
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        if name and not line.startswith(b" "):
            fields.setdefault(name, value)
    encoding = fields.get(b"encoding", b"utf-8").decode("ascii", "replace")
    if b"author" not in fields:
        return None
    author, written = _person(fields[b"author"], encoding)
    _, committed = _person(fields.get(b"committer", fields[b"author"]), encoding)
    return Commit(sha, author, written, committed, _decoded(message, encoding))


def _person(line: bytes, encoding: str) -> tuple[str, str]:
    """Who, and when: Name <address> seconds zone."""
    who, _, when = line.rpartition(b"> ")
    seconds = when.split(b" ")[0]
    at = int(seconds) if seconds.isdigit() and len(seconds) < 13 else 0
    return " ".join((_decoded(who, encoding) + ">").split()), timestamp(float(at))


def _decoded(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except (LookupError, ValueError):  # what it names may be anything
        return data.decode("utf-8", "replace")


class _Changes:
    """What `diff-tree` says of each commit that it is asked about: the commit, and for each file
    a letter and its path, each ended by a NUL; then the mark, which it echoes as it is."""

    MARK = b"="

    def __init__(self, process: "_Process") -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._asks, self._answers = process.stdin, process.stdout
        self._rest = b""

    def of(self, sha: str) -> Iterator[bytes]:
        """The paths that a commit changes; of a merge, none."""
        self._asks.write(sha.encode("ascii") + b"\n" + self.MARK + b"\n")
        self._asks.flush()
        while (token := self._until(b"\0", b"\n")) != self.MARK:
            if len(token) == 1:  # a letter: what was done with the file that follows
                yield self._until(b"\0")

    def _until(self, *ends: bytes) -> bytes:
        while True:
            found = [at for end in ends if (at := self._rest.find(end)) >= 0]
            if found:
                token, self._rest = self._rest[: min(found)], self._rest[min(found) + 1 :]
                return token
            piece = self._answers.read1(_STEP)  # type: ignore[attr-defined]
            if not piece or len(self._rest) > MOST_MESSAGE:
                raise ReadError("git has ended before it said all")
            self._rest += piece


def _with_files(changes: _Changes, commit: Commit) -> Commit:
    files: list[str] = []
    more = 0
    for path in changes.of(commit.sha):
        if len(files) < MOST_LINKED:
            files.append(path.decode("utf-8", "replace"))
        else:
            more += 1
    return commit._replace(files=tuple(files), more_files=more)
