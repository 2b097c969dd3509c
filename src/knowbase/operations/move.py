"""The operation that moves a base: move."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.ingest.embedding import Step
    from knowbase.move import Moved


class Move(NamedTuple):
    source: Annotated[str, Param("the base to copy: a file, a folder or a URL", positional=True)]
    target: Annotated[str, Param("where to: it is made if need be", positional=True, single=True)]
    dry_run: Annotated[bool, Param("only say what would be copied")] = False


def move(_: None, request: Move, progress: "Callable[[Step], None]" = lambda _: None) -> "Moved":
    from knowbase.move import move as move_base

    return move_base(request.source, request.target, dry_run=request.dry_run, progress=progress)


OPERATIONS = {
    "move": Operation(
        "move",
        "Copy a whole base to another place or engine, and verify it; the source stays",
        Move,
        move,
        writes=True,
        local=True,
        opens_bases=True,
        progress=True,
        examples=(
            "kb move .kb/base.db postgresql://kb@db.example/knowledge",
            "kb move postgresql://kb@db.example/knowledge#web ~/web.db",
            "kb move .kb/base.db backup.db --dry-run",
        ),
    )
}
