"""The tools: which operations agents get, under which names, and with which parameters.

What a tool takes and gives comes from the operation's declaration; here stands only what is
different for agents.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.contracts.entries import OPERATIONS as ENTRIES
from knowbase.errors import InvalidInput, NotAllowed
from knowbase.mcp.view import View
from knowbase.operations import load
from knowbase.operations.declare import Operation, held_to
from knowbase.operations.schema import Schema, request_schema, result_schema
from knowbase.operations.wire import refuse_too_long
from knowbase.values.access import Access
from knowbase.values.parameters import build, parameters, refuse_unknown

if TYPE_CHECKING:
    from knowbase.base import Base

NAMED_ONLY = ("Document", "FileRecord", "Source", "StoredModel", "SimilarDocument")
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
            "Read a document by its code, path or file name, or one section of it (CODE:slug).",
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


def description_of(tool: Tool, base: "Base") -> str:
    """What a tool does; S4-24: a service is named where one is asked, and nowhere else."""
    service = base.models.service if tool.name == "kb_search" else None
    if service is None:
        return tool.description
    return f"{tool.description} Falls back to keyword-only if {service} is unavailable."


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
    if tool.name in SAID_OF_ENTRIES:
        results = whole["properties"]["results"]
        results["items"] = SAID_OF_ENTRIES[tool.name](results["items"])
    if "cursor" in tool.view:
        whole["properties"]["next_cursor"] = {"description": "for the rest"}
    return whole


def _of_a_search(entry: Schema) -> Schema:
    """An entry as a search gives it."""
    fields = {name: part for name, part in entry["properties"].items() if name not in OF_RELATED}
    fields["content_cursor"] = {"description": "cut: kb_get's cursor"}
    return {**entry, "properties": fields}


def _of_related(entry: Schema) -> Schema:
    """The rest of an entry is as a search gives it, and described there."""
    fields = {name: part for name, part in entry["properties"].items() if name in OF_RELATED}
    return {**entry, "description": "an entry as kb_search gives it, and", "properties": fields}


OF_RELATED = ("relation", "shared_tags", "proximity")
SAID_OF_ENTRIES = {"kb_search": _of_a_search, "kb_get_related": _of_related}


def _short(schema: Schema, depth: int) -> Schema:
    """The properties of objects down to some depth, without saying which are always there; of
    what is described and has no parts, nothing else."""
    about = {name: schema[name] for name in ("description",) if name in schema}
    kinds = [part for part in schema.get("anyOf", ()) if part != {"type": "null"}]
    kinds = schema.get("allOf", kinds)
    if len(kinds) == 1:
        inner = _short({**kinds[0], **about}, depth)
        is_nullable = "anyOf" in schema and "type" in inner
        return {**inner, "type": [inner["type"], "null"]} if is_nullable else inner
    parts = schema.get("items", schema)
    if about and not ("properties" in parts and depth > 0):
        return about
    named = () if about else ("type", "enum")
    short = {name: part for name, part in schema.items() if name in named} | about
    if "items" in schema:
        short["items"] = _short(schema["items"], depth)
    if "properties" in schema and depth > 0 and schema.get("title") not in NAMED_ONLY:
        inside = {name: _short(part, depth - 1) for name, part in schema["properties"].items()}
        short["properties"] = inside
    return short
