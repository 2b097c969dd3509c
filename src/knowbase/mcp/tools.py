"""The tools: which operations agents get, under which names, and with which parameters.

What a tool takes and gives comes from the operation's declaration; here stands only what is
different for agents. A tool with actions stands for several operations about one thing: each word
of a schema costs tokens, and one schema is shorter than four.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from knowbase.contracts.entries import OPERATIONS as ENTRIES
from knowbase.errors import InvalidInput, NotAllowed
from knowbase.mcp.connectors import CONNECTORS
from knowbase.mcp.view import View
from knowbase.operations import load
from knowbase.operations.declare import Operation, held_to
from knowbase.operations.wire import refuse_too_long
from knowbase.values.access import Access
from knowbase.values.parameters import build, parameters, refuse_unknown

if TYPE_CHECKING:
    from knowbase.base import Base

PAGED = ("detail", "max_tokens", "cursor")
CHATGPT = "chatgpt"  # of --tools: the pair that ChatGPT's connectors ask for by name
ALL = "all"
DEFAULT = "default"
ON_REQUEST = ("kb_links", "kb_map", "kb_edit", "kb_session", "kb_saved")
"""Tools that --tools has to name: with them, a client would pay more than 3,000 tokens for all."""


_THEN = {"as_of": "moment"}


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
    actions: Mapping[str, Operation] = {}  # by the word that chooses one of them

    @property
    def writes(self) -> bool:
        return any(one.writes for one in self.operations)

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(self.actions.values()) or (self.operation,)

    def within(self, access: Access) -> "Tool | None":
        """The tool as far as this access reaches; None if it does not reach it at all."""
        if not self.actions:
            return self if allows(access, self.operation) else None
        actions = {word: one for word, one in self.actions.items() if allows(access, one)}
        return self._replace(actions=actions) if actions else None


def allows(access: Access, operation: Operation) -> bool:
    held = access.project is not None and operation.whole
    return (access.write or not operation.writes) and not held


class Call(NamedTuple):
    """What an agent asks for, once all of it is known to be right."""

    tool: Tool
    request: Any
    view: View

    @property
    def start(self) -> int:
        """The place that the cursor stands for; one of another call is refused."""
        place, dash, mark = (self.view.cursor or "").partition("-")
        if dash and mark != self._mark:
            raise InvalidInput(
                "this cursor belongs to another call",
                field="cursor",
                hint="the same arguments as before, or no cursor",
            )
        return self.view._replace(cursor=place).start if dash else self.view.start

    def cursor(self, place: int) -> str:
        """What goes on from there, for the same call alone."""
        return f"{place}-{self._mark}"

    @property
    def _mark(self) -> str:
        import hashlib

        unbound = {"explain": False, "facets": ()}  # two pages may differ in these
        fields = self.request._asdict() | unbound
        return hashlib.sha256(repr((self.tool.name, fields)).encode()).hexdigest()[:8]


def _several(  # noqa: PLR0913 - it declares one
    name: str, title: str, about: str, actions: Mapping[str, str], *,
    takes: tuple[str, ...], texts: Mapping[str, str] = {},
    view: tuple[str, ...] = (),
) -> Tool:  # fmt: skip
    known = {word: load(operation) for word, operation in actions.items()}
    first = next(iter(known.values()))
    return Tool(name, title, first, about, takes, (), view, texts, known)


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
            texts=_THEN,
            view=("max_tokens", "cursor"),
        ),
        Tool(
            "kb_list",
            "Browse",
            load("browse"),
            "The folders in a folder, and the documents below it, newest first.",
            takes=("folder", "tags", "type", "project", "as_of"),
            texts={"folder": "else the whole base", "tags": "with all of these", **_THEN},
            view=("cursor",),
        ),
        Tool(
            "kb_links",
            "Links",
            load("links"),
            "What a document links to, what links to it, and names that lead nowhere.",
            takes=("reference",),
        ),
        _several(
            "kb_map",
            "Map",
            "communities: groups of linked documents, with labels; rank: the most linked ones.",
            {"communities": "communities", "rank": "rank"},
            takes=("top",),
            texts={"top": "of rank"},
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
        _several(
            "kb_edit",
            "Edit",
            "forget or archive documents, restore them, or tag notes and memories.",
            {"forget": "forget", "archive": "archive", "restore": "restore", "tag": "tag"},
            takes=("references", "add", "remove"),
            texts={"references": "codes", "add": "tags", "remove": "tags"},
        ),
        _several(
            "kb_session",
            "Sessions",
            "Sessions of work: list, start, end with a summary, show what was made and used.",
            {"list": "sessions", "start": "session start", "end": "session end",
             "show": "session show"},
            takes=("session", "project", "summary"),
            texts={"session": "its name", "project": "of list, start", "summary": "of end"},
        ),
        _several(
            "kb_saved",
            "Saved searches",
            "Save a query under a name (a {place} in it is filled in later), list or run them.",
            {"run": "saved run", "list": "saved list", "add": "saved add"},
            takes=("name", "query", "set", "top", "replace"),
            texts={"query": "of add", "set": "of run: place=value", "top": "how many hits",
                   "replace": "of add: the one of this name"},
        ),
        Tool(
            "kb_timeline",
            "Timeline",
            load("timeline"),
            "What was made in the same project before and after a document.",
            takes=("anchor", "before", "after", "as_of"),
            texts=_THEN,
            view=("detail", "max_tokens"),
        ),
        Tool(
            "kb_brief",
            "Brief",
            load("brief"),
            "Decisions, lessons, what expires soon and recent sessions: read it before work"
            " starts.",
            texts=_THEN,
        ),
        Tool(
            "kb_feedback",
            "Feedback",
            load("feedback"),
            "Say whether a result helped; it counts once a session or a day.",
        ),
        Tool("kb_status", "Status", load("status"), "What the base holds and whether it is well."),
        *(Tool(name, title, CONNECTORS[name], CONNECTORS[name].summary)
          for name, title in (("search", "Search"), ("fetch", "Fetch"))),
    )  # fmt: skip
    return {tool.name: tool for tool in found}


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The names of the tools that --tools means; a word that means none is refused."""
    known = tuple(tools())
    own = tuple(name for name in known if name not in CONNECTORS)
    usual = tuple(name for name in own if name not in ON_REQUEST)
    groups = {DEFAULT: usual, ALL: own, CHATGPT: tuple(CONNECTORS)}
    for name in names:
        if name not in groups and name not in known:
            hint = "one of " + ", ".join((*groups, *known))
            raise InvalidInput(f"there is no tool {name!r}", field="tools", hint=hint)
    wanted = {one for name in names or (DEFAULT,) for one in groups.get(name, (name,))}
    return tuple(name for name in known if name in wanted)


def listed(access: Access, names: Sequence[str] = ()) -> list[Tool]:
    """The tools that a caller has."""
    found = (tools()[name].within(access) for name in chosen(names))
    return [tool for tool in found if tool is not None]


def call_of(tool: Tool, arguments: Mapping[str, Any], access: Access) -> Call:
    """The call, unless the access does not allow it or an argument is wrong."""
    tool, given = _decided(tool, arguments)
    if not allows(access, tool.operation):
        writes = tool.operation.writes and not access.write
        what = "writes" if writes else "concerns the whole base"
        raise NotAllowed(f"{_called(tool)} {what}, and this access does not allow that")
    refuse_too_long(tool.operation, given)
    own = _own(tool)
    refuse_unknown(given, (*own, *tool.view))
    for name in tool.needs:
        if not given.get(name):
            raise InvalidInput(f"{name} is missing", field=name, hint=tool.texts.get(name))
    view: View = build(View, {name: given[name] for name in tool.view if name in given})
    values = {name: given[name] for name in own if name in given}
    request = tool.operation.request
    return Call(tool, build(request, held_to(access.project, request, values)), view)


def _decided(tool: Tool, arguments: Mapping[str, Any]) -> tuple[Tool, Mapping[str, Any]]:
    """The tool with the operation that its action means, and what is left for that."""
    if not tool.actions:
        return tool, arguments
    given = dict(arguments)
    action = given.pop("action", None)
    if not isinstance(action, str) or action not in tool.actions:
        told = "action is missing" if action is None else f"action cannot be {str(action)[:40]!r}"
        raise InvalidInput(told, field="action", hint="one of " + ", ".join(tool.actions))
    return tool._replace(operation=tool.actions[action]), given


def _called(tool: Tool) -> str:
    words = [word for word, one in tool.actions.items() if one is tool.operation]
    return " ".join((tool.name, *words))


def _own(tool: Tool) -> tuple[str, ...]:
    """The parameters that an agent may give, in the order of the tool's list."""
    declared = tuple(field.name for field in parameters(tool.operation.request))
    return tuple(name for name in tool.takes if name in declared) if tool.takes else declared


def description_of(tool: Tool, base: "Base") -> str:
    """What a tool does; S4-24: a service is named where one is asked, and nowhere else."""
    service = base.models.service if tool.name == "kb_search" else None
    if service is None:
        return tool.description
    return f"{tool.description} Falls back to keyword-only if {service} is unavailable."
