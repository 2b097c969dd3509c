"""Operations on what becomes of documents: supersede, forget, restore, archive, extend, expire."""

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import REFERENCES_KB, Operation, Terminal
from knowbase.values.documents import ALL, Page
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.ingest.removal import Removal
    from knowbase.memory.lifecycle import Changed, Superseded
    from knowbase.memory.undoing import Erased
    from knowbase.values.documents import Listing

DOCUMENTS = Param("codes, ids, numbers or paths", positional=True, metavar="DOCUMENT")
LIMIT = Param("how many", least=1, most=10_000, metavar="N", short="n")


class Supersede(NamedTuple):
    old: Annotated[str, Param("what no longer holds", positional=True, metavar="OLD")]
    new: Annotated[str, Param("what takes its place", positional=True, single=True, metavar="NEW")]


def supersede(base: "Base", request: Supersede) -> "Superseded":
    return base.lifecycle.supersede(request.old, request.new)


class ReferencesRequest(NamedTuple):
    references: Annotated[tuple[str, ...], DOCUMENTS]


class Forget(NamedTuple):
    references: Annotated[tuple[str, ...], DOCUMENTS]
    erase: Annotated[bool, Param("remove it for good, with every version of it")] = False


def forget(base: "Base", request: Forget) -> "Changed | Erased":
    if request.erase:
        return base.history.erase(request.references)
    return base.lifecycle.forget(request.references)


def _erased(base: "Base", request: Forget) -> tuple[str, ...]:
    """What is there, to be asked about."""
    if not request.erase:
        return ()
    found = (base.store.find(one) for one in request.references)
    return tuple(one.id for one in found if one is not None)


def archive(base: "Base", request: ReferencesRequest) -> "Changed":
    return base.lifecycle.archive(request.references)


class Restore(NamedTuple):
    references: Annotated[tuple[str, ...], DOCUMENTS] = ()
    limit: Annotated[int, LIMIT] = 50


def restore(base: "Base", request: Restore) -> "Changed | Listing":
    """Without a document: what could be restored."""
    if not request.references:
        return base.lifecycle.forgotten(Page(request.limit))
    named = [base.history.split(one) for one in request.references]
    if all(when is None for _, when in named):
        return base.lifecycle.restore(request.references)
    from knowbase.memory.lifecycle import Changed

    hidden = [one for one, when in named if when is None]
    shown = base.lifecycle.restore(hidden).documents if hidden else ()
    back = (base.history.restore(one, when) for one, when in named if when is not None)
    return Changed((*shown, *back))


def _of_backup(words: Sequence[str]) -> str | None:
    """`kb restore FILE`: a file that is, or is called like, a database is no document's name."""
    import os

    path = os.path.expanduser(words[0]) if len(words) == 1 else ""
    is_database = path.endswith(".db")
    if not is_database and os.path.isfile(path):
        with suppress(OSError), open(path, "rb") as file:
            is_database = file.read(16) == b"SQLite format 3\0"
    return "backup restore" if is_database else None


class Extend(NamedTuple):
    references: Annotated[tuple[str, ...], DOCUMENTS]
    until: Annotated[
        str,
        Param("so long from now, a date, or never: 30d, 2030-12-31", metavar="TIME"),
    ] = "30d"


def extend(base: "Base", request: Extend) -> "Changed":
    return base.lifecycle.extend(request.references, request.until)


class Expire(NamedTuple):
    within: Annotated[
        str | None,
        Param("also what expires within this time: 7d, 12h", metavar="TIME", grammar="ahead"),
    ] = None
    delete: Annotated[bool, Param("remove for good what has expired")] = False
    limit: Annotated[int, LIMIT] = 50


def expire(base: "Base", request: Expire) -> "Listing | Removal":
    return base.expire(request.within, delete=request.delete, page=Page(request.limit))


def _removed(base: "Base", request: Expire) -> tuple[str, ...]:
    if not request.delete or request.within is not None:
        return ()
    return tuple(document.id for document in base.expire(page=ALL).documents)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "supersede",
            "Let one document take another's place; the old one is hidden",
            Supersede,
            supersede,
            writes=True,
            examples=("kb supersede KB-7 KB-12",),
        ),
        Operation(
            "forget",
            "Never show a document again, until it is restored",
            Forget,
            forget,
            writes=True,
            most_kb=REFERENCES_KB,
            terminal=Terminal(removes=_erased),
            examples=("kb forget KB-7", "kb forget --erase KB-7"),
        ),
        Operation(
            "restore",
            "Show a document again that was forgotten, archived, superseded or has expired",
            Restore,
            restore,
            writes=True,
            most_kb=REFERENCES_KB,
            terminal=Terminal(instead=_of_backup),
            examples=(
                "kb restore KB-7",
                "kb restore    # lists what was forgotten",
                "kb restore KB-7@2026-03-01    # as it was then",
            ),
        ),
        Operation(
            "archive",
            "Hide a document unless archived ones are asked for",
            ReferencesRequest,
            archive,
            writes=True,
            most_kb=REFERENCES_KB,
            examples=("kb archive KB-7", "kb search plans --include archived"),
        ),
        Operation(
            "extend",
            "Let documents expire later, or never",
            Extend,
            extend,
            writes=True,
            most_kb=REFERENCES_KB,
            examples=("kb extend KB-7 --until 30d", "kb extend KB-7 --until never"),
        ),
        Operation(
            "expire",
            "List what has expired, or will soon; --delete removes what has",
            Expire,
            expire,
            writes_if="delete",
            terminal=Terminal(removes=_removed),
            examples=("kb expire --within 7d", "kb expire --delete --yes"),
        ),
    )
}
