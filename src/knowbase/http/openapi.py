"""OpenAPI 3.1 of what is served, from the operations' declarations."""

from collections import defaultdict
from typing import Any

import knowbase
from knowbase.http.failures import STATUSES
from knowbase.http.negotiation import JSON, PROBLEM
from knowbase.http.served import methods_of, served
from knowbase.operations.declare import TEXT_KB, Operation
from knowbase.operations.grammar import Known
from knowbase.operations.schema import Schema, exact_schema, result_schema
from knowbase.values.parameters import parameters

ABOUT = "A knowledge base: put files and notes in, find them by words and by meaning."


def document(known: Known | None = None, url: str = "/") -> dict[str, Any]:
    """The whole description, of the server at this URL; `known` is what its base knows."""
    shared, known = _Shared(), known or Known()
    paths: dict[str, Any] = {
        path: _path(operation, shared, known) for path, operation in served().items()
    }
    for path, (summary, media) in _OWN.items():
        paths[path] = {"get": _own(path, summary, media)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "knowbase", "version": knowbase.__version__, "description": ABOUT},
        "servers": [{"url": url}],
        "paths": paths,
        "components": {
            "schemas": {**shared.schemas, "Error": _ERROR, "ProblemDetails": _PROBLEM},
            "responses": _error_responses(),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


_OWN = {
    "/health": ("Whether the server is alive and its base can be read", "application/json"),
    "/health/live": ("Whether the server is alive", "application/json"),
    "/health/ready": ("Whether its base can be read", "application/json"),
    "/api/events": ("Changes and progress, as server-sent events", "text/event-stream"),
    "/metrics": ("Numbers for Prometheus", "text/plain"),
}

_TEXT: Schema = {"type": ["string", "null"]}
_ERROR: Schema = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string", "description": "which error it is, for programs"},
                "message": {"type": "string", "description": "what is wrong, for people"},
                "field": {**_TEXT, "description": "the parameter or header that it is about"},
                "hint": {**_TEXT, "description": "what it may be, or what to do"},
            },
            "required": ["code", "message", "field", "hint"],
        }
    },
    "required": ["error"],
}


_PROBLEM: Schema = {
    "type": "object",
    "description": "RFC 9457, for who asks for application/problem+json",
    "properties": {
        "type": {"type": "string", "format": "uri", "description": "which kind of problem it is"},
        "title": {"type": "string", "description": "that kind in a few words"},
        "status": {"type": "integer", "description": "the status of the response"},
        "detail": {"type": "string", "description": "what is wrong with this request"},
        **_ERROR["properties"]["error"]["properties"],
    },
    "required": ["type", "title", "status", "detail", "code"],
}


class _Shared:
    """Objects that results have in common, each described once."""

    def __init__(self) -> None:
        self.schemas: dict[str, Schema] = {}

    def put(self, schema: Any) -> Any:
        """The schema with its named objects put aside; two of one name stay where they are."""
        if isinstance(schema, list):
            return [self.put(one) for one in schema]
        if not isinstance(schema, dict):
            return schema
        made = {name: self.put(part) for name, part in schema.items()}
        title = schema.get("title")
        if schema.get("type") != "object" or not isinstance(title, str):
            return made
        if self.schemas.setdefault(title, made) != made:
            return made
        return {"$ref": f"#/components/schemas/{title}"}


def _path(operation: Operation, shared: _Shared, known: Known) -> dict[str, Any]:
    answer = {
        "description": "the result",
        "content": {"application/json": {"schema": shared.put(result_schema(operation))}},
    }
    schema = exact_schema(operation, known)
    return {
        method.lower(): _method(operation, method, schema, answer)
        for method in methods_of(operation)
    }


def _method(operation: Operation, method: str, schema: Schema, answer: Schema) -> dict[str, Any]:
    identity = operation.name.replace(" ", "_").replace("-", "_")
    told: dict[str, Any] = {
        "operationId": identity if method == "POST" else f"{identity}_by_query",
        "summary": operation.summary,
        "tags": ["writing" if operation.writes else "reading"],
        "responses": {
            "200": answer,
            "default": {"$ref": "#/components/responses/Error"},
            **{
                str(status): {"$ref": f"#/components/responses/E{status}"}
                for status in (401, 403, 422)
            },
        },
    }
    if method == "POST":
        needed = bool(schema["required"])
        content = {"application/json": {"schema": schema}}
        told["requestBody"] = {"required": needed, "content": content}
        if operation.most_kb < TEXT_KB:  # else serve.max_request_kb
            told["x-max-kb"] = operation.most_kb
    else:
        told["parameters"] = [
            _parameter(field.name, schema) for field in parameters(operation.request)
        ]
    return told


def _parameter(name: str, schema: Schema) -> dict[str, Any]:
    described = _without_null(schema["properties"][name])
    return {
        "name": name,
        "in": "query",
        "required": name in schema["required"],
        "description": described.pop("description"),
        "schema": described,
    }


def _without_null(schema: Schema) -> Schema:
    """No text of a URL is null: what is not said is left out."""
    told = dict(schema)
    if isinstance(told["type"], list):
        told["type"] = told["type"][0]
        if "enum" in told:
            told["enum"] = [one for one in told["enum"] if one is not None]
    return told


def _own(path: str, summary: str, media: str) -> dict[str, Any]:
    schema: Schema = {"type": "object"} if media == "application/json" else {"type": "string"}
    return {
        "operationId": path.strip("/").replace("/", "_"),
        "summary": summary,
        "tags": ["server"],
        "responses": {
            "200": {"description": "the answer", "content": {media: {"schema": schema}}},
            "default": {"$ref": "#/components/responses/Error"},
        },
    }


def _error_responses() -> dict[str, Any]:
    texts: dict[int, list[str]] = defaultdict(list)
    for _, status, text in STATUSES:
        texts[status].append(text)
    content = {
        JSON: {"schema": {"$ref": "#/components/schemas/Error"}},
        PROBLEM: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}},
    }
    listed = "; ".join(f"{status}: {' or '.join(told)}" for status, told in sorted(texts.items()))
    return {
        "Error": {"description": listed, "content": content},
        **{
            f"E{status}": {"description": " or ".join(texts[status]), "content": content}
            for status in (401, 403, 422)
        },
    }
