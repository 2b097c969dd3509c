"""What is asked of a search."""

from typing import NamedTuple

from knowbase.query.conditions import EVERYTHING, Condition

MODES = ("hybrid", "keyword", "semantic")


class SearchRequest(NamedTuple):
    """What is asked. None means what the profile says."""

    query: str
    tags: tuple[str, ...] = ()
    tags_match: str | None = None
    types: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()  # operators of the query language: ("under", "X-1")
    top: int | None = None
    threshold: float | None = None
    mode: str = "hybrid"
    unit: str | None = None
    profile: str | None = None
    explain: bool = False
    strict: bool = False  # a problem of the query is an error
    session_record: str | None = None  # the session in which the hits are recalled
    only: Condition = EVERYTHING  # for what no operator says
