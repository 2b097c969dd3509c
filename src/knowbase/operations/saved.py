"""Operations on saved searches: add, list, run, rm."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.operations.declare import NoParameters, Operation, Terminal
from knowbase.operations.search import FORMATS
from knowbase.search.request import PAGE, SearchRequest
from knowbase.values.parameters import Group, Param, parameters

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.search.answer import Answer
    from knowbase.search.saved import DeletedSearch, Saved, SavedList

_NAME = Annotated[str, Param("its name", positional=True, single=True)]


_SAVED = Group(
    SearchRequest,
    without=("offset", "cursor", "draft"),
    texts={"query": "the query; a {place} is filled in when it is run"},
)


class SaveRequest(NamedTuple):
    name: Annotated[str, Param("its name", positional=True, grammar="name")]
    search: Annotated[SearchRequest, _SAVED]
    replace: Annotated[bool, Param("take the place of the one with this name")] = False


def add(base: "Base", request: SaveRequest) -> "Saved":
    return base.saved.add(request.name, request.search, replace=request.replace)


def show_all(base: "Base", _: NoParameters) -> "SavedList":
    return base.saved.all()


def _changeable() -> Mapping[str, Param]:
    """What can be said anew when a saved search is run."""
    names = ("top", "threshold", "mode", "unit", "profile", "explain", *PAGE)
    known = {field.name: field for field in parameters(SearchRequest)}
    return {name: known[name].param._replace(type=known[name].kind) for name in names}


class RunRequest(NamedTuple):
    name: _NAME
    set: Annotated[
        tuple[str, ...],
        Param(
            "fill in a place: name=value; once for each",
            metavar="NAME=VALUE",
            keeps_commas=True,
            grammar="assignment",
        ),
    ] = ()
    search: Annotated[Mapping[str, Any], Group(_changeable)] = {}


def run(base: "Base", request: RunRequest) -> "Answer":
    return base.saved.run(request.name, _values(request.set), **request.search)


def _values(given: tuple[str, ...]) -> dict[str, str]:
    values: dict[str, str] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.strip():
            raise InvalidInput(f"set cannot be {one!r}", field="set", hint="NAME=VALUE")
        values[name.strip()] = value
    return values


class RemoveRequest(NamedTuple):
    name: _NAME


def remove(base: "Base", request: RemoveRequest) -> "DeletedSearch":
    return base.saved.remove(request.name)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "saved add",
            "Save a search under a name, with places to be filled in",
            SaveRequest,
            add,
            writes=True,
            whole=True,
            examples=(
                "kb saved add on-call 'incident tag:{team} updated:>7d' --top 5",
                "kb saved add decisions --type decision --project '{project}'",
            ),
        ),
        Operation(
            "saved list",
            "List the saved searches",
            NoParameters,
            show_all,
            whole=True,
            examples=("kb saved list",),
        ),
        Operation(
            "saved run",
            "Run a saved search",
            RunRequest,
            run,
            whole=True,
            terminal=Terminal(formats=FORMATS),
            examples=(
                "kb saved run on-call --set team=web",
                "kb saved run decisions --set 'project=web shop' --top 20",
            ),
        ),
        Operation(
            "saved rm",
            "Delete a saved search",
            RemoveRequest,
            remove,
            writes=True,
            whole=True,
            examples=("kb saved rm on-call",),
        ),
    )
}
