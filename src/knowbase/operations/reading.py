"""Operations for whoever shows documents: render, original."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation, as_it_was
from knowbase.search.request import AS_OF
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.base.originals import Original
    from knowbase.rendering import Rendered


class RenderRequest(NamedTuple):
    reference: Annotated[
        str,
        Param(
            "a code, id, number or path; :slug behind it for the part from there on, @ a moment "
            "for what it was",
            positional=True,
            single=True,
            metavar="DOCUMENT",
        ),
    ]
    query: Annotated[str, Param("mark the passages that this finds", metavar="QUERY")] = ""
    line: Annotated[
        int | None, Param("of a long one, the part from this line on", least=1, metavar="N")
    ] = None
    as_of: Annotated[str | None, AS_OF] = None


@as_it_was
def render(base: "Base", request: RenderRequest) -> "Rendered":
    return base.render(*request[:-1])


class OriginalRequest(NamedTuple):
    reference: Annotated[
        str,
        Param("a code, id, number or path", positional=True, single=True, metavar="DOCUMENT"),
    ]


def original(base: "Base", request: OriginalRequest) -> "Original":
    return base.original(request.reference)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "render",
            "Show a document as safe HTML, or as a tree with --json",
            RenderRequest,
            render,
            examples=(
                "kb render KB-12 > KB-12.html",
                'kb render docs/deploy.md --query "roll back" --json',
                "kb render KB-12@2026-03-01",
            ),
        ),
        Operation(
            "original",
            "Give the PDF that a document was read from, as it lies on the disk",
            OriginalRequest,
            original,
            near=True,
            whole=True,
            examples=("kb original manual.pdf", "kb original KB-12 --json"),
        ),
    )
}
