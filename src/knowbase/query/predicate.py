"""Conditions as predicates on documents."""

import operator
from collections.abc import Callable
from typing import Any

from knowbase.query.conditions import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Not,
    OneOf,
    Tagged,
    Visible,
    hidden,
)
from knowbase.types import Document

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def passes(document: Document, condition: Condition) -> bool:
    """Whether the document fulfils the condition."""
    return _CHECKS[type(condition)](document, condition)


def _compare(document: Document, condition: Compare) -> bool:
    value = getattr(document, condition.field)
    if value is None or condition.operator == "present":
        return value is not None
    return _OPERATORS[condition.operator](value, condition.value)


def _tagged(document: Document, condition: Tagged) -> bool:
    check = all if condition.match == "all" else any
    return check(tag in document.tags for tag in condition.tags)


_CHECKS: dict[type, Callable[[Document, Any], bool]] = {
    Compare: _compare,
    OneOf: lambda document, c: getattr(document, c.field) in c.values,
    Tagged: _tagged,
    Visible: lambda document, c: not passes(document, hidden(c)),
    Not: lambda document, c: not passes(document, c.part),
    AllOf: lambda document, c: all(passes(document, part) for part in c.parts),
    AnyOf: lambda document, c: any(passes(document, part) for part in c.parts),
}
