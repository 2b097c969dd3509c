"""Operations on what the base was: log, history, diff, undo."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.memory.history import Difference, DocumentHistory, Log, Pruned
    from knowbase.memory.undoing import Runs, Undone

_DOCUMENT = "a code, id, number or path, also of what was removed"
_LIMIT = Param("how many", least=1, most=10_000, metavar="N", short="n")


class LogRequest(NamedTuple):
    reference: Annotated[
        str | None, Param(f"only of this document: {_DOCUMENT}", positional=True, single=True)
    ] = None
    who: Annotated[str | None, Param("only by this user or token", metavar="NAME")] = None
    surface: Annotated[
        str | None, Param("only through this", choices=("cli", "python", "http", "mcp", "git"))
    ] = None
    command: Annotated[str | None, Param("only by this command", metavar="NAME")] = None
    session: Annotated[str | None, Param("only in this session", metavar="NAME")] = None
    since: Annotated[
        str | None, Param("on or after: 2026-01-31, 7d", metavar="DATE", grammar="past")
    ] = None
    until: Annotated[
        str | None, Param("before: 2026-01-31, 7d", metavar="DATE", grammar="past")
    ] = None
    limit: Annotated[int, _LIMIT] = 20


def log(base: "Base", request: LogRequest) -> "Log":
    from knowbase.values.history import Wanted

    document = base.history.identify(request.reference) if request.reference else None
    return base.history.log(
        Wanted(
            document,
            request.who,
            request.surface,
            request.command,
            request.session,
            after=_moment(base, "since", request.since),
            before=_moment(base, "until", request.until),
            limit=request.limit,
        )
    )


def _moment(base: "Base", field: str, text: str | None) -> str | None:
    from knowbase.errors import InvalidInput
    from knowbase.query.moments import span

    found = span(text, base.now()) if text is not None else None
    if text is not None and found is None:
        hint = "such as 7d, yesterday or 2026-01-31"
        raise InvalidInput(f"{field} cannot be {text!r}", field=field, hint=hint)
    return found.start if found is not None else None


class HistoryRequest(NamedTuple):
    reference: Annotated[str, Param(_DOCUMENT, positional=True, metavar="DOCUMENT")]


def history(base: "Base", request: HistoryRequest) -> "DocumentHistory":
    return base.history.of(request.reference)


class DiffRequest(NamedTuple):
    old: Annotated[
        str, Param("a document, and @ a moment behind it", positional=True, metavar="DOCUMENT@WHEN")
    ]
    new: Annotated[
        str | None,
        Param("@ another moment, or another document", positional=True, single=True,
              metavar="@WHEN"),
    ] = None  # fmt: skip


def diff(base: "Base", request: DiffRequest) -> "Difference":
    return base.history.diff(request.old, request.new)


class UndoRequest(NamedTuple):
    change: Annotated[
        int | None,
        Param("of this change's command, not of the last one", positional=True, single=True,
              least=1, metavar="CHANGE"),
    ] = None  # fmt: skip
    list: Annotated[bool, Param("list what could be undone, and change nothing")] = False
    dry_run: Annotated[bool, Param("say what would be undone, and change nothing")] = False
    limit: Annotated[int, _LIMIT] = 20


def undo(base: "Base", request: UndoRequest) -> "Undone | Runs":
    if request.list:
        return base.history.undoable(request.limit)
    return base.history.undo(request.change, dry_run=request.dry_run)


class PruneRequest(NamedTuple):
    keep: Annotated[
        str | None,
        Param("for this once: a time, a number, off, instead of history.keep", metavar="KEEP"),
    ] = None
    dry_run: Annotated[bool, Param("say how many would go, and change nothing")] = False


def prune(base: "Base", request: PruneRequest) -> "Pruned":
    from knowbase.memory.keep import rules_of

    rules = rules_of([request.keep]) if request.keep is not None else None
    return base.history.prune(rules, dry_run=request.dry_run)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "log",
            "Show who changed what, when, and by which command",
            LogRequest,
            log,
            examples=("kb log --since 7d", "kb log KB-12 --json", "kb log --surface mcp"),
        ),
        Operation(
            "history",
            "Show what became of one document, version by version",
            HistoryRequest,
            history,
            examples=("kb history KB-12",),
        ),
        Operation(
            "history prune",
            "Give up versions that are older than history.keep says",
            PruneRequest,
            prune,
            writes=True,
            whole=True,
            examples=("kb history prune --dry-run", "kb history prune --keep 90d"),
        ),
        Operation(
            "diff",
            "Show by words what differs between two versions of a document",
            DiffRequest,
            diff,
            examples=("kb diff KB-12", "kb diff KB-12@2026-03-01", "kb diff KB-12@7d @yesterday"),
        ),
        Operation(
            "undo",
            "Take back what the last command changed",
            UndoRequest,
            undo,
            writes=True,
            examples=("kb undo --dry-run", "kb undo", "kb undo --list", "kb undo 12"),
        ),
    )
}
