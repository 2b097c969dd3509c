"""What a tool takes and gives, as JSON Schema: short, since agents pay for each word of it."""

from typing import Any

from knowbase.contracts.entries import OPERATIONS as ENTRIES
from knowbase.mcp.tools import Tool
from knowbase.mcp.view import View
from knowbase.operations.schema import Schema, request_schema, result_schema

GIVES: dict[str, dict[str, str]] = {
    "kb_search": {
        "results": "the entries, best first",
        "metadata": "about the answer",
    },
    "kb_get_related": {
        "results": "entries as kb_search gives them, and",
        "metadata": "about the answer",
    },
    "kb_get": {
        "document": "id, code, title, type, tags, path, project, dates",
        "text": "its text, or a part of it",
        "sections": "of the text: section, heading, line, page",
        "current": "the code of what has taken its place",
    },
    "kb_list": {
        "folder": "its path",
        "folders": "in it: folder, documents (how many)",
        "documents": "newest first, as kb_get has them",
        "total": "how many documents there are",
    },
    "kb_links": {
        "document": "code and title",
        "links": "relation, direction, document, weight",
        "unresolved": "target and kind of names that lead nowhere",
    },
    "kb_map": {
        "communities": "label, size, central, codes",
        "documents": "score, document, links_to_it",
    },
    "kb_remember": {
        "document": "as kb_get has it",
        "created": "false: it was known already",
        "similar": "document, similarity, opening",
        "superseded": "the document whose place it takes",
    },
    "kb_edit": {"documents": "as they are now", "total": "how many can be restored"},
    "kb_session": {
        "sessions": "of list: id, project, started_at, ended_at, summary, uses",
        "id": "of start and end: the session",
        "used": "of show: document, usage, used_at",
    },
    "kb_saved": {
        "saved": "of list: name, query, options, parameters (places)",
        "name": "of add: the search",
        "hits": "of run: code, title, path, section, line, snippet …",
    },
    "kb_timeline": {
        "anchor": "the document",
        "before": "made before it",
        "after": "made after it",
        "sessions": "by document id",
    },
    "kb_brief": {
        "text": "the brief",
        "tokens": "of the text",
        "left_out": "found no room",
    },
    "kb_feedback": {
        "document": "as it is now",
        "verdict": "good or bad",
        "counted": "false: said before",
    },
    "kb_status": {
        "documents": "how many",
        "model": "of the vectors",
        "sources": "folders and files",
        "problems": "unread files",
    },
    "search": {"results": "best first: id, title, url"},
    "fetch": {
        "id": "its code",
        "title": "its title",
        "text": "the whole of it",
        "url": "its resource",
        "metadata": "type, path, project, tags, updated_at",
    },
}
"""What an answer has, as agents are told of it. An answer may have more: docs/agents.md."""

OF_RELATED = ("relation", "shared_tags", "proximity")
SELDOM = ("is_relaxed",)  # a line of the text says what it means


def input_schema(tool: Tool) -> Schema:
    """What a tool takes; whatever it does not name is refused."""
    declared: dict[str, Any] = {}
    required: set[str] = set()
    for operation in tool.operations:
        whole = request_schema(operation.request)
        declared = {**whole["properties"], **declared}
        required |= set(whole["required"]) if not tool.actions else set()
    properties = {name: declared[name] for name in tool.takes or declared if name in declared}
    for name, text in tool.texts.items():
        if name in properties:
            properties[name] = {**properties[name], "description": text}
    if tool.operation.name not in ENTRIES:  # those are as their document has them
        properties = {name: _without_bounds(part) for name, part in properties.items()}
    view = request_schema(View)["properties"]
    properties |= {name: _without_bounds(view[name]) for name in tool.view}
    if tool.actions:
        properties = {"action": {"type": "string", "enum": list(tool.actions)}, **properties}
        required = {"action"}
    needed = [name for name in properties if name in required or name in tool.needs]
    return {
        "type": "object",
        "properties": properties,
        **({"required": needed} if needed else {}),
        "additionalProperties": False,
    }


def _without_bounds(schema: Schema) -> Schema:
    """Said shortly: who gives a value beyond its bounds is told them."""
    return {name: part for name, part in schema.items() if name not in ("minimum", "maximum")}


def output_schema(tool: Tool) -> Schema:
    """What a tool gives, told shortly; each field that is named is described."""
    whole: Schema = {}
    for operation in tool.operations:
        whole |= _properties(result_schema(operation))
    properties: Schema = {
        name: {"description": text} for name, text in GIVES[tool.name].items() if name in whole
    }
    if tool.name in ("kb_search", "kb_get_related"):
        is_related = tool.name == "kb_get_related"
        entry = _fields(whole["results"]["items"])
        entry = {name: part for name, part in entry.items() if (name in OF_RELATED) == is_related}
        entry = {name: part for name, part in entry.items() if name not in SELDOM}
        if not is_related:
            entry["content_cursor"] = {"description": "cut: kb_get's cursor"}
        properties["results"]["items"] = {"type": "object", "properties": entry}
        properties["metadata"]["properties"] = _fields(whole["metadata"])
    if "cursor" in tool.view:
        properties["next_cursor"] = {"description": "cursor of what follows"}
    return {"type": "object", "properties": properties}


def _properties(schema: Schema) -> Schema:
    """The fields of a result, or of each of several that it may be."""
    merged: Schema = {}
    for kind in schema.get("anyOf", (schema,)):
        merged |= kind.get("properties", {})
    return merged


def _fields(schema: Schema) -> Schema:
    return {
        name: {"description": part["description"]}
        for name, part in _properties(schema.get("allOf", (schema,))[0]).items()
    }
