"""Operations about ranking: profiles, why-not."""

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.operations.declare import Operation
from knowbase.ranking.about import PROFILE_FIELDS
from knowbase.search.request import PAGE, SearchRequest
from knowbase.values.parameters import Group, Param

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.base import Base
    from knowbase.ingest.embedding import Step
    from knowbase.ranking.custom import Custom
    from knowbase.search.calibrate import Calibrated
    from knowbase.search.plan import QueryPlan
    from knowbase.search.whynot import WhyNot


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


class ProfilesRequest(NamedTuple):
    name: Annotated[
        str,
        Param("every constant of this one", positional=True, single=True, grammar="profiles"),
    ] = ""


def profiles(base: "Base", request: ProfilesRequest) -> Profiles:
    default, known = base.settings.search_profile, base.profiles()
    if not request.name:
        lines = [
            ProfileLine(name, custom.profile.about, name == default)
            for name, custom in known.items()
        ]
        return Profiles(tuple(lines))
    base.profile(request.name)  # refuses an unknown one, naming those that there are
    custom = known[request.name]
    is_default = request.name == default
    line = ProfileLine(request.name, custom.profile.about, is_default, _fields(custom))
    return Profiles((line,))


def _fields(custom: "Custom") -> tuple[ProfileField, ...]:
    return tuple(
        ProfileField(field, getattr(custom.profile, field), custom.origins[field], about)
        for field, about in PROFILE_FIELDS.items()
    )


_ASKED = Group(SearchRequest, without=("session", "session_record", "explain", *PAGE))
"""What is asked of a search, but for what is recorded or shown of its answer."""


class WhyNotRequest(NamedTuple):
    reference: Annotated[str, Param("the document that was expected", positional=True)]
    search: Annotated[SearchRequest, _ASKED]


def why_not(base: "Base", request: WhyNotRequest) -> "WhyNot":
    return base.why_not(request.reference, request.search)


class QueryRequest(NamedTuple):
    search: Annotated[SearchRequest, _ASKED]


def show_query(base: "Base", request: QueryRequest) -> "QueryPlan":
    return base.plan(request.search)


class CalibrateRequest(NamedTuple):
    show: Annotated[bool, Param("only show what was learnt last")] = False


def calibrate(
    base: "Base", request: CalibrateRequest, progress: "Callable[[Step], None]" = lambda _: None
) -> "Calibrated":
    return base.calibrate(show=request.show, progress=progress)


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
        Operation(
            "calibrate",
            "Learn from the base itself how its answers look, and those that are not there",
            CalibrateRequest,
            calibrate,
            writes=True,
            local=True,
            progress=True,
            examples=("kb calibrate", "kb calibrate --show"),
        ),
    )
}
