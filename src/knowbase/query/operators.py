"""What each operator of the query language means: a condition, a directive, or a mistake."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast

from knowbase.errors import Conflict, InvalidInput
from knowbase.query.conditions import (
    HIDDEN_STATES,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    InPath,
    InRole,
    InSession,
    OneOf,
    Operator,
    Tagged,
    Under,
    in_state,
)
from knowbase.query.meta import PREFIX, meta
from knowbase.text.paths import LONGEST, MOST_WILDCARDS, path_pattern
from knowbase.values.characters import composed
from knowbase.values.documents import FIELDS, Document
from knowbase.values.kinds import Kind, Unfit, clean_tags, fitted

if TYPE_CHECKING:
    from knowbase.query.moments import Span

MOST_HOPS = 6
NO_META = "meta.KEY: takes a text, a number or a date: meta.status:active, meta.due:<2026-01"
_SIGNS: tuple[Operator, ...] = (">=", "<=", ">", "<", "=")


class Similar(NamedTuple):
    """similar:"text": what the semantic leg compares with."""

    text: str


class Like(NamedTuple):
    """like:CODE: a document whose own vectors are compared."""

    document: Document


class Related(NamedTuple):
    """related:CODE: a document whose links are walked."""

    document: Document


class Depth(NamedTuple):
    """depth:N: how many links far `related:` goes."""

    hops: int


class Include(NamedTuple):
    """include:STATE, is:STATE: what the lifecycle would hide."""

    states: frozenset[str]
    condition: Condition | None = None


class Weights(NamedTuple):
    """weights:0.5,0.3,0.2: of the keyword, semantic and graph legs."""

    keyword: float
    semantic: float
    graph: float


class AsOf(NamedTuple):
    """as_of:WHEN: the moment that the whole query is asked of; the base says what it means."""

    when: str


class Mistake(NamedTuple):
    """A value that means nothing here; the operator is read as words instead."""

    message: str
    is_unknown: bool = False  # it could mean something: nothing in this base goes by that name


class Context:
    """What the meaning of an operator depends on."""

    def __init__(
        self,
        now: str,
        types: Sequence[str],
        find: Callable[[str], Document | None],
        nearest: Callable[[str], str],  # a hint that names the codes most like a reference
        has_session: Callable[[str], bool],
        home: str = "",  # the folder that paths start from
    ) -> None:
        self.now = now
        self.types = types
        self.find = find
        self.nearest = nearest
        self.has_session = has_session
        self.home = home


Meaning: TypeAlias = (
    Condition | Similar | Like | Related | Depth | Include | Weights | AsOf | Mistake
)


class OperatorValue(NamedTuple):
    """An operator with its value: `name:value`, and the field that it asks for, if any."""

    name: str
    value: str
    field: str = ""


def field_of(name: str) -> str:
    """The field that an operator asks for; the name itself when it asks for none."""
    return _FILTERS[name][0] if name in _FILTERS else name


def meaning_of(name: str, value: str, context: Context) -> Meaning:
    """The meaning of `name:value`."""
    if name in _DIRECTIVES:
        return _DIRECTIVES[name](OperatorValue(name, value.strip()), context)
    if name.startswith(PREFIX):
        return meta(name.removeprefix(PREFIX), value, context.now) or Mistake(NO_META)
    field, rule = _FILTERS[name]
    return _RULES[rule](OperatorValue(name, value.strip(), field), context)


def filter_of(name: str, value: object, context: Context) -> Condition:
    """The condition that a filter of a request means; a mistake is an error that names it."""
    if name not in FILTERS:
        hint = "one of " + ", ".join(FILTERS)
        raise InvalidInput(f"there is no filter {name!r}", field=name, hint=hint)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} cannot be {value!r}", field=name, hint="it must be text")
    meaning = meaning_of(name, value, context)
    if isinstance(meaning, Mistake):
        refusal = Conflict if meaning.is_unknown else InvalidInput
        raise refusal(meaning.message, field=name)
    return cast("Condition", meaning)


def _tagged(asked: OperatorValue, _: Context) -> Meaning:
    tags = clean_tags(asked.value.split(","))
    return Tagged(tags) if tags else Mistake(f"{asked.name}: needs a name")


def _listed(asked: OperatorValue, context: Context) -> Meaning:
    field = FIELDS[asked.field]
    allowed = context.types if field.kind == "type" else field.choices
    values = tuple(part.strip().lower() for part in asked.value.split(",") if part.strip())
    for one in values:
        if one not in allowed:
            return Mistake(f"{one!r} is not a {asked.name}: it is one of {', '.join(allowed)}")
    return OneOf(asked.field, values) if values else Mistake(f"{asked.name}: needs a name")


def _equal(asked: OperatorValue, _: Context) -> Meaning:
    return Compare(asked.field, "=", composed(asked.value))


def _role(asked: OperatorValue, _: Context) -> Meaning:
    return InRole(composed(asked.value.lower()))


def _below(asked: OperatorValue, context: Context) -> Meaning:
    return _under(asked, context, direct=False)


def _child(asked: OperatorValue, context: Context) -> Meaning:
    return _under(asked, context, direct=True)


def _under(asked: OperatorValue, context: Context, *, direct: bool) -> Meaning:
    document = context.find(asked.value)
    if document is None:
        return _no_document(asked, context)
    names = tuple(n for n in (document.code, document.id, document.path) if n)
    return Under(names, direct=direct)


def _path(asked: OperatorValue, context: Context) -> Meaning:
    return _in_paths(asked, context, "")


def _folder(asked: OperatorValue, context: Context) -> Meaning:
    return _in_paths(asked, context, "/")


def _in_paths(asked: OperatorValue, context: Context, end: str) -> Meaning:
    """One of the paths, with commas between them."""
    given = [part.strip() for part in asked.value.split(",") if part.strip()]
    patterns = [path_pattern(_from_home(one, context.home) + end) for one in given]
    if not patterns:
        return Mistake(f"{asked.name}: needs a folder, a file or a pattern such as docs/*.md")
    found = tuple(InPath(pattern) for pattern in patterns if pattern is not None)
    if len(found) < len(patterns):
        return Mistake(
            f"{asked.name}: takes at most {LONGEST} characters and {MOST_WILDCARDS} wildcards"
        )
    return found[0] if len(found) == 1 else AnyOf(found)


def _from_home(path: str, home: str) -> str:
    """A whole path that lies in the base's home as the base keeps it."""
    home = home.rstrip("/\\")
    is_inside = home and path.startswith(home) and path[len(home) :][:1] in ("", "/", "\\")
    return path[len(home) :] or "/" if is_inside else path


def _no_document(asked: OperatorValue, context: Context) -> Mistake:
    hint = context.nearest(asked.value)
    return Mistake(f"there is no document {asked.value!r} ({hint})", is_unknown=True)


def _session(asked: OperatorValue, context: Context) -> Meaning:
    name = " ".join(composed(asked.value).split())
    if not context.has_session(name):
        hint = "see them with: kb sessions"
        return Mistake(f"there is no session {name!r} ({hint})", is_unknown=True)
    return InSession(name)


def _similar(asked: OperatorValue, _: Context) -> Meaning:
    return Similar(asked.value) if asked.value else Mistake(f"{asked.name}: needs a text")


def _like(asked: OperatorValue, context: Context) -> Meaning:
    document = context.find(asked.value)
    return Like(document) if document is not None else _no_document(asked, context)


def _related(asked: OperatorValue, context: Context) -> Meaning:
    document = context.find(asked.value)
    return Related(document) if document is not None else _no_document(asked, context)


def _depth(asked: OperatorValue, _: Context) -> Meaning:
    try:
        if asked.value.isascii() and asked.value.isdecimal():
            return Depth(fitted(Kind(int, 1, MOST_HOPS), asked.value))
    except Unfit:
        pass
    return Mistake(f"depth: takes a whole number from 1 to {MOST_HOPS}")


def _time(asked: OperatorValue, context: Context) -> Meaning:
    sign, rest = _signed(asked.value)
    found = _span(rest, context)
    if isinstance(found, Mistake):
        return found
    field = asked.field
    if sign is None:
        if found.start == found.end:  # a duration: within it
            return Compare(field, ">=", found.start)
        return AllOf((Compare(field, ">=", found.start), Compare(field, "<", found.end)))
    edge: dict[str, tuple[Operator, str]] = {
        ">": (">=", found.end),
        ">=": (">=", found.start),
        "<": ("<", found.start),
        "<=": ("<", found.end),
        "=": ("=", found.start),
    }
    return Compare(field, *edge[sign])


def _since(asked: OperatorValue, context: Context) -> Meaning:
    found = _span(_signed(asked.value)[1], context)
    return found if isinstance(found, Mistake) else Compare(asked.field, ">=", found.start)


def _until(asked: OperatorValue, context: Context) -> Meaning:
    found = _span(_signed(asked.value)[1], context)
    return found if isinstance(found, Mistake) else Compare(asked.field, "<", found.start)


def _span(text: str, context: Context) -> "Span | Mistake":
    from knowbase.query.moments import span  # a query without dates need not load datetime

    return span(text, context.now) or Mistake(
        f"{text!r} is not a date: try 2026-01-15, 2026-01, 7d, yesterday or last friday"
    )


def _share(asked: OperatorValue, _: Context) -> Meaning:
    sign, rest = _signed(asked.value)
    try:
        return Compare(asked.field, sign or "=", fitted(FIELDS[asked.field].check, rest))
    except Unfit:
        name = asked.name
        return Mistake(f"{name}: takes a number from 0 to 1, such as {name}:>=0.8")


def _signed(value: str) -> tuple[Operator | None, str]:
    for sign in _SIGNS:
        if value.startswith(sign):
            return sign, value[len(sign) :].strip()
    return None, value


def _as_of(asked: OperatorValue, _: Context) -> Meaning:
    return AsOf(asked.value)


def _include(asked: OperatorValue, _: Context) -> Meaning:
    states = _states(asked)
    return Include(states) if states else _no_state(asked)


def _is(asked: OperatorValue, context: Context) -> Meaning:
    states = _states(asked)
    wanted = tuple(in_state(state, context.now) for state in HIDDEN_STATES if state in states)
    return Include(states, AnyOf(wanted)) if states else _no_state(asked)


def _states(asked: OperatorValue) -> frozenset[str]:
    """The states that are named; none when one of them is not a state."""
    states = frozenset(part.strip().lower() for part in asked.value.split(",") if part.strip())
    return states if states <= set(HIDDEN_STATES) else frozenset()


def _no_state(asked: OperatorValue) -> Mistake:
    return Mistake(f"{asked.name}: takes one of {', '.join(HIDDEN_STATES)}")


def _weights(asked: OperatorValue, _: Context) -> Meaning:
    try:
        numbers = [fitted(Kind(float, 0), part) for part in asked.value.split(",")]
    except Unfit:
        numbers = []
    if not 2 <= len(numbers) <= 3:
        return Mistake("weights: takes two or three numbers, such as weights:0.5,0.3,0.2")
    return Weights(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0.0)


_RULES: dict[str, Callable[[OperatorValue, Context], Meaning]] = {
    "tagged": _tagged,
    "listed": _listed,
    "equal": _equal,
    "role": _role,
    "below": _below,
    "child": _child,
    "path": _path,
    "folder": _folder,
    "time": _time,
    "since": _since,
    "until": _until,
    "share": _share,
}
"""How the filters of the field table read what stands behind the colon."""

_FILTERS = {
    one.operator: (name, one.rule) for name, field in FIELDS.items() for one in field.filters
}

_DIRECTIVES: dict[str, Callable[[OperatorValue, Context], Meaning]] = {
    "session": _session,
    "similar": _similar,
    "like": _like,
    "related": _related,
    "depth": _depth,
    "is": _is,
    "include": _include,
    "weights": _weights,
    "as_of": _as_of,
}
"""Operators that ask for no field of a document."""

FILTERS = (*_FILTERS, "session")
"""Operators that are conditions and nothing else: a request may have them as filters."""

OPERATORS = (*_FILTERS, *_DIRECTIVES)
