"""Conditions as predicates: on a document, and on a chunk when one is at hand."""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from knowbase.query.conditions import (
    AllOf,
    AnyOf,
    Compare,
    Condition,
    Contains,
    InPath,
    InRole,
    Meta,
    Not,
    OneOf,
    Tagged,
    Visible,
    ascii_lower,
    hidden,
)
from knowbase.text.analysis import Word
from knowbase.text.paths import matches
from knowbase.values.documents import Document

_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
HasWord = Callable[[Word], bool]

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def passes(document: Document, condition: Condition, has_word: HasWord = lambda _: False) -> bool:
    """Whether the document, and the chunk whose words `has_word` knows, fulfil the condition."""
    if isinstance(condition, Not):
        return not passes(document, condition.part, has_word)
    if isinstance(condition, AllOf):
        return all(passes(document, part, has_word) for part in condition.parts)
    if isinstance(condition, AnyOf):
        return any(passes(document, part, has_word) for part in condition.parts)
    if isinstance(condition, Contains):
        return has_word(condition.word)
    return _LEAVES[type(condition)](document, condition)


def _compare(document: Document, condition: Compare) -> bool:
    value = getattr(document, condition.field)
    if value is None or condition.operator == "present":
        return value is not None
    return _OPERATORS[condition.operator](value, condition.value)


def _meta(document: Document, condition: Meta) -> bool:
    return any(
        _meta_passes(value, condition)
        for keys in condition.keys
        for value in _meta_values(document.metadata, keys)
    )


def _meta_values(metadata: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """What stands under these keys; of a list, each of its items."""
    if keys and isinstance(metadata, Mapping):
        for key, value in metadata.items():
            if ascii_lower(key) == keys[0]:
                yield from _meta_values(value, keys[1:])
    elif not keys:
        yield from metadata if isinstance(metadata, list | tuple) else (metadata,)


def _meta_passes(value: Any, condition: Meta) -> bool:
    if condition.operator == "present":
        return value is not None
    compare = _OPERATORS[condition.operator]
    if isinstance(condition.value, str):
        text = str(value).lower() if isinstance(value, bool) else value
        if not isinstance(text, str):
            return False
        if condition.operator == "=":
            return ascii_lower(text) == ascii_lower(condition.value)
        return _DAY.match(text) is not None and compare(text, condition.value)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and compare(value, condition.value)


def _tagged(document: Document, condition: Tagged) -> bool:
    check = all if condition.match == "all" else any
    return check(tag in document.tags for tag in condition.tags)


def _in_path(document: Document, condition: InPath) -> bool:
    return document.path is not None and matches(condition.pattern, document.path)


_LEAVES: dict[type, Callable[[Document, Any], bool]] = {
    Compare: _compare,
    OneOf: lambda document, c: getattr(document, c.field) in c.values,
    Meta: _meta,
    Tagged: _tagged,
    InRole: lambda document, c: c.role in document.roles or "all" in document.roles,
    InPath: _in_path,
    Visible: lambda document, c: not passes(document, hidden(c)),
}
