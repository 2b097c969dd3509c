"""The search operation: alone in its file, so that the commonest command starts fast."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation, Param
from knowbase.query.conditions import HIDDEN_STATES
from knowbase.search import MODES, Answer, SearchRequest

if TYPE_CHECKING:
    from knowbase.base import Base

TAGS = Param("only documents with all of these tags", metavar="TAG,TAG")
TYPE = Param("only documents of this type: markdown, pdf, code, note …", metavar="TYPE")
INCLUDE = Param("also show what is hidden by default", choices=HIDDEN_STATES, metavar="STATE")
PROFILE = Param("the ranking recipe; see kb profiles", metavar="NAME")
TOP = Param("how many hits; else what the profile says", least=1, metavar="N", short="n")
THRESHOLD = Param("leave out lower scores", metavar="SCORE")
MODE = Param(
    "which legs to run",
    choices=MODES,
    aliases={"--fts-only": "keyword", "--vec-only": "semantic"},
)


class Search(NamedTuple):
    query: Annotated[str, Param("what to look for: words or a question", positional=True)]
    tags: Annotated[tuple[str, ...], TAGS] = ()
    tags_match: Annotated[
        str | None, Param("all tags, or any of them", choices=("all", "any"), metavar="RULE")
    ] = None
    type: Annotated[tuple[str, ...], TYPE] = ()
    top: Annotated[int | None, TOP] = None
    threshold: Annotated[float | None, THRESHOLD] = None
    mode: Annotated[str, MODE] = "hybrid"
    unit: Annotated[
        str | None, Param("a hit is a chunk, or a document", choices=("chunk", "document"))
    ] = None
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    profile: Annotated[str | None, PROFILE] = None
    explain: Annotated[bool, Param("show how each score came about")] = False


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
            profile=request.profile,
            explain=request.explain,
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
            'kb search "vercel route order" --profile entries --explain',
        ),
    )
}
