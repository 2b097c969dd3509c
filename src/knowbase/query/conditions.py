"""Conditions on documents: a small tree that every store compiles to its own query.

A comparison with an absent value is false, so its negation is true.
"""

from typing import Literal, NamedTuple, TypeAlias

Operator: TypeAlias = Literal["=", "<", "<=", ">", ">=", "present"]
Value: TypeAlias = str | float | bool

FIELDS = (
    "type", "project", "parent", "confidence", "archived", "expires_at", "superseded_by",
    "valid_until", "scope", "sector", "tier", "salience", "access_count", "last_accessed_at",
    "created_at", "updated_at", "path",
)  # fmt: skip


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


class Visible(NamedTuple):
    """The lifecycle: what is archived, expired or superseded is hidden unless asked for."""

    now: str
    include: frozenset[str] = frozenset()


class Not(NamedTuple):
    part: "Condition"


class AllOf(NamedTuple):
    parts: tuple["Condition", ...] = ()


class AnyOf(NamedTuple):
    parts: tuple["Condition", ...] = ()


Condition: TypeAlias = Compare | OneOf | Tagged | Visible | Not | AllOf | AnyOf

EVERYTHING = AllOf()

HIDDEN_STATES = ("archived", "expired", "superseded")


def hidden(visible: Visible) -> Condition:
    """The documents that the lifecycle hides at this moment."""
    states: dict[str, Condition] = {
        "archived": Compare("archived", "=", True),
        "expired": Compare("expires_at", "<=", visible.now),
        "superseded": AnyOf(
            (Compare("superseded_by", "present"), Compare("valid_until", "present"))
        ),
    }
    return AnyOf(tuple(states[name] for name in HIDDEN_STATES if name not in visible.include))


def is_everything(condition: Condition) -> bool:
    """Whether it lets every document pass. (As tuples, AllOf() and AnyOf() would be equal.)"""
    return isinstance(condition, AllOf) and not condition.parts


def both(*conditions: Condition) -> Condition:
    """All of these; nothing else around a single one."""
    parts = tuple(condition for condition in conditions if not is_everything(condition))
    return parts[0] if len(parts) == 1 else AllOf(parts)
