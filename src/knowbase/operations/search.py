"""The search operation: alone in its file, so that the commonest command starts fast."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation, Param
from knowbase.query.conditions import HIDDEN_STATES
from knowbase.search import MAX_TOP, MODES, Answer, SearchRequest

if TYPE_CHECKING:
    from knowbase.base import Base

TAGS = Param("only documents with all of these tags", metavar="TAG,TAG")
TYPE = Param("only documents of this type: markdown, pdf, code, note …", metavar="TYPE")
INCLUDE = Param("also show what is hidden by default", choices=HIDDEN_STATES, metavar="STATE")


class Search(NamedTuple):
    query: Annotated[str, Param("what to look for: words or a question", positional=True)]
    tags: Annotated[tuple[str, ...], TAGS] = ()
    tags_match: Annotated[str, Param("all tags, or any of them", choices=("all", "any"))] = "all"
    type: Annotated[tuple[str, ...], TYPE] = ()
    top: Annotated[
        int | None, Param("how many hits (10)", least=1, most=MAX_TOP, metavar="N", short="n")
    ] = None
    threshold: Annotated[float | None, Param("leave out lower scores", metavar="SCORE")] = None
    mode: Annotated[
        str,
        Param(
            "which legs to run",
            choices=MODES,
            aliases={"--fts-only": "keyword", "--vec-only": "semantic"},
        ),
    ] = "hybrid"
    unit: Annotated[
        str | None, Param("a hit is a chunk, or a document", choices=("chunk", "document"))
    ] = None
    include: Annotated[tuple[str, ...], INCLUDE] = ()


def search(base: "Base", request: Search) -> Answer:
    return base.search(
        SearchRequest(
            query=request.query,
            tags=request.tags,
            tags_match=request.tags_match,
            types=request.type,
            include=request.include,
            top=request.top,
            threshold=request.threshold,
            mode=request.mode,
            unit=request.unit,
        )
    )


OPERATIONS = {
    "search": Operation(
        "search",
        "Find documents by words and by meaning",
        Search,
        search,
        examples=(
            'kb search "how do I set up version control"',
            "kb search deploy --tags ops,production --type code --top 5",
            "kb search getUserName --fts-only --json",
        ),
    )
}
