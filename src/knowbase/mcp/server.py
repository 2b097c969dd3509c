"""The MCP server: each request becomes one call in a worker thread.

The SDK's low-level server, because it takes our own schemas and results as they are, and because
it is told what no client may see: whatever is not one of our errors is logged and masked.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

import knowbase
from knowbase.errors import KnowbaseError
from knowbase.logs import log
from knowbase.mcp import completions, prompts, resources
from knowbase.mcp.agents import Asking
from knowbase.mcp.greeting import INSTRUCTIONS
from knowbase.mcp.hearing import hearing
from knowbase.mcp.listeners import Clients, with_progress
from knowbase.mcp.running import Run, Threads
from knowbase.mcp.watching import Watching
from knowbase.values.access import current
from knowbase.values.visible import one_line

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.mcp.tools import Tool

MASKED = "something went wrong inside knowbase; its log says what"

Result = TypeVar("Result")


class Serving(NamedTuple):
    """A server, and what looks for changes while it runs."""

    server: Server[Any]
    watching: Watching
    clients: Clients


def build_server(base: "Base", run: Run | None = None, tools: "Sequence[str]" = ()) -> Serving:
    """A server for a base; what a request may see of it is what `access.current` says."""
    run = run or Threads(base.settings.serve_timeout)
    watching = Watching(base, run)
    clients = Clients(watching)
    handlers = _Handlers(base, run, clients, tools or base.settings.serve_tools)
    server: Server[Any] = Server(
        "knowbase",
        version=knowbase.__version__,
        title="knowbase",
        instructions=INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_completion=handlers.complete,
        on_subscribe_resource=clients.subscribe,
        on_unsubscribe_resource=clients.unsubscribe,
        on_subscriptions_listen=watching.listen,
    )
    # By its name: the newest protocol has levels in each request, and the SDK warns.
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, clients.set_level)
    return Serving(server, watching, clients)


class _Handlers:
    """What the server does with each kind of request."""

    def __init__(
        self, base: "Base", run: Run, clients: Clients, tools: "Sequence[str]" = ()
    ) -> None:
        self._base = base
        self._run = run
        self._clients = clients
        self._tools = tuple(tools)
        self._asking = Asking(base.shown)

    async def list_tools(self, _: Any, __: Any) -> types.ListToolsResult:
        return await self._protocol(lambda: _list_tools(self._seen(), self._tools))

    async def call_tool(
        self, context: Any, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if program := self._clients.program(context):
            self._asking.note(program)
        with hearing() as lines:
            result = await with_progress(context.session, lambda: self._answer(params))
            await self._clients.tell(context, lines)
        if isinstance(result, MCPError):
            raise result
        return result

    async def _answer(self, params: types.CallToolRequestParams) -> types.CallToolResult | MCPError:
        asked = partial(_call, self._seen, self._tools, params.name, params.arguments or {})
        try:
            return await self._run(asked)
        except MCPError as error:
            return error
        except KnowbaseError as error:
            _note(error)
            return _refused(error_text(error))
        except Exception as error:
            log("error", "a tool failed", tool=params.name, exc_info=error)
            return _refused(MASKED)

    async def list_resources(
        self, _: Any, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params else None
        return await self._protocol(lambda: resources.listing(self._seen(), cursor))

    async def list_templates(self, _: Any, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def read_resource(
        self, _: Any, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        try:
            return await self._protocol(lambda: resources.read(self._seen(), uri))
        except MCPError as error:
            data = {"uri": uri} if error.error.code == types.INVALID_PARAMS else None
            raise MCPError(error.error.code, error.error.message, data) from None

    async def list_prompts(self, _: Any, __: Any) -> types.ListPromptsResult:
        return prompts.listing()

    async def get_prompt(
        self, _: Any, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        given = params.arguments or {}
        return await self._protocol(lambda: prompts.get(self._seen(), params.name, given))

    async def complete(self, _: Any, params: types.CompleteRequestParams) -> types.CompleteResult:
        return await self._protocol(lambda: completions.complete(self._seen(), params))

    def _seen(self) -> "Base":
        """The base as the current request may see it."""
        return self._base.within(current.get())

    async def _protocol(self, work: Callable[[], Result]) -> Result:
        """The work, with errors as the protocol has them where there is no result to carry one."""
        try:
            return await self._run(work)
        except KnowbaseError as error:
            _note(error)
            raise MCPError(code=types.INVALID_PARAMS, message=error_text(error)) from None
        except Exception as error:
            log("error", "a request failed", exc_info=error)
            raise MCPError(code=types.INTERNAL_ERROR, message=MASKED) from None


def _note(error: KnowbaseError) -> None:
    """What is no fault of the caller's belongs in the log, with its cause."""
    if error.outside is not None:
        log("error", "a request failed", reason=error.message, exc_info=error)


def error_text(error: KnowbaseError) -> str:
    """An error as a model reads it: what is wrong, of which field, and what would be right; of
    trouble inside only which it is."""
    if error.outside is not None:
        return error.outside
    hint = "" if error.hint is None else f" ({error.hint})"
    field = f"{error.field}: " if error.field and error.field not in error.message else ""
    return one_line(f"{field}{error.message}{hint}")


def _refused(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)


def _list_tools(base: "Base", names: "Sequence[str]" = ()) -> types.ListToolsResult:
    from knowbase.mcp.tools import listed

    found = listed(current.get(), names)
    return types.ListToolsResult(tools=[_described(tool, base) for tool in found])


def _described(tool: "Tool", base: "Base") -> types.Tool:
    from knowbase.mcp.schemas import input_schema, output_schema
    from knowbase.mcp.tools import description_of

    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=description_of(tool, base),
        input_schema=input_schema(tool),
        output_schema=output_schema(tool),
        annotations=_hints(tool),
    )


def _hints(tool: "Tool") -> types.ToolAnnotations:
    """Of what reads, the other hints say nothing."""
    if not tool.writes:
        return types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return types.ToolAnnotations(
        read_only_hint=False,
        destructive_hint=False,  # what is superseded or forgotten can be brought back
        idempotent_hint=True,  # the same text, the same verdict: nothing happens twice
        open_world_hint=False,
    )


def _call(
    base: "Callable[[], Base]", names: "Sequence[str]", name: str, arguments: Mapping[str, Any]
) -> types.CallToolResult:
    from knowbase.mcp.answering import answer
    from knowbase.mcp.tools import call_of, chosen, listed, tools
    from knowbase.operations.wire import encodable

    tool = tools().get(name) if name in chosen(names) else None
    if tool is None:
        known = ", ".join(one.name for one in listed(current.get(), names))
        message = f"there is no tool {name!r} (one of {known})"
        raise MCPError(code=types.INVALID_PARAMS, message=message)
    call = call_of(tool, arguments, current.get())
    found = answer(call, base())
    links = map(resources.link_to, found.links)
    return types.CallToolResult(
        content=[types.TextContent(text=encodable(found.text)), *links],
        structured_content=encodable(found.data),
    )
