"""What a search answers."""

from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.ranking.boosts import Factor
from knowbase.ranking.fusion import Contribution
from knowbase.ranking.verdict import Verdict
from knowbase.values.documents import Document
from knowbase.values.plain import as_dict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from knowbase.query.tree import Problem
    from knowbase.values.communities import Communities
    from knowbase.values.sessions import Session


class Explanation(NamedTuple):
    """How a score came about: the sum of the gains times the factors."""

    contributions: tuple[Contribution, ...]
    factors: tuple[Factor, ...]
    sum: float
    score: float
    clamped: bool
    beside: tuple[str, ...] = ()  # what it has that was looked for beside the query's words


class Successor(NamedTuple):
    """What holds today in place of a superseded document: the end of its chain."""

    id: str
    code: str
    content: str  # the start of its text
    created_at: str
    superseded_at: str | None = None  # since when


class Copy(NamedTuple):
    """Another document that has exactly the text of a hit."""

    code: str
    section: str  # CODE:slug
    path: str | None
    project: str | None
    line: int


class Hit(NamedTuple):
    """One line of the answer. Its document and its text are at hand, and no part of the JSON."""

    id: str
    code: str
    title: str
    type: str
    tags: tuple[str, ...]
    path: str | None
    section: str  # CODE:slug
    heading: str | None
    line: int
    page: int | None
    snippet: str  # plain text with <mark> around matched words
    score: float
    sources: tuple[str, ...]  # "fts", "vec", "graph"
    document: Document
    created_at: str = ""
    match_type: str = ""  # "keyword", "semantic", "both" or "graph"; "" when nothing was looked for
    is_superseded: bool = False
    superseded_by: Successor | None = None
    source_session: "Session | None" = None  # in which the document was made
    related_count: int = 0
    more: int = 0  # further matching chunks of this document, when the unit is documents
    explanation: Explanation | None = None
    is_relaxed: bool = False  # it has the words, and not what quotes or + in the query require
    text: str = ""  # of the chunk that was found, whole
    copies: tuple[Copy, ...] = ()  # other documents with exactly this text, the first of them
    snippet_lines: str = ""  # of code, also within a page: the snippet with its line breaks

    @staticmethod
    def unshown() -> tuple[str, ...]:
        """The fields that are no part of its JSON."""
        return ("document", "text")

    def to_dict(self) -> dict[str, Any]:
        """As `kb search --json` has it."""
        return as_dict(self)


class Suggestion(NamedTuple):
    """A word that the base does not have, and words of the base spelled like it."""

    word: str
    nearest: tuple[str, ...]


class Widening(NamedTuple):
    """What was looked for beside the words of a query, as whoever asked should know it."""

    notices: tuple[str, ...] = ()
    suggestions: tuple[Suggestion, ...] = ()


class FacetCount(NamedTuple):
    """How many of the documents that match have this value."""

    value: str
    documents: int


class Answer(NamedTuple):
    """What was found, how, and what should be known about it."""

    query: str
    profile: str
    hits: tuple[Hit, ...]
    returned: int
    total: int  # what the legs proposed and the threshold kept, before the cut to `top`
    search_modes_used: tuple[str, ...]
    fallback_mode: bool
    semantic_coverage: float  # how much of the base has a vector, from 0 to 1
    query_time_ms: float
    filters: dict[str, Any]
    notices: tuple[str, ...]
    timings: dict[str, float] = {}  # noqa: RUF012 - milliseconds of each part, never changed
    problems: "tuple[Problem, ...]" = ()
    suggestions: tuple[Suggestion, ...] = ()
    communities: "Communities | None" = None  # when the query asks for them
    offset: int = 0  # how many hits come before these
    next_cursor: str | None = None  # asks for the next page, if there may be one
    facets: "Mapping[str, tuple[FacetCount, ...]]" = {}  # noqa: RUF012 - as were asked for
    verdict: Verdict = Verdict()  # whether the answer is there
    partial: bool = False  # whether a server was away, and what it holds was left out

    def to_dict(self) -> dict[str, Any]:
        """As `kb search --json` has it."""
        return as_dict(self)
