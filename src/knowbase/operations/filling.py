"""Operations that write: init, add, note, rm, sync, watch."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.operations.declare import (
    REFERENCES_KB,
    TEXT_KB,
    NoParameters,
    Operation,
    Place,
    Terminal,
)
from knowbase.values.parameters import Group, Param

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from knowbase.base import Base
    from knowbase.ingest.removal import Removal
    from knowbase.ingest.report import Progress, Report
    from knowbase.memory.bulk import WrittenNotes
    from knowbase.values.cluster import ClusterState
    from knowbase.values.documents import Document


DEFER = Param("store the text at once, and leave the vectors to kb embed")
VERIFY = Param("read every file, also one that the disk calls unchanged")


class Init(NamedTuple):
    folder: Annotated[
        str | None, Param("the folder; else the one you are in", positional=True, single=True)
    ] = None
    profile: Annotated[
        str | None, Param("its ranking recipe, kept in kb.toml; see kb profiles", metavar="NAME")
    ] = None
    print_sql: Annotated[
        bool,
        Param("print what an administrator of PostgreSQL must run, and make nothing"),
    ] = False
    writer: Annotated[
        str | None, Param("with --print-sql: a role that is to write", metavar="ROLE")
    ] = None
    reader: Annotated[
        str | None, Param("with --print-sql: a role that is to read", metavar="ROLE")
    ] = None
    dimensions: Annotated[
        int,
        Param(
            "with --print-sql: the length of its model's vectors", least=1, most=2000, metavar="N"
        ),
    ] = 384


class SchemaSql(NamedTuple):
    """What an administrator runs."""

    base: str
    sql: str


class Made(NamedTuple):
    base: str
    is_new: bool
    profile: str = ""  # the ranking recipe in force
    cluster: "ClusterState | None" = None  # the servers that its chunks are distributed over


def init(base: "Base | Place", request: Init) -> "Made | SchemaSql":
    """The surface has made it by now: what is left is to say where, or that it was there."""
    if isinstance(base, Place):
        from knowbase.store.location import shown
        from knowbase.store.opening import schema_sql

        sql = schema_sql(base.path, request.dimensions, request.writer, request.reader)
        return SchemaSql(shown(base.path), sql)
    cluster = base.store.cluster() if base.access.is_full else None
    return Made(base.shown, base.is_new, base.profile_for().name, cluster)


class Add(NamedTuple):
    paths: Annotated[
        tuple[str, ...],
        Param("files, folders and https://… pages", positional=True, metavar="PATH"),
    ] = ()
    tags: Annotated[
        tuple[str, ...], Param("give these tags to all of them", metavar="TAG,TAG")
    ] = ()
    untag: Annotated[
        tuple[str, ...], Param("take back these tags that kb add gave", metavar="TAG,TAG")
    ] = ()
    parent: Annotated[str | None, Param("the parent of those that name none", metavar="CODE")] = (
        None
    )
    tree: Annotated[bool, Param("folders make a hierarchy: their index page is the parent")] = False
    defer: Annotated[bool, DEFER] = False
    verify: Annotated[bool, VERIFY] = False
    history: Annotated[bool, Param("the commits of a git repository: here, or at PATH")] = False
    since: Annotated[
        str | None, Param("with --history: only commits since then", metavar="DATE")
    ] = None
    limit: Annotated[
        int | None, Param("with --history: only this many, the last ones", least=1, metavar="N")
    ] = None
    versions: Annotated[
        bool, Param("with --history: the files too, with what they said at each commit")
    ] = False


def add(
    base: "Base", request: Add, progress: "Callable[[Progress], None]" = lambda _: None
) -> "Report":
    if request.history:
        return _add_history(base, request, progress)
    for name in ("since", "limit", "versions"):
        if getattr(request, name):
            raise InvalidInput(f"{name} goes with --history", field=name)
    if not request.paths:
        raise InvalidInput("PATH is missing", field="paths", hint="files, folders or https://…")
    return base.add(
        request.paths,
        tags=request.tags,
        untag=request.untag,
        parent=request.parent,
        tree=request.tree,
        defer=request.defer,
        verify=request.verify,
        progress=progress,
    )


def _add_history(base: "Base", request: Add, progress: "Callable[[Progress], None]") -> "Report":
    if len(request.paths) > 1 or request.parent or request.tree or request.untag:
        raise InvalidInput("--history takes one path, no parent and no untag", field="history")
    return base.add_history(
        request.paths[0] if request.paths else ".",
        since=request.since,
        limit=request.limit,
        tags=request.tags,
        versions=request.versions,
        defer=request.defer,
        progress=progress,
    )


def _note_parameters() -> Mapping[str, Param]:
    from knowbase.operations.memory import stated_parameters

    stated = stated_parameters()
    kinds = "note (the default), decision, lesson, fact …"
    return {**stated, "type": stated["type"]._replace(text=kinds)}


class NoteRequest(NamedTuple):
    text: Annotated[
        str, Param("the text; else standard input or $EDITOR", positional=True, grammar="text")
    ] = ""
    stated: Annotated[Mapping[str, Any], Group(_note_parameters)] = {}
    replace: Annotated[str | None, Param("write it in place of this note", metavar="CODE")] = None
    since: Annotated[
        str | None,
        Param(
            "with replace: only if its updated_at is still this, as it was read",
            metavar="MOMENT",
        ),
    ] = None


def note(base: "Base", request: NoteRequest) -> "Document":
    from knowbase.values.notes import Note

    text, stated, replaces, since = request
    return base.note(Note(text, replaces=replaces, since=since, **stated))


class NoteItem(NamedTuple):
    """One of many notes."""

    text: Annotated[str, Param("the text", grammar="text")]
    stated: Annotated[Mapping[str, Any], Group(_note_parameters)] = {}


class NotesRequest(NamedTuple):
    notes: Annotated[
        tuple[NoteItem, ...],
        Param(
            "the notes, as kb note takes them; else lines of JSON from standard input",
            of=NoteItem,
            metavar="JSON",
            keeps_commas=True,
        ),
    ] = ()
    key: Annotated[
        str | None,
        Param("sent again with this key, they are not written again", grammar="session"),
    ] = None


def notes(base: "Base", request: NotesRequest) -> "WrittenNotes":
    from knowbase.values.notes import Note

    return base.notes([Note(one.text, **one.stated) for one in request.notes], key=request.key)


class Remove(NamedTuple):
    references: Annotated[
        tuple[str, ...], Param("codes, ids, paths or added folders", positional=True)
    ]
    dry_run: Annotated[bool, Param("only show what would be removed")] = False


def remove(base: "Base", request: Remove) -> "Removal":
    return base.remove(request.references, dry_run=request.dry_run)


def _removed(_: "Base", request: Remove) -> tuple[str, ...]:
    return () if request.dry_run else request.references


class Sync(NamedTuple):
    prune: Annotated[bool, Param("remove what is gone, even if it is more than half")] = False
    defer: Annotated[bool, DEFER] = False
    verify: Annotated[bool, VERIFY] = False


def sync(
    base: "Base", request: Sync, progress: "Callable[[Progress], None]" = lambda _: None
) -> "Report":
    return base.sync(
        prune=request.prune, defer=request.defer, verify=request.verify, progress=progress
    )


def _watching(base: "Base") -> str:
    paths = ", ".join(source.path for source in base.store.sources())
    return f"watching {paths}; Ctrl-C ends it" if paths else ""


def watch(base: "Base", _: NoParameters) -> "Iterator[Report]":
    return base.watch()


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "init",
            "Make a base here or in a folder (.kb/base.db), or at --base PATH",
            Init,
            init,
            writes=True,
            local=True,
            creates_base=True,
            terminal=Terminal(reports=True),
            examples=(
                "kb init",
                "kb init notes",
                "kb init --base ~/notes.db",
                "kb init --profile entries",
                "kb init --base postgresql://db/knowledge --print-sql --writer team",
            ),
        ),
        Operation(
            "add",
            "Put files, folders and pages in; later changes are found by kb sync",
            Add,
            add,
            writes=True,
            local=True,
            progress=True,
            terminal=Terminal(reports=True),
            examples=(
                "kb add docs/ notes/ paper.pdf",
                "kb add https://example.org/guide --tags web",
                "kb add --history --since 1y",
                "kb add --history --versions docs/",
            ),
        ),
        Operation(
            "note",
            "Write a note into the base",
            NoteRequest,
            note,
            writes=True,
            most_kb=TEXT_KB,
            terminal=Terminal(input_field="text"),
            examples=(
                'kb note "Deploys freeze on Fridays" --tags ops,policy',
                "git log -1 --format=%B | kb note --type decision",
            ),
        ),
        Operation(
            "notes",
            "Write many notes at once, all or none; with a key, once",
            NotesRequest,
            notes,
            writes=True,
            most_kb=TEXT_KB,
            terminal=Terminal(input_field="notes"),
            examples=(
                "kb notes < notes.jsonl",
                "kb notes --key import-2026-01 < notes.jsonl",
            ),
        ),
        Operation(
            "rm",
            "Remove documents or folders from the base; files on disk stay",
            Remove,
            remove,
            writes=True,
            most_kb=REFERENCES_KB,
            whole=True,
            terminal=Terminal(removes=_removed),
            examples=("kb rm KB-12 --dry-run", "kb rm docs/"),
        ),
        Operation(
            "sync",
            "Bring everything that was added in step with the disk, and pages with the web",
            Sync,
            sync,
            writes=True,
            local=True,
            progress=True,
            terminal=Terminal(reports=True),
            examples=("kb sync", "kb sync --prune", "kb sync --verify"),
        ),
        Operation(
            "watch",
            "Keep the base in step while files change, until Ctrl-C",
            NoParameters,
            watch,
            writes=True,
            local=True,
            streams=True,
            terminal=Terminal(opening=_watching, reports=True, json_lines=True),
            examples=("kb watch", "kb watch --json >> changes.jsonl"),
        ),
    )
}
