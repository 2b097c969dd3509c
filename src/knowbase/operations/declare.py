"""How an operation is declared: a request with described, bounded fields, and what runs it."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from knowbase.errors import InvalidInput, NotAllowed
from knowbase.values.kinds import Kind, Unfit, fitted
from knowbase.values.parameters import Group, Param

MOST_ITEMS = 1000  # of a list that filters or describes; references and paths may be more
LONGEST_SHOWN = 200  # letters of a wrong value in what is said about it


class NoParameters(NamedTuple):
    """The request of what takes nothing."""


class Field(NamedTuple):
    """One parameter as every surface sees it."""

    name: str
    kind: type  # str, int, float, bool, or tuple for a list of strings
    param: Param
    default: Any
    required: bool


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
    """The parameters of a request, from its annotations; those of a group stand in its place."""
    defaults: dict[str, Any] = request._field_defaults  # type: ignore[attr-defined]
    found = []
    for name, (kind, param) in _annotated(request).items():
        if isinstance(param, Group):
            found += _members(param)
        else:
            found.append(Field(name, _plain(kind), param, defaults.get(name), name not in defaults))
    return found


def _annotated(request: type) -> dict[str, Any]:
    """Type and description of each field that is a parameter, or several."""
    hints = get_type_hints(request, include_extras=True)
    return {name: get_args(hint) for name, hint in hints.items() if hasattr(hint, "__metadata__")}


def _members(group: Group) -> list[Field]:
    if isinstance(group.of, type):
        return fields(group.of)
    return [
        Field(name, param.type, param, () if param.type is tuple else None, False)
        for name, param in group.of().items()
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


def build(request: type, values: Mapping[str, Any]) -> Any:
    """The request, once every value is known to be of its kind and within its bounds."""
    known = {field.name: field for field in fields(request)}
    refuse_unknown(values, known)
    for field in known.values():
        if field.required and field.name not in values:
            name = field.param.metavar or field.name
            raise InvalidInput(f"{name} is missing", field=field.name, hint=field.param.text)
    return _made(request, {name: _checked(known[name], value) for name, value in values.items()})


def _made(request: type, values: Mapping[str, Any]) -> Any:
    """The request from values that fit; a group takes what is its own."""
    given: dict[str, Any] = {}
    for name, (_, param) in _annotated(request).items():
        if not isinstance(param, Group):
            given |= {name: values[name]} if name in values else {}
            continue
        own = {one.name: values[one.name] for one in _members(param) if one.name in values}
        if isinstance(param.of, type):
            given[name] = _made(param.of, own)
        else:
            given[name] = {part: value for part, value in own.items() if value is not None}
    return request(**given)


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
    param = field.param
    if field.kind is tuple:
        value = _split(field, value)
    try:
        value = fitted(Kind(field.kind, param.least, param.most, param.choices), value)
    except Unfit as error:
        raise _refusal(field, error.value, error.expected) from None
    if isinstance(value, tuple) and len(value) > MOST_ITEMS and not param.positional:
        raise InvalidInput(
            f"{field.name} has {len(value)} items", field=field.name, hint=f"at most {MOST_ITEMS}"
        )
    return value


def _split(field: Field, value: Any) -> Any:
    """Flags take comma-separated lists; a path or reference may hold a comma."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple) or not all(isinstance(one, str) for one in items):
        return value
    whole = field.param.positional or field.param.keeps_commas
    return [part for item in items for part in ([item] if whole else item.split(","))]


def _refusal(field: Field, value: Any, expected: str) -> InvalidInput:
    return InvalidInput(f"{field.name} cannot be {_shown(value)}", field=field.name, hint=expected)


def _shown(value: Any) -> str:
    """The value as it was written, unless it is too long or too deep for that."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "this"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"
