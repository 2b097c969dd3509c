"""Profiles as users change and define them: kb.toml and the environment over what is shipped."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.ranking.kinds import KINDS
from knowbase.ranking.profile import PROFILES, SIGNALS, Profile
from knowbase.values.kinds import Kind, Unfit, fitted

CHOICES = {
    "keyword": ("bm25", "ts_rank_cd"),
    "match": ("any", "all", "any_prefix", "boolean"),
    "fusion": ("rrf", "linear", "minmax", "lift"),
    "unit": ("chunk", "document"),
    "copies": ("apart", "together"),
    "tags_match": ("all", "any"),
    "recency_clock": ("created_at", "updated_at"),
    "record_use": ("off", "returned", "confirmed"),
}
INDEXED_FIELDS = ("title", "heading", "text", "terms")
KEYS = {
    "field_weights": ("a field", INDEXED_FIELDS),
    "weights": ("a signal", SIGNALS),
    "kind_weights": ("a kind of file", KINDS),
}
LEAST = {
    "rrf_k": 1,
    "depth": 1,
    "depth_least": 0,
    "depth_fixed": 0,
    "min_similarity": -1,
    "fluent_at": 0,
    "foreign_at": 0,
    "keyword_full_at": 0.001,
    "recency_rate": 0,
    "superseded_factor": 0,
    "title_boost": 0,
    "leads_on": 0,
    "further_factor": 0,
    "default_top": 1,
    "max_top": 1,
}
VARIABLES = {
    "KB_RRF_SEMANTIC_WEIGHT": ("entries", "weights.semantic"),
    "KB_RRF_KEYWORD_WEIGHT": ("entries", "weights.keyword"),
    "KB_SEMANTIC_SIMILARITY_THRESHOLD": ("entries", "min_similarity"),
}
"""S4-20: the document's own variables, for its own profile."""
LIMITS = {"KB_SEARCH_DEFAULT_LIMIT": "default_top", "KB_SEARCH_MAX_LIMIT": "max_top"}
"""S4-20, C5: those that count for every profile, and so on every surface."""
PREFIXES = ("KB_RRF_", "KB_SEMANTIC_")


class Custom(NamedTuple):
    """A profile, and for each field where its value comes from."""

    profile: Profile
    origins: Mapping[str, str]


def profiles(tables: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, Custom]:
    """Every profile: the shipped ones, then those of kb.toml, then the environment's changes."""
    made = {
        name: Custom(profile, dict.fromkeys(Profile._fields, "shipped"))
        for name, profile in PROFILES.items()
    }
    with _said_by("kb.toml"):
        for name in _parents_first(tables):
            made[name] = _defined(name, tables[name], made)
    _refuse_unknown(environment)
    made = {name: _limited(custom, environment) for name, custom in made.items()}
    for variable, (name, field) in VARIABLES.items():
        if variable in environment:
            with _said_by(variable):
                made[name] = _changed(made[name], field, environment[variable], variable)
    return made


class Limits(NamedTuple):
    """How many hits there are when nothing is asked, and at most."""

    default: int
    most: int


def limits(name: str, environment: Mapping[str, str]) -> Limits:
    """The limits of a shipped profile, for a schema. A variable that cannot be is reported by the
    first base that is opened, not by an import."""
    custom = Custom(PROFILES[name], {})
    with suppress(InvalidInput):
        custom = _limited(custom, environment)
    profile = custom.profile
    return Limits(min(profile.default_top, profile.max_top), profile.max_top)


def _limited(custom: Custom, environment: Mapping[str, str]) -> Custom:
    for variable, field in LIMITS.items():
        if variable in environment:
            with _said_by(variable):
                custom = _changed(custom, field, environment[variable], variable)
    return custom


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    for variable in environment:
        if variable.startswith(PREFIXES) and variable not in VARIABLES:
            from difflib import get_close_matches

            near = get_close_matches(variable, VARIABLES, n=1, cutoff=0)
            hint = f"the nearest is {near[0]}"
            raise InvalidInput(f"unknown variable {variable}", field=variable, hint=hint)


def _parents_first(tables: Mapping[str, Any]) -> list[str]:
    """The names in an order in which each profile comes after the one that it extends."""
    if not isinstance(tables, Mapping):
        raise InvalidInput("profiles must be tables: [profiles.NAME]", field="profiles")
    ordered: list[str] = []
    waiting = list(tables)
    while waiting:
        ready = [
            n
            for n in waiting
            if _parent(tables[n]) in (n, None) or _parent(tables[n]) not in waiting
        ]
        ordered += ready or waiting
        waiting = [name for name in waiting if name not in ordered]
    return ordered


def _parent(table: Any) -> str | None:
    parent = table.get("extends") if isinstance(table, dict) else None
    return parent if isinstance(parent, str) else None


@contextmanager
def _said_by(origin: str) -> Iterator[None]:
    """A mistake is reported with where it stands."""
    try:
        yield
    except InvalidInput as error:
        message = f"{origin}: {error.message}"
        raise InvalidInput(message, field=error.field, hint=error.hint) from None


def _defined(name: str, table: Any, made: Mapping[str, Custom]) -> Custom:
    """The profile that a table of kb.toml describes."""
    if not isinstance(table, dict):
        raise InvalidInput(f"profiles.{name} must be a table", field=f"profiles.{name}")
    parent = table.get("extends", name if name in made else "kb")
    if not isinstance(parent, str) or parent not in made:
        raise InvalidInput(
            f"profiles.{name} extends the unknown profile {parent!r}",
            field=f"profiles.{name}.extends",
            hint="one of " + ", ".join(made),
        )
    custom = made[parent]
    custom = Custom(custom.profile._replace(name=name), custom.origins)
    for field, value in table.items():
        if field != "extends":
            custom = _changed(custom, field, value, "kb.toml")
    return custom


def _changed(custom: Custom, field: str, value: Any, origin: str) -> Custom:
    name, _, key = field.partition(".")
    profile = custom.profile
    place = f"profiles.{profile.name}.{name}"
    if name not in Profile._fields or name == "name":
        raise _unknown(place, name)
    current = getattr(profile, name)
    checked = _merged(current, {key: value} if key else value, name, place)
    return Custom(profile._replace(**{name: checked}), {**custom.origins, name: origin})


def _merged(current: Any, value: Any, name: str, place: str) -> Any:
    if not isinstance(current, Mapping):
        return _single(current, value, name, place)
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} must be a table", field=place)
    return {
        **current,
        **{key: _entry(name, key, one, f"{place}.{key}") for key, one in value.items()},
    }


def _entry(name: str, key: str, value: Any, place: str) -> Any:
    if name == "intents":
        return _merged({}, value, "weights", place)
    noun, allowed = KEYS.get(name, ("", (key,)))
    if key not in allowed:
        hint = "one of " + ", ".join(allowed)
        raise InvalidInput(f"{place} is not {noun}", field=place, hint=hint)
    return _fitted(Kind(float, 0), value, place)


def _single(current: Any, value: Any, name: str, place: str) -> Any:
    kind = float if name == "rrf_k" else type(current)
    return _fitted(Kind(kind, LEAST.get(name), choices=CHOICES.get(name, ())), value, place)


def _fitted(kind: Kind, value: Any, place: str) -> Any:
    try:
        return fitted(kind, value)
    except Unfit as error:
        raise InvalidInput(
            f"{place} cannot be {error.value!r}", field=place, hint=error.expected
        ) from None


def _unknown(place: str, name: str) -> InvalidInput:
    from difflib import get_close_matches

    near = get_close_matches(name, Profile._fields[1:], n=1, cutoff=0)
    return InvalidInput(
        f"{place} is not a field of a profile", field=place, hint=f"the nearest is {near[0]}"
    )
