"""Write src/operations.ts: the types of the API, from its own description (/openapi.json)."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import knowbase.http.application  # noqa: F401 - what the declarations speak of
from knowbase.http.openapi import document
from knowbase.operations.grammar import Known

TARGET = Path(__file__).parent / "src" / "operations.ts"
PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
PLAIN |= {"null": "null"}


def types() -> str:
    described = document(Known((), ()), "/")
    schemas = described["components"]["schemas"]
    parts = ["// Written by web/api_types.py from the API's own description; not to be edited."]
    parts += [f"export type {name} = {_type(schema)};" for name, schema in schemas.items()]
    parts.append("/** What each operation takes and gives, by its name. */")
    parts.append("export interface Operations {")
    parts += list(_operations(described["paths"]))
    return "\n".join([*parts, "}", ""])


def _operations(paths: Mapping[str, Any]) -> Iterable[str]:
    for path, methods in paths.items():
        told = methods.get("post")
        if told is None or not path.startswith("/api/"):
            continue
        body = told.get("requestBody", {}).get("content", {}).get("application/json", {})
        answer = told["responses"]["200"]["content"].get("application/json", {})
        takes, gives = _type(body.get("schema", {})), _type(answer.get("schema", {}))
        yield f'  "{path.removeprefix("/api/")}": {{ takes: {takes}; gives: {gives} }};'


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for word, sign in (("anyOf", " | "), ("oneOf", " | "), ("allOf", " & ")):
        if word in schema:
            return sign.join(dict.fromkeys(_type(one) for one in schema[word]))
    if "enum" in schema or "const" in schema:
        return "string" if "enum" in schema else _literal(schema["const"])
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_type({**schema, "type": one}) for one in kind)
    if kind == "array":
        return _array(schema)
    if kind == "object" or "properties" in schema:
        return _object(schema)
    return PLAIN.get(str(kind), "unknown")


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def _array(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    return f"({_type(schema.get('items', {}))})[]"


def _object(schema: Mapping[str, Any]) -> str:
    needed = set(schema.get("required", ()))
    fields = [
        f'"{name}"{"" if name in needed else "?"}: {_type(one)}'
        for name, one in schema.get("properties", {}).items()
    ]
    if fields:
        return "{ " + "; ".join(fields) + " }"
    more = schema.get("additionalProperties")
    return f"Record<string, {_type(more) if isinstance(more, Mapping) else 'unknown'}>"


if __name__ == "__main__":
    TARGET.write_text(types(), encoding="utf-8")
