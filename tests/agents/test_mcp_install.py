"""`kb mcp install`: the client's configuration, beside what is there."""

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

from conftest import Kb, environment

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
