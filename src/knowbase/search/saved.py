"""Saved searches: a search under a name, with places that are filled in when it is run."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from knowbase.errors import Conflict, InvalidInput, NotFound
from knowbase.query.conditions import EVERYTHING
from knowbase.query.placeholders import filled, filled_query, has_open_quote, placeholders
from knowbase.search.answer import Answer
from knowbase.search.request import SearchRequest
from knowbase.store.contract import SavedSearchStore
from knowbase.values.arguments import checks_arguments, wrong
from knowbase.values.changes import SavedSearch
from knowbase.values.characters import clean
from knowbase.values.synonyms import SYNONYMS

LONGEST_NAME = 64
_NAME = re.compile(r"[^\W_][\w.-]*")
_DEFAULTS = SearchRequest("")
_OPTIONS = tuple(name for name in SearchRequest._fields if name not in ("query", "only"))


class Saved(NamedTuple):
    """A saved search: what it asks, and what has to be said to run it."""

    name: str
    query: str
    options: Mapping[str, Any]  # what differs from a plain search, by the names of SearchRequest
    parameters: tuple[str, ...]
    created_at: str
    updated_at: str


class DeletedSearch(Saved):
    """A saved search as it was."""

    __slots__ = ()


class SavedList(NamedTuple):
    """Every saved search, by name."""

    saved: tuple[Saved, ...]


@checks_arguments
class SavedSearches:
    """The saved searches of one base."""

    def __init__(
        self,
        store: SavedSearchStore,
        search: Callable[..., Answer],  # takes a request, and keywords beside it
        check: Callable[[SearchRequest], object],
        now: Callable[[], str],
    ) -> None:
        self._store = store
        self._search = search
        self._check = check  # refuses what this base does not know
        self._now = now

    def add(self, name: str, request: SearchRequest | str, *, replace: bool = False) -> Saved:
        """Save a search; a name that is taken is refused unless it is to be replaced."""
        asked = SearchRequest(request) if isinstance(request, str) else request
        self._check(_without_places(asked) if isinstance(asked, SearchRequest) else asked)
        if asked.only != EVERYTHING:
            raise InvalidInput(
                "a condition that no operator says cannot be saved", field="only", hint="use query"
            )
        if placeholders((asked.query,)) and has_open_quote(asked.query):
            raise InvalidInput(
                "a quote of this query is never closed",
                field="query",
                hint='close it, or leave it out: "{place}" is a phrase, {place} is words',
            )
        now, query = self._now(), clean(asked.query)
        search = SavedSearch(_checked(name), query, _options(asked), now, now)
        if not self._store.save_search(search, replace=replace):
            raise Conflict(
                f"there is a saved search {name!r}",
                field="name",
                hint="--replace (replace=True) puts this one in its place",
            )
        return self.get(name)

    def all(self) -> SavedList:
        return SavedList(tuple(map(_saved, self._searches())))

    def _searches(self) -> list[SavedSearch]:
        found = self._store.saved_searches()
        return [one for one in found if not one.name.startswith(SYNONYMS)]

    def get(self, name: str) -> Saved:
        """The one of that name; an unknown name is answered with those that there are."""
        known = {one.name: one for one in self._searches()}
        if name not in known:
            raise _unknown(name, known)
        return _saved(known[name])

    def run(self, /, name: str, values: Mapping[str, str] | None = None, **changes: Any) -> Answer:
        """Run it with its places filled in; `changes` stand in for fields of its request."""
        saved = self.get(name)
        if not all(isinstance(one, str) for pair in _pairs(values) for one in pair):
            raise wrong("values", values, 'such as {"place": "Lyon"}')
        given = {key: clean(value) for key, value in (values or {}).items() if value.strip()}
        unknown = [one for one in values or {} if one not in saved.parameters]
        if unknown:
            named = ", ".join(saved.parameters) or "it has none"
            raise Conflict(f"{name} has no parameter {', '.join(unknown)}", field="set", hint=named)
        missing = [one for one in saved.parameters if one not in given]
        if missing:
            raise Conflict(
                f"{name} needs a value for {', '.join(missing)}",
                field="set",
                hint=", ".join(f"set {one}=…" for one in missing),
            )
        return self._search(_request(saved, given), **changes)

    def remove(self, name: str) -> DeletedSearch:
        saved = self.get(name)
        self._store.drop_search(name)
        return DeletedSearch._make(saved)


def _pairs(values: Any) -> Iterable[tuple[Any, Any]]:
    if values is not None and not isinstance(values, Mapping):
        raise wrong("values", values, 'such as {"place": "Lyon"}')
    return (values or {}).items()


def _checked(name: str) -> str:
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        raise InvalidInput(
            f"a saved search cannot be called {name[:40]!r}",
            field="name",
            hint=f"letters, digits, '-', '_' and '.', at most {LONGEST_NAME}",
        )
    return name


def _unknown(name: str, known: Iterable[str]) -> NotFound:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=3) or list(known)[:10]
    hint = "there is " + ", ".join(near) if near else "none has been saved yet"
    return NotFound(f"there is no saved search {name[:40]!r}", field="name", hint=hint)


def _without_places(request: SearchRequest) -> SearchRequest:
    """What can be checked before the places are filled in."""
    return request._replace(
        query="",
        type=tuple(one for one in request.type if not placeholders((one,))),
        tags=tuple(one for one in request.tags if not placeholders((one,))),
        filters={
            name: one for name, one in request.filters.items() if not placeholders((str(one),))
        },
        session=None,
        session_filter=None,
        session_record=None,
    )


def _options(request: SearchRequest) -> dict[str, Any]:
    """What differs from a plain search."""
    given = ((name, getattr(request, name)) for name in _OPTIONS)
    return {name: value for name, value in given if value != getattr(_DEFAULTS, name)}


def _saved(search: SavedSearch) -> Saved:
    options = _current(search.options)
    texts = (search.query, *_texts(options.values()))
    return Saved(
        search.name, search.query, options, placeholders(texts), search.created_at,
        search.updated_at,
    )  # fmt: skip


def _current(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options by today's names; lists, which JSON has made of tuples, as tuples. Searches that
    were saved by 0.1 have `types`, and filters in pairs."""
    given = {"type" if name == "types" else name: value for name, value in options.items()}
    pairs = given.get("filters")
    if isinstance(pairs, list | tuple):
        given["filters"] = dict(pairs)
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }


def _texts(values: Iterable[Any]) -> Iterable[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _texts(value.values())
        elif isinstance(value, tuple):
            yield from _texts(value)


def _request(saved: Saved, values: Mapping[str, str]) -> SearchRequest:
    """What is asked once the places are filled in; an option's value stays one value."""

    def fill(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(fill, value))
        if isinstance(value, Mapping):
            return {name: fill(one) for name, one in value.items()}
        return filled(value, values) if isinstance(value, str) else value

    options = {name: fill(value) for name, value in saved.options.items() if name in _OPTIONS}
    return SearchRequest(filled_query(saved.query, values), **options)
