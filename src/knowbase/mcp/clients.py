"""The programs that agents run in, and what can be said when one is to know of a base."""

from typing import Annotated, NamedTuple

from knowbase.base.clients import CLIENTS
from knowbase.values.parameters import Param

READ_ONLY = Param("without the tools that write")
PROJECT = Param("only this project's documents; what is remembered belongs to it")


TOOLS = Param(
    "these tools alone, by name; or default, all, chatgpt: see docs/agents.md", metavar="NAME,NAME"
)


class Install(NamedTuple):
    client: Annotated[str, Param("the program that the agent runs in", choices=(*CLIENTS, "codex"))]
    name: Annotated[str, Param("what the server is called there")] = "knowbase"
    read_only: Annotated[bool, READ_ONLY] = False
    project: Annotated[str | None, PROJECT] = None
    tools: Annotated[tuple[str, ...], TOOLS] = ()
    write: Annotated[bool, Param("codex: write to the user's own file, too")] = False
    dry_run: Annotated[bool, Param("show what would be written, and write nothing")] = False
