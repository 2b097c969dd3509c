"""JSON as the values that it was made of, by the types that operations are annotated with."""

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from knowbase.operations.schema import hints_of
from knowbase.search.answer import Hit
from knowbase.values.documents import FIELDS, Document
from knowbase.values.notes import Noted


def typed(hint: Any, value: Any) -> Any:
    """The value of a type."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _one_of(parts, value)
    if hasattr(hint, "_fields") and isinstance(value, Mapping):
        return _named(hint, value)
    if origin in (dict, Mapping) and isinstance(value, Mapping):
        return {name: typed(parts[1], one) for name, one in value.items()}
    if origin is tuple and isinstance(value, list):
        kinds = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        return tuple(typed(kind, one) for kind, one in zip(kinds, value, strict=True))
    if origin is not None and parts and isinstance(value, list):
        return origin(typed(parts[0], one) for one in value) if isinstance(origin, type) else value
    return value


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    """Of several types, the one whose fields these are."""
    if value is None:
        return None
    others = [kind for kind in kinds if kind is not NoneType]
    if not isinstance(value, Mapping) or len(others) == 1:
        return typed(others[0], value)
    fitting = [one for one in others if set(value) <= set(getattr(one, "_fields", ()))]
    return typed((fitting or others)[0], value)


def _named(kind: Any, value: Mapping[str, Any]) -> Any:
    """A named tuple; what a newer server says beside its fields is left out."""
    if kind is Document:
        return _document(value)
    hints = hints_of(kind)
    given = {name: typed(hints[name], value[name]) for name in kind._fields if name in value}
    if kind is Hit:  # its document is no part of the JSON
        given["document"] = _document({**value, "seq": 0, "updated_at": ""})
    return kind(**given)


def _document(value: Mapping[str, Any]) -> Document:
    """As much of it as is said."""
    hints = hints_of(Document)
    known = {name: typed(hints[name], value[name]) for name in FIELDS if name in value}
    return Noted.of(Document(**known), value.get("notices", ()))
