"""What is given to a base in Python: a wrong kind is an error that names it, wherever it would
have been noticed otherwise."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from knowbase.errors import InvalidInput
from knowbase.query.conditions import Condition
from knowbase.search.request import SearchRequest, filter_parameters
from knowbase.values.arguments import wrong
from knowbase.values.characters import storable
from knowbase.values.kinds import Kind, Unfit, fitted
from knowbase.values.parameters import checked, parameters, refuse_unknown

_BEYOND = ("filters", "only")  # fields of a request that no surface but Python has


def search_request(given: SearchRequest | str, keywords: Mapping[str, Any]) -> SearchRequest:
    """The request that words, or a request, and keywords beside them mean."""
    request = SearchRequest(given) if isinstance(given, str) else given
    if not isinstance(request, SearchRequest):
        raise InvalidInput(
            f"a search takes words or a SearchRequest, not a {type(given).__name__}", field="query"
        )
    if keywords:
        request = _with_keywords(request, keywords)
    if not isinstance(request.filters, Mapping):
        raise wrong("filters", request.filters, 'such as {"project": "web"}')
    if not isinstance(request.only, get_args(Condition)):
        raise wrong("only", request.only, "a condition of knowbase.query.conditions")
    return storable(checked(request))


def _with_keywords(request: SearchRequest, keywords: Mapping[str, Any]) -> SearchRequest:
    known = [one.name for one in parameters(SearchRequest)]
    refuse_unknown(keywords, (*known, *_BEYOND))
    if "query" in keywords and request.query:
        raise InvalidInput("the query is given twice", field="query", hint="as words, or as query=")
    named = filter_parameters()
    filters = keywords.get("filters", request.filters)
    if not isinstance(filters, Mapping):
        raise wrong("filters", filters, 'such as {"project": "web"}')
    own = {name: one for name, one in keywords.items() if name in named and one is not None}
    rest = {name: one for name, one in keywords.items() if name not in (*named, "filters")}
    asked = {name: _filter_text(one) for name, one in {**filters, **own}.items()}
    return request._replace(**rest, filters=asked)


def _filter_text(value: Any) -> Any:
    """As one would write it in a query: Python's paths, moments and numbers are as good."""
    if isinstance(value, os.PathLike):
        return path(value, "path").replace(os.sep, "/")
    if hasattr(value, "isoformat"):  # a date, or a time of one
        return value.isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value


def path(value: Any, field: str) -> str:
    """A path as text; a pathlib one is as good."""
    try:
        found = os.fspath(value)
    except TypeError:
        raise wrong(field, value, "it must be a path") from None
    text = found if isinstance(found, str) else os.fsdecode(found)
    if "\0" in text:
        raise InvalidInput(f"{field} cannot be {text!r}", field=field, hint="no path has a NUL")
    return text


def paths(value: Any, field: str) -> tuple[str, ...]:
    """Paths, or one."""
    if isinstance(value, str | bytes | os.PathLike) or not isinstance(value, Iterable):
        return (path(value, field),)
    return tuple(path(one, field) for one in value)


def number(value: Any, field: str, least: int) -> int:
    try:
        found: int = fitted(Kind(int, least), value)
    except Unfit as error:
        raise wrong(field, value, error.expected) from None
    return found
