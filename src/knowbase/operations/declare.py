"""How an operation is declared: a request with described, bounded fields, and what runs it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from knowbase.errors import InvalidInput, NotAllowed

MOST_WHOLE = 2**63  # what a database holds as a whole number
MOST_ITEMS = 1000  # of a list that filters or describes; references and paths may be more
LONGEST_SHOWN = 200  # letters of a wrong value in what is said about it


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
    aliases: Mapping[str, str] = {}  # flags that stand for a value: --fts-only → keyword
    format: str | None = None  # as JSON Schema names it; told, not checked


class NoParameters(NamedTuple):
    """The request of what takes nothing."""


class Field(NamedTuple):
    """One parameter as every surface sees it."""

    name: str
    kind: type  # str, int, float, bool, or tuple for a list of strings
    param: Param
    default: Any
    required: bool


class Group(NamedTuple):
    """A field that stands for several parameters: those of another request, or these.

    `search: Annotated[Search, Group(Search)]` takes all that a search takes; what is built has
    them together again, as `request.search`.
    """

    request: type | Callable[[], tuple[Field, ...]]

    def fields(self) -> Iterable[Field]:
        return fields(self.request) if isinstance(self.request, type) else self.request()


class Terminal(NamedTuple):
    """What an operation asks of whoever sits at a terminal, and what a pipe gets of it."""

    input_field: str | None = None  # standard input or an editor gives it when nothing else does
    removes: Callable[[Any, Any], Sequence[str]] | None = None  # of a base; it is asked first
    raw: Callable[[Any], str] | None = None  # a result as a pipe gets it, to the byte
    aside: Callable[[Any], str] | None = None  # what is said beside a result, on standard error
    json_lines: bool = False  # --json prints each result on one line


class Operation(NamedTuple):
    """A name, what it does, what it takes, and what runs it."""

    name: str
    summary: str
    request: type
    run: Callable[..., Any]
    writes: bool = False
    examples: tuple[str, ...] = ()
    base_optional: bool = False  # it can run without a base, and then gets None
    opens_bases: bool = False  # it opens what it works on itself, and always gets None
    local: bool = False  # it reads or writes this machine's files: never served to others
    whole: bool = False  # it concerns the whole base: not for those held to one project
    creates_base: bool = False  # the base is made if there is none
    streams: bool = False  # it gives one result after the other until it is stopped
    progress: bool = False  # what runs it takes a third argument, and calls it with each step
    terminal: Terminal = Terminal()

    @property
    def makes_garbage(self) -> bool:
        """Whether it works for so long that garbage is worth collecting."""
        return self.writes or self.streams or self.progress


@cache
def fields(request: type) -> list[Field]:
    """The parameters of a request, from its annotations."""
    defaults: dict[str, Any] = request._field_defaults  # type: ignore[attr-defined]
    found: list[Field] = []
    for name, kind, param in _annotations(request):
        if isinstance(param, Group):
            found += param.fields()
        else:
            found.append(Field(name, _plain(kind), param, defaults.get(name), name not in defaults))
    return found


@cache
def _annotations(request: type) -> list[tuple[str, Any, Param | Group]]:
    hints = get_type_hints(request, include_extras=True)
    return [(name, *get_args(hint)) for name, hint in hints.items()]


def _grouped(request: type, values: dict[str, Any]) -> dict[str, Any]:
    """The values with those of each group put together."""
    grouped = dict(values)
    for name, kind, group in _annotations(request):
        if isinstance(group, Group):
            parts = [field.name for field in group.fields() if field.name in values]
            grouped[name] = kind(**{part: grouped.pop(part) for part in parts})
    return grouped


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


def build(request: type, values: Mapping[str, Any]) -> Any:
    """The request, once every value is known to be of its kind and within its bounds."""
    known = {field.name: field for field in fields(request)}
    refuse_unknown(values, known)
    for field in known.values():
        if field.required and field.name not in values:
            name = field.param.metavar or field.name
            raise InvalidInput(f"{name} is missing", field=field.name, hint=field.param.text)
    checked = {name: _checked(known[name], value) for name, value in values.items()}
    return request(**_grouped(request, checked))


def held_to(project: str | None, request: type, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values for somebody who is held to a project: whatever they ask for is about that."""
    if project is None or "project" not in {field.name for field in fields(request)}:
        return values
    if values.get("project") not in (None, project):
        raise NotAllowed(
            "this access is for another project", field="project", hint="leave the project out"
        )
    return {**values, "project": project}


def _checked(field: Field, value: Any) -> Any:
    if value is None and not field.required:
        return field.default
    value = _converted(field, value)
    param = field.param
    for one in value if isinstance(value, tuple) else (value,):
        if param.choices and one not in param.choices:
            raise _refusal(field, one, "one of " + ", ".join(param.choices))
        if param.least is not None and not one >= param.least:
            raise _refusal(field, one, _bounds(param))
        if param.most is not None and not one <= param.most:
            raise _refusal(field, one, _bounds(param))
    return value


def _converted(field: Field, value: Any) -> Any:
    """The value with the field's kind; text is taken for a number where one is wanted."""
    kind = field.kind
    if kind is tuple:
        items = (value,) if isinstance(value, str) else value
        if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
            raise _refusal(field, value, "it must be a list of texts")
        parts = (part.strip() for item in items for part in _parts(field, item))
        return _not_too_many(field, tuple(part for part in parts if part))
    if kind in (int, float):
        number = _number(kind, value)
        if number is not None:
            return number
    elif isinstance(value, kind):
        return value
    names = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    raise _refusal(field, value, f"it must be {names[kind]}")


def _not_too_many(field: Field, items: tuple[str, ...]) -> tuple[str, ...]:
    if len(items) > MOST_ITEMS and not field.param.positional:
        raise InvalidInput(
            f"{field.name} has {len(items)} items", field=field.name, hint=f"at most {MOST_ITEMS}"
        )
    return items


def _number(kind: type, value: Any) -> float | None:
    """The value as a finite number of that kind; a whole number is no cut-off fraction."""
    if isinstance(value, bool) or (kind is int and isinstance(value, float)):
        return None
    try:
        number: float = kind(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) < (MOST_WHOLE if kind is int else float("inf")) else None


def _parts(field: Field, item: str) -> list[str]:
    """Flags take comma-separated lists; a path or reference may hold a comma."""
    return [item] if field.param.positional or field.param.keeps_commas else item.split(",")


def _bounds(param: Param) -> str:
    if param.least is not None and param.most is not None:
        return f"from {param.least} to {param.most}"
    return f"at least {param.least}" if param.least is not None else f"at most {param.most}"


def _refusal(field: Field, value: Any, expected: str) -> InvalidInput:
    return InvalidInput(f"{field.name} cannot be {_shown(value)}", field=field.name, hint=expected)


def _shown(value: Any) -> str:
    """The value as it was written, unless it is too long or too deep for that."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "this"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
