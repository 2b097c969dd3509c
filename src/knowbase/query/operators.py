"""What each operator of the query language means: a condition, a directive, or a mistake."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from knowbase.query.conditions import (
    HIDDEN_STATES,
    AllOf,
    AnyOf,
    Compare,
    Condition,
    InRole,
    InSession,
    OneOf,
    Operator,
    Tagged,
    Under,
    in_state,
)
from knowbase.values.documents import SCOPES, SECTORS, TIERS, Document

_CLOCKS = {
    "created": "created_at",
    "updated": "updated_at",
    "expires": "expires_at",
    "after": "updated_at",
    "before": "updated_at",
}
MOST_HOPS = 6
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


class Mistake(NamedTuple):
    """A value that means nothing here; the operator is read as words instead."""

    message: str


class Context(NamedTuple):
    """What the meaning of an operator depends on."""

    now: str
    types: Sequence[str]
    find: Callable[[str], Document | None]
    nearest: Callable[[str], str]  # a hint that names the codes most like a reference
    has_session: Callable[[str], bool]


Meaning: TypeAlias = Condition | Similar | Like | Related | Depth | Include | Weights | Mistake


def meaning_of(name: str, value: str, context: Context) -> Meaning:
    """The meaning of `name:value`."""
    return _MEANINGS[name](name, value.strip(), context)


def _tag(_: str, value: str, __: Context) -> Meaning:
    tags = tuple(tag.strip().lstrip("#").lower() for tag in value.split(","))
    return Tagged(tuple(tag for tag in tags if tag)) if any(tags) else Mistake("tag: needs a name")


def _listed(name: str, value: str, context: Context) -> Meaning:
    allowed = {"type": context.types, "sector": SECTORS, "scope": SCOPES, "tier": TIERS}[name]
    values = tuple(part.strip().lower() for part in value.split(",") if part.strip())
    for one in values:
        if one not in allowed:
            return Mistake(f"{one!r} is no {name}: it is one of {', '.join(allowed)}")
    return OneOf(name, values)


def _equal(name: str, value: str, _: Context) -> Meaning:
    return Compare(name, "=", value)


def _role(_: str, value: str, __: Context) -> Meaning:
    return InRole(value.lower())


def _session(_: str, value: str, context: Context) -> Meaning:
    name = " ".join(value.split())
    if not context.has_session(name):
        return Mistake(f"there is no session {name!r} (see them with: kb sessions)")
    return InSession(name)


def _below(name: str, value: str, context: Context) -> Meaning:
    document = context.find(value)
    if document is None:
        return Mistake(f"there is no document {value!r} ({context.nearest(value)})")
    names = tuple(n for n in (document.code, document.id, document.path) if n)
    return Under(names, direct=name != "under")


def _similar(_: str, value: str, __: Context) -> Meaning:
    return Similar(value)


def _like(_: str, value: str, context: Context) -> Meaning:
    document = context.find(value)
    if document is None:
        return Mistake(f"there is no document {value!r} ({context.nearest(value)})")
    return Like(document)


def _related(_: str, value: str, context: Context) -> Meaning:
    document = context.find(value)
    if document is None:
        return Mistake(f"there is no document {value!r} ({context.nearest(value)})")
    return Related(document)


def _depth(_: str, value: str, __: Context) -> Meaning:
    if not (value.isdecimal() and value.isascii() and 1 <= int(value) <= MOST_HOPS):
        return Mistake(f"depth: takes a whole number from 1 to {MOST_HOPS}")
    return Depth(int(value))


def _time(name: str, value: str, context: Context) -> Meaning:
    from knowbase.query.moments import span

    sign, rest = _signed(value)
    found = span(rest, context.now)
    if found is None:
        return Mistake(
            f"{rest!r} is no date: try 2026-01-15, 2026-01, 7d, yesterday or last friday"
        )
    field = _CLOCKS[name]
    if name in ("after", "before"):
        return Compare(field, ">=" if name == "after" else "<", found.start)
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


def _number(name: str, value: str, _: Context) -> Meaning:
    sign, rest = _signed(value)
    try:
        number = float(rest)
    except ValueError:
        number = float("nan")
    if not 0 <= number <= 1:
        return Mistake(f"{name}: takes a number from 0 to 1, such as {name}:>=0.8")
    return Compare(name, sign or "=", number)


def _signed(value: str) -> tuple[Operator | None, str]:
    for sign in _SIGNS:
        if value.startswith(sign):
            return sign, value[len(sign) :].strip()
    return None, value


def _states(name: str, value: str, context: Context) -> Meaning:
    states = frozenset(part.strip().lower() for part in value.split(",") if part.strip())
    if not states or not states <= set(HIDDEN_STATES):
        return Mistake(f"{name}: takes one of {', '.join(HIDDEN_STATES)}")
    if name == "include":
        return Include(states)
    wanted = tuple(in_state(state, context.now) for state in HIDDEN_STATES if state in states)
    return Include(states, AnyOf(wanted))


def _weights(_: str, value: str, __: Context) -> Meaning:
    try:
        numbers = [float(part) for part in value.split(",")]
    except ValueError:
        numbers = []
    if not 2 <= len(numbers) <= 3 or not all(0 <= number < float("inf") for number in numbers):
        return Mistake("weights: takes two or three numbers, such as weights:0.5,0.3,0.2")
    return Weights(numbers[0], numbers[1], numbers[2] if len(numbers) == 3 else 0.0)


_MEANINGS: dict[str, Callable[[str, str, Context], Meaning]] = {
    "tag": _tag,
    "tags": _tag,
    "type": _listed,
    "sector": _listed,
    "scope": _listed,
    "tier": _listed,
    "project": _equal,
    "role": _role,
    "session": _session,
    "under": _below,
    "children": _below,
    "parent": _below,
    "similar": _similar,
    "like": _like,
    "related": _related,
    "depth": _depth,
    "after": _time,
    "before": _time,
    "created": _time,
    "updated": _time,
    "expires": _time,
    "confidence": _number,
    "salience": _number,
    "is": _states,
    "include": _states,
    "weights": _weights,
}
