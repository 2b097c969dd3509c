"""What is asked of a search: the one request that every surface builds."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from knowbase.query.conditions import EVERYTHING, HIDDEN_STATES, Condition
from knowbase.values.documents import FIELDS
from knowbase.values.parameters import Group, Param

MODES = ("hybrid", "keyword", "semantic")
PAGE = ("offset", "cursor", "facets", "draft")
"""The parameters that say which part of an answer is shown, and what is counted beside it
or of it."""
FACETS = ("type", "tag", "project", "folder", "ending", "age", "week")
SYNTAXES = ("query", "plain")
TAGS = Param("only documents with all of these tags", metavar="TAG,TAG")
TYPE = Param(
    "only documents of this type: markdown, pdf, code, note …", metavar="TYPE", grammar="types"
)
_GRAMMARS = {
    "time": "moment", "since": "moment", "until": "moment", "share": "share", "listed": "listed",
    "path": "path", "folder": "path",
}  # fmt: skip
WHERE = Param(
    "only if the front matter says so: status=active, 'due<2026-01', priority>=3; repeatable",
    metavar="KEY=VALUE",
    keeps_commas=True,
    grammar="where",
)
AS_OF = Param(
    "of the base as it was: 2026-03-01, 'last friday', a session, #12",
    metavar="WHEN",
    grammar="as_of",
)
INCLUDE = Param("also show what is hidden by default", choices=HIDDEN_STATES, metavar="STATE")


def filter_parameters() -> Mapping[str, Param]:
    """A parameter for each filter of the field table."""
    return {
        one.operator: Param(one.flag, metavar=one.metavar, grammar=_GRAMMARS.get(one.rule, ""))
        for field in FIELDS.values()
        for one in field.filters
        if one.flag
    }


class SearchRequest(NamedTuple):
    """What is asked. None means what the profile says."""

    query: Annotated[
        str, Param("words, a question, operators: see docs/query.md", positional=True)
    ] = ""
    syntax: Annotated[
        str,
        Param(
            "whether the query has operators, or every word of it is a word",
            choices=SYNTAXES,
            aliases={"--literal": "plain"},
        ),
    ] = "query"
    tags: Annotated[tuple[str, ...], TAGS] = ()
    tags_match: Annotated[
        str | None, Param("all tags, or any of them", choices=("all", "any"), metavar="RULE")
    ] = None
    type: Annotated[tuple[str, ...], TYPE] = ()
    top: Annotated[
        int | None,
        Param("how many hits; else what the profile says", least=1, metavar="N", short="n"),
    ] = None
    offset: Annotated[
        int,
        Param("how many hits to leave out first", least=0, most=100_000, metavar="N"),
    ] = 0
    cursor: Annotated[
        str | None,
        Param("next_cursor of the page before; of this search alone", grammar="cursor"),
    ] = None
    facets: Annotated[
        tuple[str, ...],
        Param("also count what matches by these", choices=FACETS, metavar="FACET,FACET"),
    ] = ()
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
    as_of: Annotated[str | None, AS_OF] = None
    filters: Annotated[
        Mapping[str, str], Group(filter_parameters)
    ] = {}  # by operator: {"under": "X-1"}
    where: Annotated[tuple[str, ...], WHERE] = ()
    min_salience: Annotated[float | None, Param("at least this", least=0, most=1)] = None
    session: Annotated[
        str | None,
        Param(
            "only of this session; what is found is recalled in it", metavar="ID", grammar="session"
        ),
    ] = None
    session_filter: Annotated[
        str | None,
        Param("only what was made or used in this session", metavar="ID", grammar="session"),
    ] = None
    session_record: Annotated[
        str | None,
        Param("record what is found as recalled in this session", metavar="ID", grammar="session"),
    ] = None
    profile: Annotated[
        str | None,
        Param("the ranking recipe; see kb profiles", metavar="NAME", grammar="profiles"),
    ] = None
    rerank: Annotated[
        str | None,
        Param(
            "whether rerank.model looks at the first hits a second time; else as the profile says",
            choices=("on", "off"),
        ),
    ] = None
    diverse: Annotated[bool, Param("hits that say something else come earlier")] = False
    explain: Annotated[bool, Param("show how each score came about")] = False
    draft: Annotated[
        bool,
        Param(
            "one is still typing: it is not counted, nothing is recorded as used, and the last "
            "word is not mended unless a blank ends it"
        ),
    ] = False
    strict: Annotated[
        bool, Param("a mistake in the query is an error, and no hit lacks what it requires")
    ] = False
    partial: Annotated[
        bool, Param("where a worker of a cluster is away, answer without what it holds")
    ] = False
    only: Condition = EVERYTHING  # for what no parameter says

    @property
    def recalled_in(self) -> str | None:
        """The session in which the hits are recalled."""
        return self.session if self.session is not None else self.session_record

    def operators(self) -> "list[tuple[str, str]]":
        """Every filter as an operator of the query language; one said twice binds twice."""
        given = [*self.filters.items()]
        given += [
            ("session", one) for one in (self.session_filter, self.session) if one is not None
        ]
        if self.min_salience is not None:
            given.append(("salience", f">={self.min_salience}"))
        return given
