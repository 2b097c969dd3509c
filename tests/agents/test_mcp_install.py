"""`kb mcp install`: the client's configuration, beside what is there."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import Implementation

from conftest import Kb, environment
from servers import serving, wait_until

FILES = {
    "claude-code": (".mcp.json", "mcpServers"),
    "cursor": (".cursor/mcp.json", "mcpServers"),
    "vscode": (".vscode/mcp.json", "servers"),
}


def start(server: dict[str, Any], cwd: Path) -> int:
    """How many tools a client finds that starts what the configuration says."""
    parameters = StdioServerParameters(
        command=server["command"], args=server["args"], cwd=cwd, env=environment()
    )

    async def run() -> int:
        async with Client(stdio_client(parameters)) as client:
            return len((await client.list_tools()).tools)

    return anyio.run(run)


@pytest.mark.parametrize("client", FILES)
def test_what_is_written_works_from_any_folder(kb: Kb, tmp_path: Path, client: str) -> None:
    name, key = FILES[client]
    done = kb("mcp", "install", "--client", client)
    assert "written to" in done.out
    server = json.loads((kb.folder / name).read_text())[key]["knowbase"]
    assert Path(server["command"]).is_absolute()
    assert str(kb.base) in server["args"]
    assert server.get("type", "stdio") == "stdio"
    assert start(server, tmp_path) == 9
    assert "already in" in kb("mcp", "install", "--client", client).out


def test_other_servers_and_settings_stay(kb: Kb) -> None:
    before = {
        "inputs": [{"id": "ü"}],
        "servers": {"other": {"type": "http", "url": "https://x.example"}, "knowbase": {"old": 1}},
    }
    path = kb.write(".vscode/mcp.json", json.dumps(before))
    kb("mcp", "install", "--client", "vscode", "--name", "notes", "--read-only")
    after = json.loads(path.read_text(encoding="utf-8"))
    notes = after["servers"].pop("notes")
    assert notes["args"][-1] == "--read-only"
    assert after == before


@pytest.mark.parametrize(
    "text", ['{"mcpServers": {', "// mine\n{}", "[1]", '{"mcpServers": [1]}', b"\xff\xfe\x00"]
)
def test_a_file_that_cannot_be_understood_is_left_as_it_is(kb: Kb, text: str | bytes) -> None:
    path = kb.write(".mcp.json", text)
    before = path.read_bytes()
    assert "was left as it is" in kb.error("mcp", "install", "--client", "claude-code", code=2)
    assert path.read_bytes() == before
    assert [one.name for one in kb.folder.iterdir() if "mcp.json" in one.name] == [".mcp.json"]


def test_a_dry_run_writes_nothing(kb: Kb) -> None:
    told = kb.json("mcp", "install", "--client", "cursor", "--dry-run")
    assert (told["written"], told["changed"]) == (False, True)
    assert "knowbase" in json.loads(told["text"])["mcpServers"]
    assert not (kb.folder / ".cursor").exists()


def test_codex_is_shown_what_to_add_and_gets_it_when_told_to(kb: Kb, tmp_path: Path) -> None:
    home = tmp_path / "home"
    config = home / ".codex" / "config.toml"
    config.parent.mkdir(parents=True)
    mine = '# mine\nmodel = "o"\n[mcp_servers.other]\ncommand = "x"\n'
    config.write_text(mine)
    env = {"HOME": str(home)}
    shown = kb.json("mcp", "install", "--client", "codex", env=env)
    assert shown["written"] is False
    assert config.read_text() == mine
    assert kb.json("mcp", "install", "--client", "codex", "--write", env=env)["written"] is True
    written = config.read_text()
    assert written.startswith(mine.rstrip())
    servers = tomllib.loads(written)["mcp_servers"]
    assert servers["other"] == {"command": "x"}
    assert servers["knowbase"] == tomllib.loads(shown["text"])["mcp_servers"]["knowbase"]
    assert start(servers["knowbase"], tmp_path) == 9
    again = kb.json("mcp", "install", "--client", "codex", "--write", env=env)
    assert (again["written"], again["changed"]) == (False, False)
    kb.error("mcp", "install", "--client", "codex", "--write", "--read-only", code=2, env=env)
    assert config.read_text() == written


def test_a_password_is_never_written_down() -> None:
    from knowbase.mcp.clients import Install
    from knowbase.mcp.install import install

    told = install("postgresql://me:secret@db.example/notes", Install("claude-code", dry_run=True))
    assert "secret" not in str(told)
    assert "KB_BASE" in told.notes[0]
    plain = install("postgresql://me@db.example/notes", Install("claude-code", dry_run=True))
    assert "postgresql://me@db.example/notes" in plain.text


def test_the_commands_are_in_help_and_completion(kb: Kb) -> None:
    assert "mcp install" in kb("--help").out
    assert "--read-only" in kb("help", "mcp").out
    assert "--client" in kb("help", "mcp", "install").out
    assert "--client" in kb("mcp", "install", "--help").out
    for shell in ("bash", "zsh", "fish"):
        script = kb("completion", shell).out
        assert "mcp" in script
        assert "read-only" in script
    loaded = subprocess.run(
        ["bash", "-c", kb("completion", "bash").out], capture_output=True, check=False
    )
    assert loaded.returncode == 0, loaded.stderr


def test_help_loads_nothing_of_the_protocol(kb: Kb) -> None:
    import sys

    code = (
        "import sys, knowbase.cli; knowbase.cli.main(['help', 'mcp'])\n"
        "sys.exit('mcp' in sys.modules or 'pydantic' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=kb.folder, env=environment(), capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0


def test_programs_are_shown_with_what_they_are_to_be_told_and_when_they_asked(kb: Kb) -> None:
    def shown() -> dict[str, Any]:
        told = kb.json("mcp", "clients")
        return {one["client"]: one for one in told["clients"]} | {"others": told["others"]}

    before = shown()
    assert {one["asked_at"] for one in before.values() if isinstance(one, dict)} == {None}
    assert before["others"] == []
    kb("mcp", "install", "--client", "cursor")
    assert shown()["cursor"]["is_told"]
    assert not shown()["vscode"]["is_told"]
    written = json.loads((kb.folder / ".cursor" / "mcp.json").read_text())
    assert json.loads(before["cursor"]["text"]) == written
    assert tomllib.loads(before["codex"]["text"])["mcp_servers"]["knowbase"]
    for name in ("cursor-vscode", "somebody-else"):
        call_as(kb, name)
    after = shown()
    assert after["cursor"]["asked_at"]
    assert after["vscode"]["asked_at"] is None
    assert [one["name"] for one in after["others"]] == ["somebody-else"]
    assert "cursor: asked 20" in kb("mcp", "clients").out


def call_as(kb: Kb, name: str) -> None:
    """A program of this name calls a tool."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "knowbase.cli", "mcp", "--base", str(kb.base)],
        cwd=kb.folder,
        env=environment(),
    )

    async def run() -> None:
        info = Implementation(name=name, version="1")
        async with Client(stdio_client(parameters), client_info=info) as client:
            await client.call_tool("kb_status", {})

    anyio.run(run)


def test_a_program_that_asks_over_http_is_known_by_its_session(kb: Kb) -> None:
    accepts = {"Accept": "application/json, text/event-stream"}
    told = {"protocolVersion": "2025-06-18", "capabilities": {}}

    def message(method: str, **params: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    def has_asked() -> bool:
        clients = kb.json("mcp", "clients")["clients"]
        return any(one["asked_at"] for one in clients if one["client"] == "vscode")

    with serving(kb.folder, env={"KB_EMBED_BACKGROUND": "false"}) as running:
        program = {"name": "Visual Studio Code", "version": "1"}
        begun = message("initialize", **told, clientInfo=program)
        answer = running.client.post("/mcp", json=begun, headers=accepts)
        assert not has_asked()
        headers = {**accepts, "Mcp-Session-Id": answer.headers["Mcp-Session-Id"]}
        called = message("tools/call", name="kb_status", arguments={})
        assert running.client.post("/mcp", json=called, headers=headers).status_code == 200
        wait_until(has_asked)
