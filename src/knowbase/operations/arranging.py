"""Operations on how documents are arranged: by folder, and by tag."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import REFERENCES_KB, Operation, as_it_was
from knowbase.query.writers import WRITERS
from knowbase.search.request import AS_OF, INCLUDE, TAGS, TYPE
from knowbase.values.documents import Page
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.memory.notes import Tagged
    from knowbase.values.folders import Folder

ORDERS = {"changed": "newest", "created": "created last"}
DOCUMENTS = Param("codes, ids, numbers or paths", positional=True, metavar="DOCUMENT")


class Browse(NamedTuple):
    folder: Annotated[str, Param("a folder; else all there is", positional=True, single=True)] = ""
    tags: Annotated[tuple[str, ...], TAGS] = ()
    type: Annotated[tuple[str, ...], TYPE] = ()
    project: Annotated[str | None, Param("only of this project")] = None
    created: Annotated[
        tuple[str, ...],
        Param(
            "only what came then: '>=2026-01-05'; repeatable",
            metavar="DATE",
            grammar="moment",
            blank=True,
        ),
    ] = ()
    session: Annotated[str | None, Param("only what was made or used in this session")] = None
    writer: Annotated[
        str | None,
        Param("only what this wrote: a file, an agent (in a session), a person", choices=WRITERS),
    ] = None
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    limit: Annotated[int, Param("how many", least=1, most=10_000, metavar="N", short="n")] = 50
    offset: Annotated[
        int, Param("how many to leave out first", least=0, most=10**9, metavar="N")
    ] = 0
    order: Annotated[
        str, Param("what stands first: what was changed last, or made last", choices=tuple(ORDERS))
    ] = "changed"
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def browse(base: "Base", request: Browse) -> "Folder":
    return base.browse(
        request.folder,
        tags=request.tags,
        types=request.type,
        project=request.project,
        created=request.created,
        session=request.session,
        writer=request.writer,
        include=request.include,
        page=Page(request.limit, request.offset, ORDERS[request.order]),
    )


class Tag(NamedTuple):
    references: Annotated[tuple[str, ...], DOCUMENTS]
    add: Annotated[tuple[str, ...], Param("tags to give them", metavar="TAG,TAG")] = ()
    remove: Annotated[tuple[str, ...], Param("tags to take from them", metavar="TAG,TAG")] = ()


def tag(base: "Base", request: Tag) -> "Tagged":
    return base.tag(request.references, add=request.add, remove=request.remove)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "browse",
            "List what is in a folder: its folders with their numbers, and its documents",
            Browse,
            browse,
            examples=(
                "kb browse",
                "kb browse docs/api --type markdown",
                "kb browse --order created",
            ),
        ),
        Operation(
            "tag",
            "Give notes and memories tags, or take tags from them; a file says its own",
            Tag,
            tag,
            writes=True,
            most_kb=REFERENCES_KB,
            examples=("kb tag KB-7 --add ops,web --remove old",),
        ),
    )
}
