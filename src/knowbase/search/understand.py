"""What a request means: the query's words and conditions, the filters, the profile."""

from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import Conflict, InvalidInput
from knowbase.query.conditions import (
    EVERYTHING,
    Condition,
    OneOf,
    Tagged,
    Visible,
    both,
    is_everything,
)
from knowbase.query.query import Query, is_plain, plain_query, saying_something
from knowbase.ranking.profile import Profile
from knowbase.search.fitting import bound, fitting
from knowbase.search.request import SearchRequest
from knowbase.search.services import Language
from knowbase.values.kinds import clean_tags
from knowbase.values.parameters import checked

if TYPE_CHECKING:
    from knowbase.search.answer import Widening

LEGS_OF_MODE = {
    "hybrid": ("keyword", "semantic"),
    "keyword": ("keyword",),
    "semantic": ("semantic",),
}


class Inquiry(NamedTuple):
    """A request, understood."""

    request: SearchRequest
    query: Query
    profile: Profile  # as the query changes it
    filters: dict[str, Condition]  # of the request, by name
    now: str
    widening: "Widening | None" = None  # what is looked for beside the words, once that is known

    @property
    def legs(self) -> tuple[str, ...]:
        return LEGS_OF_MODE[self.request.mode]

    @property
    def top(self) -> int:
        return self.request.top or min(self.profile.default_top, self.profile.max_top)

    @property
    def visible(self) -> Visible:
        """What the lifecycle shows."""
        return Visible(self.now, frozenset(self.request.include) | self.query.include)

    @property
    def filter(self) -> Condition:
        """What the request asks for beside the query."""
        return both(*self.filters.values())


def understand(request: SearchRequest, profile: Profile, language: Language, now: str) -> Inquiry:
    """The meaning of a request; no query string can make it fail, unless it is to be strict."""
    request = check(request, profile)
    profile = profile._replace(unit=request.unit or profile.unit)
    query = understand_query(request, profile.match, language, now)
    if request.strict and query.problems:
        problem = query.problems[0]
        raise InvalidInput(
            f"{problem.message}, at {problem.at + 1}",
            field="query",
            hint=f"without strict, {problem.instead}",
        )
    filters = filters_of(request, profile, language, now)
    query = bound(query, bool(filters)) if profile.match == "boolean" else query
    return Inquiry(request, query, fitting(profile, query), filters, now)


def understand_query(request: SearchRequest, match: str, language: Language, now: str) -> Query:
    """What the text means; a plain one needs no parser, which takes milliseconds to load."""
    if match != "boolean" and (request.syntax == "plain" or is_plain(request.query)):
        return saying_something(plain_query(request.query, match))
    from knowbase.query.meaning import understand

    return saying_something(
        understand(request.query, match, language.context(now), literal=request.syntax == "plain")
    )


class Softer(NamedTuple):
    """The same inquiry without what it requires by quotes and pluses, and what that is."""

    inquiry: Inquiry
    required: dict[str, Condition]  # by how it was typed


def softened(inquiry: Inquiry, language: Language) -> Softer | None:
    """None when it requires nothing so."""
    from knowbase.query.meaning import contains, understand
    from knowbase.query.softening import as_typed, soften

    found = soften(inquiry.query.tree) if inquiry.query.tree is not None else None
    if found is None:
        return None
    context = language.context(inquiry.now)
    query = understand(inquiry.request.query, inquiry.profile.match, context, soft=True)
    query = query._replace(text=inquiry.query.text)  # what a model reads has no marks either way
    required = {as_typed(one): contains(one) for one in found.required}
    return Softer(inquiry._replace(query=query), required)


def filters_of(
    request: SearchRequest, profile: Profile, language: Language, now: str
) -> dict[str, Condition]:
    """Each filter of the request by its name; a value without meaning is an error."""
    filters: dict[str, Condition] = {}
    if request.tags:
        match = request.tags_match or profile.tags_match
        filters["tags"] = Tagged(clean_tags(request.tags), "any" if match == "any" else "all")
    if request.type:
        names = dict.fromkeys((*request.type, *(name.lower() for name in request.type)))
        filters["type"] = OneOf("type", tuple(names))
    if request.where:
        filters["where"] = both(*(_where(one, now) for one in request.where))
    given = request.operators()
    if given:
        from knowbase.query.operators import filter_of
    for name, value in given:  # the same one said twice binds twice
        condition = filter_of(name, value, language.context(now))
        filters[name] = both(filters.get(name, EVERYTHING), condition)
    if not is_everything(request.only):
        filters["only"] = request.only
    return filters


def _where(text: str, now: str) -> Condition:
    from knowbase.query.meta import where

    found = where(text, now)
    if found is None:
        hint = "such as status=active, priority>=3 or due<2026-01-31"
        raise InvalidInput(f"where cannot be {text!r}", field="where", hint=hint)
    return found


def check(request: SearchRequest, profile: Profile) -> SearchRequest:
    """The request once its values fit; what has no meaning is refused, naming the field."""
    request = checked(request)
    if request.top is not None and request.top > profile.max_top:
        hint = f"from 1 to {profile.max_top}"
        raise Conflict(f"top cannot be {request.top}", field="top", hint=hint)
    return request
