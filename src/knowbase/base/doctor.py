"""What is wrong with a base and with what it stands on, the worst first, and what mends it."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from knowbase.base.clients import KnownClient, clients_in
from knowbase.errors import EmbeddingError
from knowbase.memory.lifecycle import SUPERSEDED
from knowbase.query.conditions import EVERYTHING, Visible
from knowbase.store.location import is_url
from knowbase.values.documents import Page
from knowbase.values.findings import DAMAGE, PROBLEM

if TYPE_CHECKING:
    from knowbase.base.services import BaseServices
    from knowbase.base.status import Status
    from knowbase.upkeep.check import Checked
    from knowbase.values.documents import Document

SEVERITIES = ("error", "warning", "info")
MOST_EXAMPLES = 10
MOST_CHECKED = 2 << 30  # bytes of a file: a larger one is checked by kb check alone
MOST_LOOKED_AT = 10_000  # documents, the newest, whose titles and texts are compared
FEW_TAGS = 20  # fewer that are used once are nothing to speak of
SOON = "7d"
LEAST_FREE, LITTLE_FREE = 100 << 20, 1 << 30  # bytes of a disk
PACKAGES = (
    "apsw", "psycopg", "onnxruntime", "tokenizers", "numpy", "markdown-it-py",
    "tree-sitter", "pypdfium2", "starlette", "uvicorn", "mcp", "graphqlite", "rapidocr",
)  # fmt: skip


class Ailment(NamedTuple):
    """One thing that is not as it should be, and the command that mends it."""

    name: str  # the same one always, for programs
    severity: str  # of SEVERITIES
    what: str
    detail: str = ""
    count: int = 1  # type: ignore[assignment]  # of what it concerns
    command: str | None = None
    examples: tuple[str, ...] = ()


class Examined(NamedTuple):
    """Which base it is."""

    path: str
    engine: str  # sqlite or postgresql
    documents: int
    chunks: int
    embedded: int
    model: str | None


class Disk(NamedTuple):
    """The disk that a base's file lies on."""

    base_bytes: int
    free_bytes: int
    total_bytes: int


class Diagnosis(NamedTuple):
    """What wants attention, the worst first."""

    summary: str
    findings: tuple[Ailment, ...]
    versions: Mapping[str, str]
    base: Examined
    disk: Disk | None  # of a file
    clients: tuple[KnownClient, ...] = ()  # programs of agents in the base's folder


def diagnose(base: "BaseServices", status: "Status", check: "Callable[[], Checked]") -> Diagnosis:
    """Look at everything that can be looked at in a moment."""
    disk = disk_of(base.path) if not is_url(base.path) and base.access.project is None else None
    found = sorted(
        _ailments(base, status, disk, check), key=lambda one: SEVERITIES.index(one.severity)
    )
    examined = Examined(
        base.shown,
        "postgresql" if is_url(base.path) else "sqlite",
        status.documents,
        status.chunks,
        status.embedded,
        f"{status.model.name} ({status.model.revision})" if status.model else None,
    )
    summary = _summary(status, found)
    return Diagnosis(summary, tuple(found), versions(), examined, disk, _clients(base))


def _clients(base: "BaseServices") -> tuple[KnownClient, ...]:
    return tuple(clients_in(base.home)) if base.access.project is None else ()


def _summary(status: "Status", found: list[Ailment]) -> str:
    serious = sum(one.severity != "info" for one in found)
    wants = "nothing wants attention"
    if serious:
        wants = "1 thing wants attention" if serious == 1 else f"{serious} things want attention"
    if not status.chunks:
        return f"The base is empty; {wants}"
    told = f"{status.embedded:,} of {status.chunks:,}"
    having = f"All {status.chunks:,}" if status.embedded >= status.chunks else told
    return f"{having} passages have vectors; {wants}"


def versions() -> dict[str, str]:
    """Of knowbase, of Python, and of what matters among the packages."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {
        "knowbase": str(vars(sys.modules["knowbase"])["__version__"]),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
    }
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def disk_of(path: str) -> Disk:
    import shutil

    from knowbase.store.sqlite.beside import files_of

    usage = shutil.disk_usage(os.path.dirname(os.path.abspath(path)))
    held = sum(os.path.getsize(one) for one in files_of(path) if os.path.exists(one))
    return Disk(held, usage.free, usage.total)


def _ailments(
    base: "BaseServices", status: "Status", disk: Disk | None, check: "Callable[[], Checked]"
) -> Iterator[Ailment]:
    workers = status.cluster.workers if status.cluster is not None else ()
    away = tuple(one.server for one in workers if one.size_bytes is None)
    if away:
        told = "a worker of the database cluster does not answer"
        yield Ailment("worker", "error", told, "nothing else was looked at", examples=away)
        return
    if disk is not None:
        yield from _of_disk(base.path, disk)
    if base.access.is_full and (disk is None or disk.base_bytes <= MOST_CHECKED):
        yield from _checked(check())
    if status.copy_of is not None:
        told = f"it is a copy of {status.copy_of} that is not finished"
        yield Ailment("unfinished_copy", "error", told, command="kb move")
    for replica in status.replicas:
        if replica.state != "used":
            told = "a replica answers no searches"
            yield Ailment("replica", "warning", told, replica.reason, examples=(replica.base,))
    yield from _of_vectors(base, status)
    yield from _of_files(status)
    yield from _of_contents(base)
    for one in _clients(base):
        if not one.is_there:
            told = f"{one.client} cannot start what its settings name"
            command = f"kb mcp install --client {one.client}"
            yield Ailment("client", "warning", told, one.command, 1, command, (one.path,))


def _of_disk(path: str, disk: Disk) -> Iterator[Ailment]:
    free = f"{disk.free_bytes / 1e6:,.0f} MB are free"
    if disk.free_bytes < LEAST_FREE:
        yield Ailment("disk_full", "error", "the disk is almost full", free)
    elif disk.free_bytes < max(LITTLE_FREE, disk.base_bytes):
        told = f"{free}; a backup or a repair takes {disk.base_bytes / 1e6:,.0f} MB"
        yield Ailment("disk_low", "warning", "the disk has little room", told)
    if not os.access(path, os.W_OK):
        command = f"chmod u+w {quote(path)}"
        yield Ailment("read_only", "warning", "the base cannot be written", path, command=command)
    if _is_open_to_all(path):
        told, command = "everybody on this machine can read the base", f"chmod 600 {quote(path)}"
        yield Ailment("base_open", "warning", told, path, command=command)
    tokens = f"{os.path.realpath(path)}.tokens.toml"
    if os.name == "posix" and os.path.exists(tokens) and os.stat(tokens).st_mode & 0o077:
        yield Ailment(
            "tokens_open",
            "error",
            "others of this machine can read the file of tokens",
            tokens,
            command=f"chmod 600 {quote(tokens)}",
        )


def _is_open_to_all(path: str) -> bool:
    """Not whom it is shared with on purpose, as a group of people."""
    if os.name != "posix" or not os.path.exists(path):
        return False
    folder = os.stat(os.path.dirname(os.path.abspath(path))).st_mode
    return bool(os.stat(path).st_mode & 0o004 and folder & 0o001)


def _checked(checked: "Checked") -> Iterator[Ailment]:
    """What a quick check finds."""
    severities = {DAMAGE: "error", PROBLEM: "warning"}
    for one in checked.findings:
        name = "damage" if one.severity == DAMAGE else f"check_{one.part.replace(' ', '_')}"
        severity = severities.get(one.severity, "info")
        command = one.hint if one.hint.startswith("kb ") else None
        detail = "" if command else one.hint
        examples = one.documents[:MOST_EXAMPLES]
        yield Ailment(
            name, severity, one.message, detail, len(one.documents) or 1, command, examples
        )


def _of_vectors(base: "BaseServices", status: "Status") -> Iterator[Ailment]:
    if not base.settings.embed_vectors:
        told = "vectors are switched off: words alone find"
        yield Ailment("no_vectors", "info", told, "the setting embed.vectors")
        return
    yield from _of_the_model(base, status)
    missing = status.chunks - status.embedded
    if missing > 0:
        yield Ailment(
            "missing_vectors",
            "warning",
            f"{missing:,} of {status.chunks:,} passages have no vector",
            "they are found by their words alone",
            missing,
            "kb embed",
        )
    yield from _of_the_index(base, status)
    if status.newer_model is not None:
        name = f"{status.newer_model.name} ({status.newer_model.revision})"
        yield Ailment("newer_model", "info", "there is a more precise model", name, 1, "kb embed")


def _of_the_index(base: "BaseServices", status: "Status") -> Iterator[Ailment]:
    """A large base in a file without the index that makes its searches fast."""
    least, index = base.settings.store_index_after, status.vector_index
    is_wanted = base.access.is_full and not is_url(base.path) and 0 < least <= status.embedded
    if is_wanted and (index is None or not index.vectors):
        told = "searches by meaning compare every vector: there is no index of them yet"
        yield Ailment("no_vector_index", "info", told, "", status.embedded, "kb embed")


def _of_the_model(base: "BaseServices", status: "Status") -> Iterator[Ailment]:
    """Whether a query can be embedded, and vectors compared with it."""
    if status.model is None:
        return
    try:
        vector = base.embedder.embed_query("ready")
        base.store.semantic(vector, EVERYTHING, 1)
    except EmbeddingError as error:
        command = error.hint if error.hint and error.hint.startswith(("kb ", "pip ")) else None
        told = "searching by meaning does not work"
        yield Ailment("model", "error", told, error.message, command=command)


def _of_files(status: "Status") -> Iterator[Ailment]:
    if status.problems:
        yield Ailment(
            "unreadable_files",
            "warning",
            f"{_files(len(status.problems))} could not be read",
            "kb sync tries those again that have changed",
            len(status.problems),
            examples=_first(f"{one.path}: {one.problem}" for one in status.problems),
        )
    suspects = [one for one in status.suspects if not one.large]
    if suspects:
        paths = " ".join(quote(one.path) for one in suspects[:MOST_EXAMPLES])
        yield Ailment(
            "suspects",
            "warning",
            f"{_files(len(suspects))} perhaps should not be in the base",
            "a line in .kbignore keeps them out for good",
            len(suspects),
            f"kb rm {paths}",
            _first(f"{one.path}: {one.reason}" for one in suspects),
        )
    large = [one for one in status.suspects if one.large]
    if large:
        told = f"{_files(len(large))} make{'s' * (len(large) == 1)} much of the base"
        named = _first(f"{one.path}: {one.reason}" for one in large)
        path = large[0].path
        command = None if os.path.isabs(path) else f"kb ignore {quote('/' + path)}"
        yield Ailment("large_files", "info", told, "", len(large), command, named)
    if status.out_of_step:
        were = "document was" if status.out_of_step == 1 else "documents were"
        told = f"{status.out_of_step} {were} split by other settings, or read by an older version"
        yield Ailment("out_of_step", "warning", told, "", status.out_of_step, "kb sync")
    left = sum(one.files for one in status.unread)
    if left:
        kinds = (
            f"{one.files} {one.extension or 'without extension'}: {one.reason}"
            for one in status.unread
        )
        told = f"{_files(left)} {'was' if left == 1 else 'were'} left out"
        yield Ailment("unread_files", "info", told, "", left, None, _first(kinds))


def _of_contents(base: "BaseServices") -> Iterator[Ailment]:
    dead = base.store.dead_links()
    if dead:
        yield Ailment(
            "dead_links",
            "warning",
            "1 name that texts link to leads nowhere"
            if len(dead) == 1
            else f"{len(dead)} names that texts link to lead nowhere",
            "mend them where they are written; what is named may also be added later",
            sum(number for _, number in dead),
            examples=_first(f"{target} (named in {number})" for target, number in dead),
        )
    yield from _superseded(base)
    yield from _due(base)
    yield from _odd(base.store.documents(Visible(base.now()), Page(MOST_LOOKED_AT)))
    once = [tag for tag, number in base.store.tags(Visible(base.now())) if number == 1]
    if len(once) >= FEW_TAGS:
        told = f"{len(once)} tags are used once"
        yield Ailment("tags_used_once", "info", told, "", len(once), "kb tags", _first(once))


def _superseded(base: "BaseServices") -> Iterator[Ailment]:
    """What is hidden, although nothing took its place that can be seen."""
    superseded = base.store.documents(SUPERSEDED, Page(MOST_LOOKED_AT))
    heads = base.store.heads([one.id for one in superseded])
    codes = [one.code for one in superseded if one.id not in heads]
    if codes:
        one = "1 document is hidden, and nothing is shown in its place"
        many = f"{len(codes)} documents are hidden, and nothing is shown in their place"
        what, detail = many if len(codes) > 1 else one, "what took it is gone, or leads in a circle"
        command = f"kb restore {' '.join(map(quote, codes[:MOST_EXAMPLES]))}"
        yield Ailment("superseded", "warning", what, detail, len(codes), command, _first(codes))


def _due(base: "BaseServices") -> Iterator[Ailment]:
    """What has expired, and what will within a week."""
    expired = base.lifecycle.due(None, Page(MOST_EXAMPLES))
    soon = base.lifecycle.due(SOON, Page(MOST_EXAMPLES, expired.total))
    for name, due, number, command in (
        ("expired", expired, expired.total, "kb expire --delete"),
        ("expiring", soon, soon.total - expired.total, f"kb expire --within {SOON}"),
    ):
        if number > 0:
            told = "expired" if name == "expired" else "expiring within a week"
            what = f"{number} document{'s' * (number != 1)} {told}"
            codes = tuple(one.code for one in due.documents)
            yield Ailment(name, "info", what, "", number, command, codes)


def _odd(documents: "list[Document]") -> Iterator[Ailment]:
    """Titles that say nothing, and texts that are there twice."""
    odd = [one for one in documents if not any(map(str.isalnum, one.title))]
    if odd:
        told = f"{len(odd)} title{'s' * (len(odd) != 1)} without a letter"
        named = _first(f"{one.code}: {one.title}" for one in odd)
        detail = "a first heading, or a title in the front matter, says more"
        yield Ailment("odd_titles", "info", told, detail, len(odd), None, named)
    same: dict[str, list[str]] = {}
    for one in documents:
        same.setdefault(one.content_hash or one.id, []).append(one.code)
    twice = [codes for codes in same.values() if len(codes) > 1]
    if twice:
        number = sum(len(codes) - 1 for codes in twice)
        told = f"{number} document{'s' * (number != 1)} with the text of another one"
        named = _first(" = ".join(codes[:5]) for codes in twice)
        detail = "take one out with kb rm; a file that stays on disk wants kb ignore, too"
        yield Ailment("duplicates", "info", told, detail, number, None, named)


def _files(number: int) -> str:
    return f"{number:,} file{'s' * (number != 1)}"


def _first(texts: Iterable[str]) -> tuple[str, ...]:
    from itertools import islice

    return tuple(islice(texts, MOST_EXAMPLES))
