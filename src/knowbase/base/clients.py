"""The programs that agents run in, and whether one of a folder knows of a base."""

import json
import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple


class Client(NamedTuple):
    """Where a program keeps its servers: a JSON file of the project, and the key in it."""

    path: str
    key: str
    typed: bool  # each server says that it is "stdio"
    then: str


CLIENTS = {
    "claude-code": Client(".mcp.json", "mcpServers", True, "start claude here and see /mcp"),
    "cursor": Client(
        os.path.join(".cursor", "mcp.json"), "mcpServers", False, "see Settings, MCP in Cursor"
    ),
    "vscode": Client(
        os.path.join(".vscode", "mcp.json"), "servers", True, "run “MCP: List Servers” in VS Code"
    ),
}


class KnownClient(NamedTuple):
    """A program of a folder that starts `kb mcp`, and whether it can."""

    client: str
    path: str
    command: str
    is_there: bool  # what it starts


def clients_in(folder: str) -> Iterator[KnownClient]:
    """The programs whose settings in this folder name `kb mcp`; what cannot be read names none."""
    for name, client in CLIENTS.items():
        path = os.path.join(folder, client.path)
        try:
            with open(path, encoding="utf-8-sig") as file:
                servers = json.load(file)[client.key].values()
            starts = [(str(one["command"]), list(one["args"])) for one in servers]
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            continue
        for command, words in starts:
            if "mcp" in words and ("knowbase.cli" in words or _is_kb(command)):
                yield KnownClient(name, path, command, shutil.which(command) is not None)


def _is_kb(command: str) -> bool:
    return os.path.basename(command).partition(".")[0] == "kb"
