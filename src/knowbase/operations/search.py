"""The search operation: alone in its file, so that the commonest command starts fast."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.operations.declare import Operation, Param
from knowbase.query.conditions import HIDDEN_STATES
from knowbase.search.request import MODES, SearchRequest

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.search.answer import Answer
    from knowbase.search.plan import QueryPlan

TAGS = Param("only documents with all of these tags", metavar="TAG,TAG")
TYPE = Param("only documents of this type: markdown, pdf, code, note …", metavar="TYPE")
INCLUDE = Param("also show what is hidden by default", choices=HIDDEN_STATES, metavar="STATE")
PROFILE = Param("the ranking recipe; see kb profiles", metavar="NAME")
TAGS_MATCH = Param("all tags, or any of them", choices=("all", "any"), metavar="RULE")
UNIT = Param("a hit is a chunk, or a document", choices=("chunk", "document"))
TOP = Param("how many hits; else what the profile says", least=1, metavar="N", short="n")
THRESHOLD = Param("leave out lower scores", metavar="SCORE")
MODE = Param(
    "which legs to run",
    choices=MODES,
    aliases={"--fts-only": "keyword", "--vec-only": "semantic"},
)


class Search(NamedTuple):
    query: Annotated[
        str, Param("words, a question, operators: see docs/query.md", positional=True)
    ] = ""
    tags: Annotated[tuple[str, ...], TAGS] = ()
    tags_match: Annotated[str | None, TAGS_MATCH] = None
    type: Annotated[tuple[str, ...], TYPE] = ()
    top: Annotated[int | None, TOP] = None
    threshold: Annotated[float | None, THRESHOLD] = None
    mode: Annotated[str, MODE] = "hybrid"
    unit: Annotated[str | None, UNIT] = None
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    project: Annotated[str | None, Param("only of this project")] = None
    role: Annotated[str | None, Param("only for this role, or for all")] = None
    sector: Annotated[str | None, Param("only of this sector")] = None
    scope: Annotated[str | None, Param("global or project")] = None
    tier: Annotated[str | None, Param("only of this tier")] = None
    under: Annotated[str | None, Param("only what lies below this document", metavar="CODE")] = None
    children: Annotated[str | None, Param("only its direct children", metavar="CODE")] = None
    after: Annotated[str | None, Param("changed on or after: 2026-01-31, 7d …", metavar="DATE")] = (
        None
    )
    before: Annotated[str | None, Param("changed before", metavar="DATE")] = None
    created: Annotated[str | None, Param("when it was put in: '>2026-01'", metavar="DATE")] = None
    updated: Annotated[str | None, Param("when it was changed: '>7d'", metavar="DATE")] = None
    confidence: Annotated[str | None, Param("such as '>=0.8'", metavar="SHARE")] = None
    salience: Annotated[str | None, Param("such as '>0.5'", metavar="SHARE")] = None
    min_salience: Annotated[float | None, Param("at least this", least=0, most=1)] = None
    session: Annotated[
        str | None, Param("only of this session; what is found is recalled in it", metavar="ID")
    ] = None
    session_filter: Annotated[
        str | None, Param("only what was made or used in this session", metavar="ID")
    ] = None
    session_record: Annotated[
        str | None, Param("record what is found as recalled in this session", metavar="ID")
    ] = None
    profile: Annotated[str | None, PROFILE] = None
    explain: Annotated[bool, Param("show how each score came about")] = False
    strict: Annotated[bool, Param("a mistake in the query is an error")] = False
    explain_query: Annotated[bool, Param("show what the query means, and do not run it")] = False


FILTERS = (
    "project", "role", "sector", "scope", "tier", "under", "children", "after", "before",
    "created", "updated", "confidence", "salience",
)  # fmt: skip


def search(base: "Base", request: Search) -> "Answer | QueryPlan":
    wanted = asked(request)
    return base.plan(wanted) if request.explain_query else base.search(wanted)


def asked(request: Search) -> SearchRequest:
    """What the flags mean."""
    given = [(name, getattr(request, name)) for name in FILTERS]
    given += [("session", request.session_filter), ("session", request.session)]
    if request.min_salience is not None:
        given.append(("salience", f">={request.min_salience}"))
    return SearchRequest(
        query=request.query,
        tags=request.tags,
        tags_match=request.tags_match,
        types=request.type,
        include=request.include,
        filters=tuple((name, value) for name, value in given if value is not None),
        top=request.top,
        threshold=request.threshold,
        mode=request.mode,
        unit=request.unit,
        profile=request.profile,
        explain=request.explain,
        strict=request.strict,
        session_record=request.session if request.session is not None else request.session_record,
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
            "kb search 'authentication NOT tag:completed under:PROJ-I-0018'",
        ),
    )
}
