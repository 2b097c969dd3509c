"""Telling the programs that agents run in how to start `kb mcp`."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from knowbase.base.clients import CLIENTS, Client
from knowbase.errors import InvalidInput, ReadError
from knowbase.mcp.clients import Install
from knowbase.store.location import is_url, shown

MODULE = ("-m", "knowbase.cli")  # started so, and not by its script
CODEX = os.path.join("~", ".codex", "config.toml")


class Installed(NamedTuple):
    """What was written where, or what is to be put there."""

    client: str
    path: str
    text: str  # the server's part of the file
    written: bool
    changed: bool  # False: it stood there already
    notes: tuple[str, ...]


class Start(NamedTuple):
    """How the server is started."""

    command: str
    args: tuple[str, ...]
    notes: tuple[str, ...] = ()


class Block(NamedTuple):
    """What a program is to be told, and the file that it reads."""

    path: str
    text: str
    server: dict[str, Any]


def block_for(place: str, request: Install) -> Block:
    """What `install` writes, whatever stands there."""
    start = _start(place, request)
    make = _codex_block if request.client == "codex" else _json_block
    return make(start, request)


def is_in_codex() -> bool:
    """Whether the user's own file has a server that is `kb mcp`."""
    import tomllib

    try:
        servers = tomllib.loads(_read(os.path.expanduser(CODEX))).get("mcp_servers", {}).values()
        return any("mcp" in list(one.get("args", ())) and _is_ours(one) for one in servers)
    except (tomllib.TOMLDecodeError, InvalidInput, AttributeError, TypeError):
        return False


def _is_ours(server: Mapping[str, Any]) -> bool:
    name = os.path.basename(str(server.get("command", ""))).partition(".")[0]
    return name == "kb" or MODULE[1] in list(server.get("args", ()))


def install(place: str, request: Install) -> Installed:
    """Write the configuration of a server for the base at `place`, beside what is there."""
    start = _start(place, request)
    if request.client == "codex":
        return _codex(start, request)
    return _json(CLIENTS[request.client], start, request)


def _start(place: str, request: Install) -> Start:
    """A command that works from any folder; a password is never written down."""
    if request.tools:
        from knowbase.mcp.tools import chosen

        chosen(request.tools)
    script = shutil.which(sys.argv[0]) or ""
    is_script = os.path.basename(script).partition(".")[0] == "kb"
    command, args = (script, ["mcp"]) if is_script else (sys.executable, [*MODULE, "mcp"])
    notes: tuple[str, ...] = ()
    if is_url(place) and shown(place) != place:
        notes = ("the base's URL has a password: start the client with KB_BASE set to it",)
    else:
        args += ["--base", place]
    args += ["--read-only"] * request.read_only
    args += ["--project", request.project] if request.project else []
    args += ["--tools", ",".join(request.tools)] if request.tools else []
    return Start(os.path.abspath(command), tuple(args), notes)


def _json_block(start: Start, request: Install) -> Block:
    client = CLIENTS[request.client]
    server: dict[str, Any] = {"command": start.command, "args": list(start.args)}
    if client.typed:
        server = {"type": "stdio", **server}
    text = json.dumps({client.key: {request.name: server}}, ensure_ascii=False, indent=2)
    return Block(os.path.abspath(client.path), text, server)


def _json(client: Client, start: Start, request: Install) -> Installed:
    path, text, server = _json_block(start, request)
    whole = _read_json(path)
    servers = whole.setdefault(client.key, {})
    if not isinstance(servers, dict):
        raise _unusable(path, f"its {client.key} is not an object")
    changed = servers.get(request.name) != server
    servers[request.name] = server
    written = changed and not request.dry_run
    if written:
        _write(path, json.dumps(whole, ensure_ascii=False, indent=2) + "\n")
    return Installed(request.client, path, text, written, changed, (*start.notes, client.then))


def _read_json(path: str) -> dict[str, Any]:
    text = _read(path)
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _unusable(path, f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise _unusable(path, "it is not a JSON object")
    return found


def _codex_block(start: Start, request: Install) -> Block:
    server: dict[str, Any] = {"command": start.command, "args": list(start.args)}
    name = request.name if request.name.replace("-", "").isalnum() else json.dumps(request.name)
    lines = [f"[mcp_servers.{name}]", *(f"{key} = {_toml(value)}" for key, value in server.items())]
    return Block(os.path.expanduser(CODEX), "\n".join(lines), server)


def _codex(start: Start, request: Install) -> Installed:
    """TOML is appended to, never written anew: comments and order stay."""
    import tomllib

    path, text, server = _codex_block(start, request)
    before = _read(path)
    try:
        known = tomllib.loads(before).get("mcp_servers", {}).get(request.name)
    except (tomllib.TOMLDecodeError, AttributeError) as error:
        raise _unusable(path, f"it is not TOML: {error}") from error
    if known is not None and known != server and request.write:
        raise _unusable(path, f"it has another server {request.name!r} already")
    written = request.write and not request.dry_run and known is None
    if written:
        _write(path, f"{before.rstrip()}\n\n{text}\n".lstrip())
    then = "see /mcp in codex" if request.write else f"put this into {path}, or say --write"
    return Installed(request.client, path, text, written, known != server, (*start.notes, then))


def _toml(value: Any) -> str:
    """JSON strings and lists of them are TOML, too, except for one letter."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, "it cannot be read") from error


def _write(path: str, text: str) -> None:
    """All of it or nothing; a link stays one."""
    path = os.path.realpath(path)
    draft = f"{path}.{os.getpid()}.new"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(draft, "w", encoding="utf-8") as file:
            file.write(text)
        if os.path.exists(path):
            shutil.copymode(path, draft)
        os.replace(draft, path)
    except OSError as error:
        raise ReadError(f"{path} cannot be written", hint="see its permissions") from error
    finally:
        if os.path.exists(draft):
            os.remove(draft)


def _unusable(path: str, why: str) -> InvalidInput:
    return InvalidInput(
        f"{path} was left as it is: {why}",
        field="client",
        hint="put it right, or add by hand what --dry-run shows for an empty folder",
    )
