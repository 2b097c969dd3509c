"""Operations that bring whole collections in and out: export, import."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.operations.declare import Operation, Terminal
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.base import Base
    from knowbase.exchange.exporting import Export
    from knowbase.exchange.imported import Imported

ORIGINS = ("chatgpt", "claude", "mem0", "mcp-memory", "basic-memory", "notion", "bookmarks")
FORMATS = ("markdown", "jsonl")


class ExportRequest(NamedTuple):
    folder: Annotated[
        str, Param("a folder that is new, empty or an earlier export", positional=True)
    ]
    format: Annotated[
        str, Param("Markdown beside the lines of JSON, or these alone", choices=FORMATS)
    ] = "markdown"
    copy: Annotated[bool, Param("put copies of the files into it, too")] = False
    discard: Annotated[bool, Param("overwrite what was changed in the folder since")] = False
    dry_run: Annotated[bool, Param("only say what would be written")] = False


def export(
    base: "Base", request: ExportRequest, progress: "Callable[[Any], None]" = lambda _: None
) -> "Export":
    from knowbase.exchange.exporting import Wanted
    from knowbase.exchange.exporting import export as write

    return write(base, Wanted(*request), progress)


class ImportRequest(NamedTuple):
    path: Annotated[
        str, Param("an export, or what another program has written", positional=True, single=True)
    ]
    origin: Annotated[
        str | None,
        Param("whose it is", choices=ORIGINS, flag="--from", metavar="PROGRAM"),
    ] = None
    tags: Annotated[
        tuple[str, ...], Param("with --from: give these tags to all of it", metavar="TAG,TAG")
    ] = ()
    project: Annotated[str | None, Param("with --from: the project it belongs to")] = None
    dry_run: Annotated[bool, Param("only say what would come in")] = False


def take_in(
    base: "Base", request: ImportRequest, progress: "Callable[[Any], None]" = lambda _: None
) -> "Imported":
    if request.origin is None:
        from knowbase.errors import InvalidInput
        from knowbase.exchange.taking import take_export

        if request.tags or request.project:
            raise InvalidInput(
                "an export has its own tags and projects",
                field="tags" if request.tags else "project",
                hint="they go with --from",
            )
        return take_export(base, request.path, dry_run=request.dry_run, progress=progress)
    from knowbase.exchange.others import Wanted, take_others

    wanted = Wanted(request.path, request.origin, request.tags, request.project, request.dry_run)
    return take_others(base, wanted, progress)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "export",
            "Write the whole base into a folder, as Markdown and lines of JSON",
            ExportRequest,
            export,
            local=True,
            progress=True,
            terminal=Terminal(reports=True),
            examples=("kb export ~/notes-export", "kb export out --format jsonl --copy"),
        ),
        Operation(
            "import",
            "Take in an export, or what another program has kept; again without duplicates",
            ImportRequest,
            take_in,
            writes=True,
            local=True,
            progress=True,
            terminal=Terminal(reports=True),
            examples=(
                "kb import ~/notes-export",
                "kb import --from chatgpt ~/Downloads/chatgpt-export.zip --dry-run",
                "kb import --from bookmarks bookmarks.html --tags web",
            ),
        ),
    )
}
