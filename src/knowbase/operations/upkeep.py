"""Operations that look after a base: backup, backup restore, check, repair."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation, Place, Terminal
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.base import Base
    from knowbase.ingest.embedding import Step
    from knowbase.upkeep.backup import Backup
    from knowbase.upkeep.check import Checked
    from knowbase.upkeep.compact import Compacted
    from knowbase.upkeep.repair import Repaired
    from knowbase.upkeep.restore import Restored


class BackupRequest(NamedTuple):
    target: Annotated[
        str, Param("a file, or a folder for one with the date in its name", positional=True)
    ]
    keep: Annotated[
        int | None, Param("of a folder's backups, keep this many", least=1, metavar="N")
    ] = None
    dry_run: Annotated[bool, Param("only say what would be written and removed")] = False


def backup(
    base: "Base", request: BackupRequest, progress: "Callable[[Step], None]" = lambda _: None
) -> "Backup":
    return base.backup(
        request.target, keep=request.keep, dry_run=request.dry_run, progress=progress
    )


class RestoreRequest(NamedTuple):
    file: Annotated[str, Param("a backup", positional=True, metavar="FILE")]
    discard: Annotated[bool, Param("do not keep the base that is replaced")] = False
    dry_run: Annotated[bool, Param("only say what would be replaced and lost")] = False


def restore(
    place: Place, request: RestoreRequest, progress: "Callable[[Step], None]" = lambda _: None
) -> "Restored":
    from knowbase.base.upkeep import restore as restore_backup

    return restore_backup(
        request.file,
        place.path,
        discard=request.discard,
        dry_run=request.dry_run,
        progress=progress,
    )


def _replaced(place: Place, request: RestoreRequest) -> "Restored | None":
    """What is shown before it is asked for; nothing when there is nothing to lose."""
    if request.dry_run:
        return None
    preview = restore(place, request._replace(dry_run=True))
    return None if preview.before == 0 else preview


class CheckRequest(NamedTuple):
    deep: Annotated[bool, Param("read every document, vector and file, too")] = False


def check(
    place: Place, request: CheckRequest, progress: "Callable[[Step], None]" = lambda _: None
) -> "Checked":
    """A base that cannot be opened is a finding, not an error."""
    from knowbase.base import open as open_base
    from knowbase.errors import BaseDamaged, BaseMissing, NotABase
    from knowbase.upkeep.check import unopened

    try:
        with open_base(place.path) as base:
            return base.check(deep=request.deep, progress=progress)
    except BaseMissing:
        raise
    except (BaseDamaged, NotABase) as error:
        return unopened(place.shown, error, deep=request.deep)


class CompactRequest(NamedTuple):
    dry_run: Annotated[bool, Param("only say what takes how much of the disk")] = False


def compact(base: "Base", request: CompactRequest) -> "Compacted":
    return base.compact(dry_run=request.dry_run)


class RepairRequest(NamedTuple):
    dry_run: Annotated[bool, Param("only say what could be saved")] = False


def repair(
    place: Place, request: RepairRequest, progress: "Callable[[Step], None]" = lambda _: None
) -> "Repaired":
    from knowbase.base.upkeep import repair as repair_base

    return repair_base(place.path, dry_run=request.dry_run, progress=progress)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "backup",
            "Write the whole base into one verified file, while others go on writing",
            BackupRequest,
            backup,
            writes=True,
            local=True,
            progress=True,
            examples=("kb backup ~/backups/ --keep 14", "kb backup base-before-upgrade.db"),
        ),
        Operation(
            "backup restore",
            "Put a backup in place of the base; kb restore FILE is the same",
            RestoreRequest,
            restore,
            writes=True,
            local=True,
            by_place=True,
            progress=True,
            terminal=Terminal(asks=_replaced),
            examples=(
                "kb restore ~/backups/base-20261116T101500Z.db --dry-run",
                "kb backup restore base-before-upgrade.db --yes",
            ),
        ),
        Operation(
            "check",
            "Find what is damaged or out of step; exit code 4 when something is",
            CheckRequest,
            check,
            local=True,
            by_place=True,
            progress=True,
            examples=("kb check", "kb check --deep --json"),
        ),
        Operation(
            "compact",
            "Write the base anew without holes, and say what takes how much of the disk",
            CompactRequest,
            compact,
            writes=True,
            local=True,
            whole=True,
            examples=("kb compact", "kb compact --dry-run --json"),
        ),
        Operation(
            "repair",
            "Save what can be saved of a damaged base, and rebuild the rest",
            RepairRequest,
            repair,
            writes=True,
            local=True,
            by_place=True,
            progress=True,
            examples=("kb repair --dry-run", "kb repair"),
        ),
    )
}
