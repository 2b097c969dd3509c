"""What a search takes by keywords: the fields of SearchRequest, its filters by their own names.

A test compares this with SearchRequest, so that tools can complete what there is.
"""

from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from knowbase.query.conditions import Condition

if TYPE_CHECKING:
    from datetime import date

Texts: TypeAlias = list[str] | tuple[str, ...] | set[str] | frozenset[str]
"""Not any sequence: a text would be one, too."""


class SearchKeywords(TypedDict, total=False):
    """base.search("words", tags=["ops"], path="docs/")."""

    query: str
    syntax: str
    tags: Texts
    tags_match: str | None
    type: Texts
    where: Texts
    top: int | None
    offset: int
    cursor: str | None
    facets: Texts
    threshold: float | None
    mode: str
    unit: str | None
    include: Texts
    as_of: str | None
    min_salience: float | None
    session: str | None
    session_filter: str | None
    session_record: str | None
    profile: str | None
    rerank: str | None
    diverse: bool
    explain: bool
    draft: bool
    strict: bool
    partial: bool

    # filters
    path: str | PathLike[str] | None
    created: "str | date | None"
    updated: "str | date | None"
    after: "str | date | None"
    before: "str | date | None"
    under: str | None
    children: str | None
    project: str | None
    role: str | None
    confidence: str | float | None
    scope: str | None
    sector: str | None
    tier: str | None
    salience: str | float | None

    # of Python alone
    filters: Mapping[str, str]
    only: Condition
