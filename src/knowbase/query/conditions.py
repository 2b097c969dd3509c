"""Conditions on documents: a small tree that every store compiles to its own query.

A comparison with an absent value is false, so its negation is true.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

from knowbase.text.analysis import Word
from knowbase.text.paths import PathPattern
from knowbase.values.documents import STATES

Operator: TypeAlias = Literal["=", "<", "<=", ">", ">=", "present"]
Value: TypeAlias = str | float | bool


class Compare(NamedTuple):
    """A document's field against a value; `present` ignores the value."""

    field: str
    operator: Operator
    value: Value = ""


class OneOf(NamedTuple):
    """A document's field is one of these."""

    field: str
    values: tuple[str, ...]


class Tagged(NamedTuple):
    """A document has all, or any, of these tags."""

    tags: tuple[str, ...]
    match: Literal["all", "any"] = "all"


class Meta(NamedTuple):
    """What a document's front matter says besides its fields: of a key, or of a key of a key
    (`a.b`), or of one of its list. A text is compared with texts and flags, ASCII letters in either
    case; with other signs than =, with texts that begin with a day; a number with numbers."""

    key: str
    operator: Operator
    value: str | float = ""

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """The keys to look for, from the outermost: a dot may also be part of a key."""
        whole = (ascii_lower(self.key),)
        parts = tuple(ascii_lower(self.key).split(".")[:MOST_KEYS])
        return (whole,) if len(parts) == 1 else (whole, parts)


MOST_KEYS = 4  # of one within another


def ascii_lower(text: str) -> str:
    """As every engine compares what people write in any case: ASCII letters alone."""
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in text)


class InRole(NamedTuple):
    """A document is meant for this role, or for all."""

    role: str


class Under(NamedTuple):
    """A document lies below one that goes by any of these names: directly, or anywhere."""

    names: tuple[str, ...]
    direct: bool = False


class InPath(NamedTuple):
    """A document's file is one that the pattern means."""

    pattern: PathPattern


class InSession(NamedTuple):
    """A document was made or used in this session; with `made`, made in any."""

    session: str
    made: bool = False


class Contains(NamedTuple):
    """A chunk has this word, or these words in a row. The one condition on chunks."""

    word: Word


class Visible(NamedTuple):
    """The lifecycle: what is archived, expired or superseded is hidden unless asked for.

    What was forgotten is hidden whatever is asked for.
    """

    now: str
    include: frozenset[str] = frozenset()


class Not(NamedTuple):
    part: "Condition"


class AllOf(NamedTuple):
    parts: tuple["Condition", ...] = ()


class AnyOf(NamedTuple):
    parts: tuple["Condition", ...] = ()


Condition: TypeAlias = (
    Compare
    | Meta
    | OneOf
    | Tagged
    | InRole
    | Under
    | InPath
    | InSession
    | Contains
    | Visible
    | Not
    | AllOf
    | AnyOf
)

EVERYTHING: Condition = AllOf()

HIDDEN_STATES = tuple(STATES)
FORGOTTEN: Condition = Compare("deleted_at", "present")


def in_state(state: str, now: str) -> Condition:
    """The documents in one of HIDDEN_STATES at this moment."""
    tests = tuple(_state_test(field, test, now) for field, test in STATES[state].items())
    return tests[0] if len(tests) == 1 else AnyOf(tests)


def _state_test(field: str, test: str, now: str) -> Condition:
    if test == "past":
        return Compare(field, "<=", now)
    return Compare(field, "=", True) if test == "set" else Compare(field, "present")


def hidden(visible: Visible) -> Condition:
    """The documents that the lifecycle hides at this moment."""
    states = [state for state in HIDDEN_STATES if state not in visible.include]
    return AnyOf((FORGOTTEN, *(in_state(state, visible.now) for state in states)))


def is_everything(condition: Condition) -> bool:
    """Whether it lets every document pass. (As tuples, AllOf() and AnyOf() would be equal.)"""
    return isinstance(condition, AllOf) and not condition.parts


def is_lifecycle(condition: Condition) -> bool:
    """Whether it asks for nothing but the lifecycle."""
    if isinstance(condition, AllOf):
        return all(is_lifecycle(part) for part in condition.parts)
    return isinstance(condition, Visible)


def has_text(condition: Condition) -> bool:
    """Whether it asks for words of a chunk, not only for fields of a document."""
    if isinstance(condition, Not):
        return has_text(condition.part)
    if isinstance(condition, AllOf | AnyOf):
        return any(has_text(part) for part in condition.parts)
    return isinstance(condition, Contains)


def both(*conditions: Condition) -> Condition:
    """All of these; nothing else around a single one."""
    parts = tuple(condition for condition in conditions if not is_everything(condition))
    return parts[0] if len(parts) == 1 else AllOf(parts)


def describe(condition: Condition) -> str:
    """The condition for a person, in the words of the query language."""
    if isinstance(condition, Not):
        return f"NOT {describe(condition.part)}"
    if isinstance(condition, AllOf | AnyOf):
        word = " AND " if isinstance(condition, AllOf) else " OR "
        parts = [describe(part) for part in condition.parts]
        return f"({word.join(parts)})" if len(parts) > 1 else "".join(parts) or "everything"
    return _LEAVES_TOLD[type(condition)](condition)


_LEAVES_TOLD: dict[type, Callable[[Any], str]] = {
    Compare: lambda c: f"{c.field} {c.operator} {c.value}".rstrip(),
    Meta: lambda c: f"meta.{c.key} {c.operator} {c.value}".rstrip(),
    OneOf: lambda c: f"{c.field}:{','.join(c.values)}",
    Tagged: lambda c: (" AND " if c.match == "all" else " OR ").join(f"tag:{t}" for t in c.tags),
    InRole: lambda c: f"role:{c.role}",
    Under: lambda c: f"{'children' if c.direct else 'under'}:{c.names[0]}",
    InPath: lambda c: f"path:{c.pattern}",
    InSession: lambda c: "made in a session" if c.made else f"session:{c.session}",
    Contains: lambda c: f'"{c.word.surface}"' + "*" * c.word.prefix,
    Visible: lambda c: " ".join(["visible", *(f"include:{s}" for s in sorted(c.include))]),
}
