"""Operations on saved searches: add, list, run, rm."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.operations.declare import Field, Group, NoParameters, Operation, Param, fields
from knowbase.operations.search import MODE, PROFILE, THRESHOLD, TOP, UNIT, Search, asked
from knowbase.search.saved import Saved

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.search.answer import Answer
    from knowbase.search.saved import SavedList

_NAME = Annotated[str, Param("its name", positional=True, single=True)]


def _options() -> tuple[Field, ...]:
    """All that a search takes, but for what is not saved or said in other words."""
    return tuple(one for one in fields(Search) if one.name not in ("query", "explain_query"))


class SaveRequest(NamedTuple):
    name: Annotated[str, Param("its name", positional=True)]
    query: Annotated[
        str, Param("the query; a {place} is filled in when it is run", positional=True)
    ] = ""
    replace: Annotated[bool, Param("take the place of the one with this name")] = False
    search: Annotated[Search, Group(_options)] = Search()


def add(base: "Base", request: SaveRequest) -> "Saved":
    search = request.search._replace(query=request.query)
    return base.saved.add(request.name, asked(search), replace=request.replace)


def show_all(base: "Base", _: NoParameters) -> "SavedList":
    return base.saved.all()


class RunRequest(NamedTuple):
    name: _NAME
    set: Annotated[
        tuple[str, ...],
        Param(
            "fill in a place: name=value; once for each", metavar="NAME=VALUE", keeps_commas=True
        ),
    ] = ()
    top: Annotated[int | None, TOP] = None
    threshold: Annotated[float | None, THRESHOLD] = None
    mode: Annotated[str | None, MODE] = None
    unit: Annotated[str | None, UNIT] = None
    profile: Annotated[str | None, PROFILE] = None
    explain: Annotated[bool, Param("show how each score came about")] = False


def run(base: "Base", request: RunRequest) -> "Answer":
    names = ("top", "threshold", "mode", "unit", "profile")
    changes = {name: getattr(request, name) for name in names}
    changes["explain"] = request.explain or None
    said = {name: value for name, value in changes.items() if value is not None}
    return base.saved.run(request.name, _values(request.set), **said)


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


class DeletedSearch(Saved):
    """A saved search as it was."""

    __slots__ = ()


def remove(base: "Base", request: RemoveRequest) -> DeletedSearch:
    return DeletedSearch._make(base.saved.remove(request.name))


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
