"""Parameters: a request is a named tuple whose annotations describe and bound its fields.

Every surface reads the same descriptions, and every value goes through the same check.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

from knowbase.errors import InvalidInput
from knowbase.values.characters import composed, storable
from knowbase.values.kinds import Kind, Unfit, fitted

MOST_ITEMS = 1000  # of a list that filters or describes; references and paths may be more
NAMES = ("code", "project")  # texts that are compared as a whole
LONGEST_SESSION = 200  # letters of a session's name
LONGEST_SHOWN = 200  # letters of a wrong value in what is said about it
Request = TypeVar("Request", bound=tuple[Any, ...])


class Param(NamedTuple):
    """What a field of a request is for, and what it may be."""

    text: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    positional: bool = False
    single: bool = False  # the last positional one takes one word, not the rest of the line
    keeps_commas: bool = False  # an item of a list may hold one
    metavar: str | None = None
    short: str | None = None
    flag: str | None = None  # --from: what the field itself cannot be called
    aliases: Mapping[str, str] = {}  # flags that stand for a value: --fts-only → keyword
    format: str | None = None  # as JSON Schema names it; stated, not checked
    grammar: str = ""  # how its text is read, where any text is not: see operations/grammar.py
    blank: bool = False  # an empty text is as none, for who fills in every field of a form
    of: "type | None" = None  # a list of requests of this type, each as an object of JSON
    type: "type" = str  # in a table of a group alone: elsewhere the annotation says it


class Group(NamedTuple):
    """A field of a request that stands for several parameters: those of another request, or
    of a table, which become a mapping of what is given."""

    of: "type | Callable[[], Mapping[str, Param]]"
    without: tuple[str, ...] = ()  # of the other request's parameters
    texts: Mapping[str, str] = {}  # what they are for here, where that differs


class Parameter(NamedTuple):
    """One parameter as every surface sees it."""

    name: str
    kind: type  # str, int, float, bool, or tuple for a list of strings
    param: Param
    default: Any
    required: bool

    @property
    def flag(self) -> str:
        """As it is typed."""
        return self.param.flag or "--" + self.name.replace("_", "-")


@cache
def parameters(request: type) -> list[Parameter]:
    """The parameters of a request, from its annotations; those of a group stand in its place."""
    defaults: dict[str, Any] = request._field_defaults  # type: ignore[attr-defined]
    found: list[Parameter] = []
    for name, (kind, param) in _annotated(request).items():
        if isinstance(param, Group):
            found += _members(param)
        else:
            is_required = name not in defaults
            found.append(Parameter(name, _plain(kind), param, defaults.get(name), is_required))
    return found


@cache
def _annotated(request: type) -> dict[str, Any]:
    """Type and description of each field that is a parameter, or several."""
    hints = request.__annotations__  # never texts: resolving those takes longer than a search
    return {name: get_args(hint) for name, hint in hints.items() if hasattr(hint, "__metadata__")}


@cache
def _grouped(request: type, name: str) -> list[str]:
    """The names of the parameters that a group of a request stands for."""
    return [one.name for one in _members(_annotated(request)[name][1])]


def _members(group: Group) -> list[Parameter]:
    if not isinstance(group.of, type):
        return [
            Parameter(name, param.type, param, () if param.type is tuple else None, False)
            for name, param in group.of().items()
        ]
    members = (one for one in parameters(group.of) if one.name not in group.without)
    return [
        one._replace(param=one.param._replace(text=group.texts.get(one.name, one.param.text)))
        for one in members
    ]


def _plain(kind: Any) -> type:
    """int | None → int; tuple[str, ...] → tuple."""
    kinds = [part for part in get_args(kind) if part is not type(None) and part is not ...]
    if get_origin(kind) is tuple:
        return tuple
    plain: type = kinds[0] if kinds else kind
    return get_origin(plain) or plain


def refuse_unknown(given: Iterable[str], known: Collection[str]) -> None:
    """A parameter that there is not is refused, never ignored."""
    for name in given:
        if name not in known:
            raise InvalidInput(
                f"unknown parameter {name!r}",
                field=name,
                hint="one of " + ", ".join(known) if known else "it takes none",
            )


def build(
    request: type,
    values: Mapping[str, Any],
    called: Callable[[Parameter], str] = lambda one: one.name,
) -> Any:
    """The request, once every value is known to be of its kind and within its bounds; `called` is
    what whoever asks knows a parameter by."""
    known = {one.name: one for one in parameters(request)}
    refuse_unknown(values, known)
    given = {name: _checked(known[name], value) for name, value in values.items()}
    for one in known.values():
        if one.required and given.get(one.name, ()) == ():
            raise InvalidInput(f"{called(one)} is missing", field=one.name, hint=one.param.text)
    return _made(request, given)


def _made(request: type, values: Mapping[str, Any]) -> Any:
    """The request from values that fit; a group takes what is its own."""
    given: dict[str, Any] = {}
    for name, (_, param) in _annotated(request).items():
        if not isinstance(param, Group):
            given |= {name: values[name]} if name in values else {}
            continue
        own = {one: values[one] for one in _grouped(request, name) if one in values}
        if isinstance(param.of, type):
            given[name] = _made(param.of, own)
        else:
            given[name] = {part: value for part, value in own.items() if value is not None}
    return request(**given)


def values_of(request: Any) -> dict[str, Any]:
    """The values that `build` makes the same request of; what is as it would be is left out."""
    defaults: dict[str, Any] = request._field_defaults
    kind: type = type(request)
    given: dict[str, Any] = {}
    for name, (_, param) in _annotated(kind).items():
        value = getattr(request, name)
        if isinstance(param, Group):
            given |= values_of(value) if isinstance(param.of, type) else value
        elif param.of is not None:
            given |= {name: [values_of(one) for one in value]} if value else {}
        elif name not in defaults or value != defaults[name]:
            given[name] = value
    return given


def checked(request: Request) -> Request:
    """A request that was made in Python, once its own values fit too."""
    fits = {
        one.name: _checked(one, _in_python(one, getattr(request, one.name)))
        for one in _own_parameters(type(request))
        if getattr(request, one.name) != one.default
    }
    return request._replace(**fits)  # type: ignore[attr-defined,no-any-return]


@cache
def _own_parameters(request: type) -> list[Parameter]:
    """Those that are fields of the request; those of its groups are not."""
    return [one for one in parameters(request) if hasattr(request, one.name)]


def _in_python(parameter: Parameter, value: Any) -> Any:
    return listed(parameter.name, value) if parameter.kind is tuple else value


def listed(name: str, value: Any) -> Any:
    """A list as it is given in Python; a text is not taken for the list of its letters."""
    if isinstance(value, str):
        raise InvalidInput(
            f"{name} takes a list, not the text {_shown(value)}",
            field=name,
            hint=f"such as {name}=[{_shown(value)}]",
        )
    is_list = isinstance(value, Iterable) and not isinstance(value, bytes | Mapping)
    return tuple(value) if is_list else value


def _checked(parameter: Parameter, value: Any) -> Any:
    if value is None and not parameter.required:
        return parameter.default
    param = parameter.param
    if param.blank and value == "":
        return parameter.default
    if param.of is not None:
        return _requests(parameter, param.of, value)
    if parameter.kind is tuple:
        value = _split(param, value)
        if isinstance(value, list) and len(value) > MOST_ITEMS and not param.positional:
            raise InvalidInput(
                f"{parameter.name} has {len(value)} items",
                field=parameter.name,
                hint=f"at most {MOST_ITEMS}",
            )
    try:
        value = fitted(Kind(parameter.kind, param.least, param.most, param.choices), value)
    except Unfit as error:
        name, shown = parameter.name, _shown(error.value)
        raise InvalidInput(f"{name} cannot be {shown}", field=name, hint=error.expected) from None
    if param.grammar == "session" and not 0 < len(value.strip()) <= LONGEST_SESSION:
        raise InvalidInput(
            f"{parameter.name} cannot be {_shown(value)}",
            field=parameter.name,
            hint=f"1 to {LONGEST_SESSION} characters",
        )
    if param.grammar == "session" or parameter.name in NAMES:
        value = composed(value)
    return storable(value)


def _requests(parameter: Parameter, of: type, value: Any) -> tuple[Any, ...]:
    """Each of a list of objects, or of lines of JSON, as the request that it is."""
    given = _lines(parameter.name, value)
    if not isinstance(given, list | tuple) or not all(isinstance(one, dict) for one in given):
        raise InvalidInput(
            f"{parameter.name} cannot be {_shown(value)}",
            field=parameter.name,
            hint="it must be a list of objects",
        )
    built = []
    for number, one in enumerate(given):
        try:
            built.append(build(of, one))
        except InvalidInput as error:
            place = f"{parameter.name}[{number}]"
            field = f"{place}.{error.field}" if error.field else place
            raise type(error)(f"{place}: {error.message}", field=field, hint=error.hint) from None
    return tuple(built)


def _lines(name: str, value: Any) -> Any:
    """What JSON texts say: one a line, or one an item."""
    texts = value.splitlines() if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(one, str) for one in texts):
        return value
    import json

    made = []
    for number, one in enumerate(texts, 1):
        try:
            made += [json.loads(one)] if one.strip() else []
        except ValueError as error:
            told = f"line {number} of {name} is not JSON: {getattr(error, 'msg', error)}"
            hint = 'an object a line, such as {"text": "…"}'
            raise InvalidInput(told, field=name, hint=hint) from None
    return made


def _split(param: Param, value: Any) -> Any:
    """Flags take comma-separated lists; a path or reference may hold a comma."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
        return value
    whole = param.positional or param.keeps_commas
    return [part for item in items for part in ([item] if whole else item.split(","))]


def _shown(value: Any) -> str:
    """The value as it was written, unless it is too long or too deep for that."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "this"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
