"""Operations about ranking: profiles, why-not."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.operations.declare import Operation, Param
from knowbase.operations.search import (
    INCLUDE,
    MODE,
    PROFILE,
    TAGS,
    TAGS_MATCH,
    THRESHOLD,
    TOP,
    TYPE,
    UNIT,
)
from knowbase.ranking.about import FIELDS
from knowbase.search.request import SearchRequest

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.ranking.custom import Custom
    from knowbase.search.plan import QueryPlan
    from knowbase.search.whynot import WhyNot


class ProfilesRequest(NamedTuple):
    name: Annotated[str, Param("every constant of this one; else all", positional=True)] = ""


class ProfileField(NamedTuple):
    field: str
    value: Any
    origin: str  # shipped, kb.toml, or the variable
    about: str


class ProfileLine(NamedTuple):
    name: str
    about: str
    default: bool
    fields: tuple[ProfileField, ...] = ()


class Profiles(NamedTuple):
    profiles: tuple[ProfileLine, ...]


def profiles(base: "Base", request: ProfilesRequest) -> Profiles:
    name = request.name.strip()
    default = base.settings.search_profile
    if name:
        base.profile(name)  # refuses an unknown one, naming those that there are
        custom = base.profiles()[name]
        about = custom.profile.about
        return Profiles((ProfileLine(name, about, name == default, _fields(custom)),))
    return Profiles(
        tuple(
            ProfileLine(name, custom.profile.about, name == default)
            for name, custom in base.profiles().items()
        )
    )


def _fields(custom: "Custom") -> tuple[ProfileField, ...]:
    return tuple(
        ProfileField(field, getattr(custom.profile, field), custom.origins[field], about)
        for field, about in FIELDS.items()
    )


class WhyNotRequest(NamedTuple):
    reference: Annotated[str, Param("the document that was expected", positional=True)]
    query: Annotated[str, Param("what was looked for", positional=True)]
    tags: Annotated[tuple[str, ...], TAGS] = ()
    tags_match: Annotated[str | None, TAGS_MATCH] = None
    type: Annotated[tuple[str, ...], TYPE] = ()
    unit: Annotated[str | None, UNIT] = None
    top: Annotated[int | None, TOP] = None
    threshold: Annotated[float | None, THRESHOLD] = None
    mode: Annotated[str, MODE] = "hybrid"
    include: Annotated[tuple[str, ...], INCLUDE] = ()
    profile: Annotated[str | None, PROFILE] = None


def why_not(base: "Base", request: WhyNotRequest) -> "WhyNot":
    search = SearchRequest(
        query=request.query,
        tags=request.tags,
        tags_match=request.tags_match,
        unit=request.unit,
        types=request.type,
        include=request.include,
        top=request.top,
        threshold=request.threshold,
        mode=request.mode,
        profile=request.profile,
    )
    return base.why_not(request.reference, search)


class QueryRequest(NamedTuple):
    query: Annotated[str, Param("a query", positional=True)]
    profile: Annotated[str | None, PROFILE] = None


def show_query(base: "Base", request: QueryRequest) -> "QueryPlan":
    return base.plan(SearchRequest(request.query, profile=request.profile))


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "profiles",
            "List the ranking recipes, or show every constant of one",
            ProfilesRequest,
            profiles,
            examples=("kb profiles", "kb profiles show memory"),
        ),
        Operation(
            "profiles show",
            "Show every constant of a ranking recipe, and where it comes from",
            ProfilesRequest,
            profiles,
            examples=("kb profiles show memory",),
        ),
        Operation(
            "query",
            "Show what a query means: its tree, the filter, what would run",
            QueryRequest,
            show_query,
            examples=("kb query 'database tag:backend NOT deprecated under:PROJ-I-0001'",),
        ),
        Operation(
            "why-not",
            "Say which stage of a search drops a document, and by how much",
            WhyNotRequest,
            why_not,
            examples=('kb why-not KB-12 "vercel route order"',),
        ),
    )
}
