"""What an operation takes and gives, as JSON Schema: for MCP tools and OpenAPI."""

import ast
import inspect
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from threading import Lock
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from knowbase.operations.declare import Operation
from knowbase.operations.described import description_of
from knowbase.operations.grammar import FEWEST, NOT_BLANK, Known, constraints
from knowbase.values.kinds import MOST_WHOLE
from knowbase.values.parameters import MOST_ITEMS, Parameter, parameters

Schema = dict[str, Any]

_PARSING = Lock()
"""Python 3.11 counts the depth of a syntax tree for all threads together; two at once may fail."""

_KINDS = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def request_schema(request: type) -> Schema:
    """The object that an operation takes; what it does not name is refused."""
    known = parameters(request)
    return {
        "type": "object",
        "properties": {field.name: _field_schema(field) for field in known},
        "required": [field.name for field in known if field.required],
        "additionalProperties": False,
    }


def _field_schema(field: Parameter) -> Schema:
    param = field.param
    one: Schema = {"type": "string" if field.kind is tuple else _KINDS[field.kind]}
    if param.choices:
        one["enum"] = list(param.choices)
    if param.least is not None:
        one["minimum"] = param.least
    if param.most is not None:
        one["maximum"] = param.most
    if param.format is not None:
        one["format"] = param.format
    if param.of is not None:
        one = request_schema(param.of)
    whole: Schema = {"type": "array", "items": one} if field.kind is tuple else one
    if field.default not in (None, (), ""):
        whole["default"] = field.default
    return {**whole, "description": param.text}


def exact_schema(operation: Operation, known: Known) -> Schema:
    """The same to the letter, for programs that check by it: what may be null, how long a list
    may be, and how texts are read. Agents are spared it: they pay for each word."""
    return exact_object(operation.request, known, operation.terminal.input_field)


def exact_object(request: type, known: Known, asked: str | None = None) -> Schema:
    """`asked` is what a terminal asks for, and nobody else does."""
    fields = parameters(request)
    return {
        "type": "object",
        "properties": {one.name: _exact_field(one, known, one.name == asked) for one in fields},
        "required": [one.name for one in fields if one.required or one.name == asked],
        "additionalProperties": False,
    }


def _exact_field(field: Parameter, known: Known, is_asked: bool) -> Schema:
    schema = _field_schema(field)
    if field.param.of is not None:
        items = exact_object(field.param.of, known)
        return {**schema, "items": items, "minItems": 1, "maxItems": MOST_ITEMS}
    if field.kind is tuple:
        items = schema["items"] | constraints(field, known)
        if "enum" in items and not field.required:
            items["enum"] = [*items["enum"], ""]  # what is empty is left out
        schema["items"] = items
        if field.required:
            schema["items"].setdefault("pattern", NOT_BLANK)
            schema["minItems"] = FEWEST.get(field.param.grammar, 1)
        if not field.param.positional:
            schema["maxItems"] = MOST_ITEMS
    else:
        schema |= constraints(field, known)
    if field.kind is int:
        schema = {"minimum": 1 - MOST_WHOLE, "maximum": MOST_WHOLE - 1, **schema}
    return schema if field.required or is_asked else _or_null(schema)


def _or_null(schema: Schema) -> Schema:
    enum = {"enum": [*schema["enum"], None]} if "enum" in schema else {}
    return {**schema, **enum, "type": [schema["type"], "null"]}


def result_schema(operation: Operation) -> Schema:
    """The JSON that an operation gives, from the annotation of what runs it."""
    return type_schema(result_type(operation))


def result_type(operation: Operation) -> Any:
    """What an operation gives, as it is annotated."""
    names = _names(operation.run.__module__)
    return get_type_hints(operation.run, localns=names)["return"]


def type_schema(hint: Any) -> Schema:
    """The schema of a type that results are made of."""
    if hint in _KINDS:
        return {"type": _KINDS[hint]}
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return {"anyOf": [type_schema(part) for part in parts]}
    if origin is Literal:
        return {"enum": list(parts)}
    if hasattr(hint, "_fields"):
        return _object_schema(hint)
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": type_schema(parts[1])}
    if origin is tuple and parts[1:] != (...,):
        return {"type": "array", "prefixItems": [type_schema(part) for part in parts]}
    if origin is not None and parts:
        return {"type": "array", "items": type_schema(parts[0])}
    return {}


@cache
def hints_of(kind: Any) -> Mapping[str, Any]:
    """The types of a named tuple's fields."""
    return get_type_hints(kind, localns=_names(kind.__module__))


@cache
def _object_schema(kind: Any) -> Schema:
    hints = hints_of(kind)
    unshown = kind.unshown() if hasattr(kind, "unshown") else ()
    shown = [name for name in kind._fields if name not in unshown]
    return {
        "type": "object",
        "title": kind.__name__,
        "properties": {name: _described(kind.__name__, name, hints[name]) for name in shown},
        "required": shown,
    }


def _described(result: str, field: str, hint: Any) -> Schema:
    """A field with what it is; an object that is described elsewhere stays as it is, beside it."""
    schema, text = type_schema(hint), description_of(result, field)
    if text is None:
        return schema
    return {**({"allOf": [schema]} if "title" in schema else schema), "description": text}


@cache
def _names(module: str) -> Mapping[str, Any]:
    """The names that a module's annotations use, also those that only a type checker imports."""
    home = import_module(module)
    names = dict(vars(home))
    with _PARSING:
        tree = ast.parse(inspect.getsource(home))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                names |= _imports(statement)
    return names


def _imports(statement: ast.stmt) -> dict[str, Any]:
    """What `from module import Name` brings; nothing else stands in such a block."""
    if not isinstance(statement, ast.ImportFrom) or statement.module is None:
        return {}
    home = import_module(statement.module)
    return {alias.asname or alias.name: getattr(home, alias.name) for alias in statement.names}
