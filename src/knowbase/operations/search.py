"""The search operation: alone in its file, so that the commonest command starts fast."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation, Terminal
from knowbase.search.request import SearchRequest
from knowbase.values.parameters import Group, Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.search.answer import Answer
    from knowbase.search.plan import QueryPlan


FORMATS = ("grep", "vimgrep", "paths", "paths0", "md", "csv")
"""How hits are printed for other programs."""


class Search(NamedTuple):
    request: Annotated[SearchRequest, Group(SearchRequest)]
    explain_query: Annotated[bool, Param("show what the query means, and do not run it")] = False


def search(base: "Base", request: Search) -> "Answer | QueryPlan":
    asked = request.request
    if request.explain_query:
        return base.plan(asked)
    return base.search(asked)


OPERATIONS = {
    "search": Operation(
        "search",
        "Find documents by words and by meaning",
        Search,
        search,
        terminal=Terminal(formats=FORMATS),
        examples=(
            'kb search "how do I set up version control"',
            "kb search deploy --tags ops,production --type code --top 5",
            "kb search getUserName --fts-only --json",
            "kb search deploy --format vimgrep > hits.txt && vim -q hits.txt",
            'kb search "vercel route order" --profile entries --explain',
            "kb search 'authentication NOT tag:completed under:PROJ-I-0018'",
        ),
    )
}
