"""A git repository, through the git command: nothing of it is run, and nothing fetched.

What git is asked for is read as objects of known length, so no message can pass for anything
else.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO, NamedTuple

from knowbase.errors import InvalidInput, NotFound, ReadError, ToolMissing
from knowbase.ingest.foreign import AT_ONCE
from knowbase.values.times import timestamp

MOST_MESSAGE = 1 << 20  # bytes of a commit that are read
MOST_FILES = 500  # of a commit that are named
_STEP = 1 << 16
_QUIET = (
    "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=false",
    "--no-optional-locks", "--no-replace-objects", "--no-pager",
)  # fmt: skip
_IS_BARE = ("rev-parse", "--is-bare-repository")
NAME = re.compile(r"[0-9a-f]{40,64}")
"""How a commit is called."""


class Wanted(NamedTuple):
    """Which commits: those of the branch that is checked out, and of a path in it."""

    path: str
    since: str | None = None  # a moment
    limit: int | None = None
    after: tuple[str, ...] = ()  # neither these nor what came before them
    is_main_line: bool = False  # what was merged is left out, and the oldest come first


class Commit(NamedTuple):
    """A commit as git has it."""

    sha: str
    author: str
    written_at: str
    committed_at: str
    message: str
    files: tuple[str, ...] = ()
    more_files: int = 0


class Entry(NamedTuple):
    """A file of a commit; without content where it is none, or not there."""

    path: str  # from the top
    blob: str | None
    was: str | None = None  # the path that it had before


class Repository:
    """The repository that a path lies in."""

    def __init__(self, path: str) -> None:
        if not os.path.exists(path):
            raise NotFound(f"there is no file or folder {path!r}", hint="check the path")
        self.path = os.path.abspath(path)
        folder = self.path if os.path.isdir(self.path) else os.path.dirname(self.path)
        found = self._run(folder, "rev-parse", "--show-toplevel")
        if found.returncode and self._run(folder, *_IS_BARE).stdout.strip() == b"true":
            found = self._run(folder, "rev-parse", "--absolute-git-dir")
        if found.returncode:
            raise InvalidInput(
                f"{path} is not in a git repository that can be read:"
                f" {_last_line(found.stderr) or 'git says no more'}",
                field="paths",
                hint="name a folder of a repository",
            )
        self.top = os.path.normpath(os.fsdecode(found.stdout).rstrip("\r\n"))
        self.name = os.path.basename(self.top).removesuffix(".git")

    def commits(self, wanted: Wanted) -> Iterator[list[str]]:
        """Their names, some at a time."""
        if self._run(self.top, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
            return  # nothing was committed yet
        arguments = ["log", "--format=%H"]
        arguments += [f"--since={wanted.since}"] if wanted.since else []
        arguments += [f"--max-count={wanted.limit}"] if wanted.limit else []
        arguments += ["--first-parent", "--reverse"] if wanted.is_main_line else []
        limits = self._limits()
        # Of what the repository no longer has, nothing is left to leave out.
        named = ["--ignore-missing", "--stdin"] if wanted.after else []
        with self.started(
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

    def _limits(self) -> list[str]:
        """Of the repository, what was asked for."""
        real = os.path.realpath(self.path)
        return [] if real == os.path.realpath(self.top) else [self.path]

    def read(self, shas: list[str]) -> Iterator[tuple[str, Commit | None]]:
        """Each commit with its files; None for one that git cannot read."""
        if not shas:
            return
        with ExitStack() as stack:
            objects = stack.enter_context(self.objects())
            asked = ("diff-tree", "--stdin", "-r", "--root", "--no-renames", "--name-status", "-z")
            changes = _Changes(stack.enter_context(self.started(*asked, asks=True)))
            for sha in shas:
                commit = read_commit(objects, sha)
                yield sha, None if commit is None else _with_files(changes, commit)

    def differences(self, before: str | None, after: str) -> Iterator["Entry"]:
        """What a file is in a commit, where it was not the same in another one, or in none."""
        if before is None:
            nothing = self._run(self.top, "hash-object", "-t", "tree", "--stdin").stdout
            before = nothing.decode("ascii").strip()
        asked = ("diff-tree", "-r", "-z", "--raw", "-M", before, after, "--")
        found = self._run(self.top, *asked, *self._limits())
        if found.returncode:
            raise ReadError(f"git cannot compare {after[:12]}: {_last_line(found.stderr)}")
        fields = iter(found.stdout.split(b"\0")[:-1])
        for about in fields:
            _, mode, _, blob, what = about.decode("ascii").split(" ")
            was = os.fsdecode(next(fields)) if what.startswith("R") else None
            path = os.fsdecode(next(fields))
            yield Entry(path, blob if mode.startswith("100") else None, was)

    def objects(self) -> "Process":
        """What `read_commit` and `read_object` ask."""
        return self.started("cat-file", "--batch", asks=True)

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

    def started(self, *arguments: str, asks: bool = False) -> "Process":
        return Process(
            ["git", *_QUIET, "-C", self.top, *arguments],
            stdin=subprocess.PIPE if asks else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else ""


class Process(subprocess.Popen[bytes]):
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


def read_commit(objects: "Process", sha: str) -> Commit | None:
    data = read_object(objects, sha, b"commit", MOST_MESSAGE)
    return None if data is None else _parsed(sha, data)


def read_object(objects: "Process", name: str, kind: bytes, most: int) -> bytes | None:
    """As much of an object as may be read; None when it is of another kind, or not there."""
    assert objects.stdin is not None
    assert objects.stdout is not None
    objects.stdin.write(f"{name}\n".encode("ascii"))
    objects.stdin.flush()
    head = objects.stdout.readline().split()
    if len(head) != 3:
        return None
    data = _bounded(objects.stdout, int(head[2]), most)
    return data if head[1] == kind else None


def _bounded(stream: IO[bytes], size: int, most: int) -> bytes:
    """An object of this size and the line end after it; what is beyond the limit is not kept."""
    data = stream.read(min(size, most))
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

    def __init__(self, process: "Process") -> None:
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
        if len(files) < MOST_FILES:
            files.append(path.decode("utf-8", "replace"))
        else:
            more += 1
    return commit._replace(files=tuple(files), more_files=more)
