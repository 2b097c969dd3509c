"""The tools: which operations agents get, under which names, and with which parameters.

What a tool takes and gives comes from the operation's declaration; here stands only what is
different for agents.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from knowbase.contracts.entries import OPERATIONS as ENTRIES
from knowbase.errors import InvalidInput, NotAllowed
from knowbase.mcp.view import View
from knowbase.operations import load
from knowbase.operations.declare import Operation, held_to
from knowbase.operations.schema import Schema, request_schema, result_schema
from knowbase.operations.wire import refuse_too_long
from knowbase.values.access import Access
from knowbase.values.parameters import build, parameters, refuse_unknown

NAMED_ONLY = (
    "Document",
    "FileRecord",
    "Source",
    "StoredModel",
    "SimilarDocument",
    "Unread",
    "Suspect",
)
"""Objects whose fields are told by docs/agents.md, not by each schema."""

PAGED = ("detail", "max_tokens", "cursor")


class Tool(NamedTuple):
    """An operation as agents see it."""

    name: str
    title: str
    operation: Operation
    description: str
    takes: tuple[str, ...] = ()  # of the operation's parameters; all of them when empty
    needs: tuple[str, ...] = ()  # those that an agent has to give beside the declared ones
    view: tuple[str, ...] = ()  # of the parameters of View
    texts: Mapping[str, str] = {}  # descriptions that are of no use to an agent, told anew

    @property
    def writes(self) -> bool:
        return self.operation.writes

    def allowed(self, access: Access) -> bool:
        """Whether this access reaches as far as the tool does."""
        held = access.project is not None and self.operation.whole
        return (access.write or not self.writes) and not held


class Call(NamedTuple):
    """What an agent asks for, once all of it is known to be right."""

    tool: Tool
    request: Any
    view: View


@cache
def tools() -> Mapping[str, Tool]:
    """All tools by their names."""
    search, related = ENTRIES["kb_search"], ENTRIES["kb_get_related"]
    found = (
        Tool("kb_search", "Search", search, search.summary, view=PAGED),
        Tool("kb_get_related", "Related entries", related, related.summary, view=PAGED),
        Tool(
            "kb_get",
            "Read",
            load("get"),
            "Read a document, or one section of it (CODE:slug), as search results name them.",
            view=("max_tokens", "cursor"),
        ),
        Tool(
            "kb_remember",
            "Remember",
            load("remember"),
            "Keep a decision, lesson or fact for later work. A text that is known already is not"
            " written twice; similar ones are told.",
            takes=(
                "text", "type", "title", "tags", "project", "roles", "confidence", "session",
                "ttl", "supersede",
            ),
            needs=("text",),
            texts={"text": "what to keep, understandable without this conversation"},
        ),
        Tool(
            "kb_timeline",
            "Timeline",
            load("timeline"),
            "What was made in the same project before and after a document.",
            takes=("anchor", "before", "after"),
            view=("detail", "max_tokens"),
        ),
        Tool(
            "kb_brief",
            "Brief",
            load("brief"),
            "Decisions, lessons, what expires soon and recent sessions: read it before work"
            " starts.",
        ),
        Tool(
            "kb_feedback",
            "Feedback",
            load("feedback"),
            "Say whether a result helped; it counts once a session or a day.",
        ),
        Tool("kb_status", "Status", load("status"), "What the base holds and whether it is well."),
    )  # fmt: skip
    return {tool.name: tool for tool in found}


def listed(access: Access) -> list[Tool]:
    """The tools that a caller has."""
    return [tool for tool in tools().values() if tool.allowed(access)]


def call_of(tool: Tool, arguments: Mapping[str, Any], access: Access) -> Call:
    """The call, unless the access does not allow it or an argument is wrong."""
    if not tool.allowed(access):
        what = "writes" if tool.writes and not access.write else "concerns the whole base"
        raise NotAllowed(f"{tool.name} {what}, and this access does not allow that")
    refuse_too_long(tool.operation, arguments)
    own = _own(tool)
    refuse_unknown(arguments, (*own, *tool.view))
    for name in tool.needs:
        if not arguments.get(name):
            raise InvalidInput(f"{name} is missing", field=name, hint=tool.texts.get(name))
    view: View = build(View, {name: arguments[name] for name in tool.view if name in arguments})
    given = {name: arguments[name] for name in own if name in arguments}
    request = tool.operation.request
    return Call(tool, build(request, held_to(access.project, request, given)), view)


def _own(tool: Tool) -> tuple[str, ...]:
    return tool.takes or tuple(field.name for field in parameters(tool.operation.request))


def input_schema(tool: Tool) -> Schema:
    """What a tool takes; whatever it does not name is refused."""
    whole, view = request_schema(tool.operation.request), request_schema(View)
    properties = {name: whole["properties"][name] for name in _own(tool)}
    for name, text in tool.texts.items():
        properties[name] = {**properties[name], "description": text}
    properties |= {name: view["properties"][name] for name in tool.view}
    required = [*tool.needs, *(name for name in whole["required"] if name in properties)]
    return {**whole, "properties": properties, "required": required}


def output_schema(tool: Tool) -> Schema:
    """What a tool gives, told shortly: agents pay for each word of it."""
    whole = _short(result_schema(tool.operation), 2)
    if "cursor" in tool.view:
        whole["properties"]["next_cursor"] = {"type": "string"}
    return whole


def _short(schema: Schema, depth: int) -> Schema:
    """The properties of objects down to some depth, without saying which are always there."""
    kinds = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    if len(kinds) == 1:
        inner = _short(kinds[0], depth)
        return {**inner, "type": [inner["type"], "null"]} if "type" in inner else {}
    short = {name: part for name, part in schema.items() if name in ("type", "enum")}
    if "items" in schema:
        short["items"] = _short(schema["items"], depth)
    if "properties" in schema and depth > 0 and schema.get("title") not in NAMED_ONLY:
        inside = {name: _short(part, depth - 1) for name, part in schema["properties"].items()}
        short["properties"] = inside
    return short
