"""`kb mcp` as a process: what it loads, prints and leaves behind."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from typing import IO, Any

import anyio
import pytest
from agent import ERAS, PATIENCE, call, over_stdio, text_of
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextResourceContents

from conftest import COMMAND, Kb, environment
from knowbase.base import Base
from knowbase.config import Settings
from knowbase.mcp.server import MASKED, build_server
from knowbase.values.access import Access

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def searching(number: int, query: str) -> dict[str, Any]:
    params = {"name": "kb_search", "arguments": {"query": query}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def started(kb: Kb, *options: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*COMMAND, *options, "mcp"],
        cwd=kb.folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def send(stream: IO[bytes] | None, *messages: dict[str, Any]) -> None:
    assert stream is not None
    for message in messages:
        stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


@pytest.mark.parametrize("era", ERAS)
def test_clients_of_both_eras_are_served(handbook: Kb, era: str) -> None:
    async def work(client: Client) -> CallToolResult:
        assert len((await client.list_tools()).tools) == 9
        if era == "legacy":  # later clients are not greeted
            assert "kb_search" in (client.instructions or "")
        return await client.call_tool("kb_search", {"query": "deploy", "limit": 1})

    result = over_stdio(handbook, work, era=era)
    assert result.structured_content["results"][0]["code"] == "HB-T-0021"


def test_nothing_but_the_protocol_is_printed_and_it_leaves_with_its_client(handbook: Kb) -> None:
    server = started(handbook)
    send(server.stdin, HELLO, READY, searching(2, "deploy"), {"not": "a message"})
    assert server.stdout is not None
    answers = {one["id"]: one for one in (json.loads(server.stdout.readline()) for _ in range(3))}
    assert answers[1]["result"]["serverInfo"]["name"] == "knowbase"
    assert answers[2]["result"]["isError"] is False
    out, err = server.communicate(timeout=PATIENCE)  # closes its standard input
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in out.splitlines())
    assert b"Traceback" not in err
    assert server.returncode == 0


def test_what_was_asked_before_the_client_leaves_is_answered(handbook: Kb) -> None:
    server = started(handbook)
    send(server.stdin, HELLO, READY, *(searching(number, "deploy") for number in range(2, 12)))
    out, err = server.communicate(timeout=PATIENCE)  # closes its standard input at once
    assert {json.loads(line)["id"] for line in out.splitlines()} == set(range(1, 12))
    assert (server.returncode, err) == (0, b"")


def test_it_leaves_although_nobody_reads_its_answers(handbook: Kb) -> None:
    server = started(handbook)
    assert server.stdout is not None
    server.stdout.close()
    send(server.stdin, HELLO, READY, *(searching(number, "deploy") for number in range(2, 12)))
    assert server.stdin is not None
    server.stdin.close()
    assert server.wait(PATIENCE) == 0


def test_one_interrupt_on_a_terminal_ends_it(handbook: Kb) -> None:
    ours, terminal = pty.openpty()
    server = subprocess.Popen(
        [*COMMAND, "mcp"],
        cwd=handbook.folder,
        env=environment(),
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    assert server.stderr is not None
    assert server.stdout is not None
    assert b"Ctrl-C stops" in server.stderr.readline()
    os.write(ours, json.dumps(HELLO).encode() + b"\n")
    assert server.stdout.readline()
    server.send_signal(signal.SIGINT)
    assert server.wait(PATIENCE) == -signal.SIGINT
    server.communicate()
    os.close(ours)


def test_it_can_be_stopped(handbook: Kb) -> None:
    server = started(handbook)
    send(server.stdin, HELLO)
    assert server.stdout is not None
    assert server.stdout.readline()
    server.send_signal(signal.SIGTERM)
    server.communicate(timeout=PATIENCE)
    assert server.returncode == -signal.SIGTERM


def test_it_dies_with_whoever_started_it(handbook: Kb) -> None:
    """The starting process is killed: the server's standard input closes, and it leaves."""
    starter = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen({[*COMMAND, 'mcp']!r}, stdin=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", starter],
        cwd=handbook.folder,
        env=environment(),
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate(timeout=PATIENCE)  # until the child, too, has let go of the pipe
    with pytest.raises(ProcessLookupError):
        _wait_until_gone(child)


def _wait_until_gone(pid: int) -> None:
    """Raises ProcessLookupError as soon as there is no such process."""
    for _ in range(int(PATIENCE / 0.05)):
        os.kill(pid, 0)
        if _is_zombie(pid):
            raise ProcessLookupError
        anyio.run(anyio.sleep, 0.05)


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return False


def test_no_model_is_loaded_before_a_call_needs_it(handbook: Kb) -> None:
    """A handshake and a list of tools: neither numpy nor a model, nor a reader of files."""
    code = (
        "import sys, knowbase.cli\n"
        "code = knowbase.cli.main(['mcp'])\n"
        "heavy = ('numpy', 'onnxruntime', 'tokenizers', 'sqlite_vec', 'markdown_it', 'psycopg')\n"
        "print(code, [name for name in heavy if name in sys.modules], file=sys.stderr)\n"
    )
    tools = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    server = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=handbook.folder,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    send(server.stdin, HELLO, READY, tools)
    assert server.stdout is not None
    for _ in range(2):
        assert "error" not in json.loads(server.stdout.readline())
    _, err = server.communicate(timeout=PATIENCE)
    assert err.decode().strip() == "0 []"


def test_requests_are_served_side_by_side(handbook: Kb) -> None:
    """S4-21"""

    async def work(client: Client) -> list[list[str]]:
        queries = ["deploy", "expenses", "holiday", "release", "on call"] * 3
        found: list[list[str]] = [[] for _ in queries]

        async def ask(place: int) -> None:
            result = await client.call_tool("kb_search", {"query": queries[place], "limit": 3})
            found[place] = [entry["code"] for entry in result.structured_content["results"]]

        async with anyio.create_task_group() as group:
            for place in range(len(queries)):
                group.start_soon(ask, place)
        return found

    found = over_stdio(handbook, work)
    assert all(found)
    assert found[:5] == found[5:10] == found[10:]


class Broken:
    """A base with a fault that nobody thought of."""

    settings, shown = Settings(), "broken"

    def within(self, _: Access) -> Base:
        raise RuntimeError("SELECT secret FROM inside")


@pytest.mark.parametrize("era", ERAS)
def test_what_goes_wrong_inside_is_logged_and_masked(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    """S4-18, S4-19, C32"""
    server = build_server(Broken()).server  # type: ignore[arg-type]

    async def run() -> None:
        async with Client(server, mode=era) as client:
            result = await client.call_tool("kb_search", {"query": "x"})
            assert result.is_error
            assert text_of(result) == MASKED
            for asked in (
                client.list_resources(),
                client.read_resource("kb://document/X"),
                client.get_prompt("session_brief", {}),
            ):
                with pytest.raises(MCPError) as caught:
                    await asked
                assert str(caught.value) == MASKED

    anyio.run(run)
    assert caplog.text.count("RuntimeError: SELECT secret FROM inside") == 4
    assert "Traceback" in caplog.text


def test_a_base_that_breaks_is_told_without_its_insides(own_handbook: Kb) -> None:
    """S4-19, C32"""
    server = started(own_handbook)
    send(server.stdin, HELLO, READY)
    assert server.stdout is not None
    server.stdout.readline()
    own_handbook.base.write_bytes(b"no database any more " * 4096)
    for end in ("-wal", "-shm"):
        path = own_handbook.base.with_name(own_handbook.base.name + end)
        path.unlink(missing_ok=True)
    send(server.stdin, searching(2, "deploy"))
    answer = json.loads(server.stdout.readline())["result"]
    _, err = server.communicate(timeout=PATIENCE)
    assert b"Traceback" in err
    assert answer["isError"] is True
    assert answer["content"][0]["text"] == "the base cannot be used now"


def test_without_a_base_it_says_so_and_does_not_start(tmp_path: Any) -> None:
    kb = Kb(tmp_path)
    assert "there is no base" in kb.error("mcp", code=4)


def test_documents_are_resources(handbook: Kb) -> None:
    async def work(client: Client) -> None:
        first = await client.list_resources()
        assert first.resources[0].uri.startswith("kb://document/")
        templates = await client.list_resource_templates()
        assert templates.resource_templates[0].uri_template == "kb://document/{code}"
        whole = (await client.read_resource("kb://document/HB-T-0021")).contents[0]
        section = (await client.read_resource("kb://document/HB-T-0021:freeze")).contents[0]
        assert isinstance(whole, TextResourceContents)
        assert isinstance(section, TextResourceContents)
        assert whole.text == handbook.json("get", "HB-T-0021")["text"]
        assert section.text in whole.text
        for wrong in ("kb://document/HB-T-9999", "kb://nothing/x", "file:///etc/passwd"):
            with pytest.raises(MCPError, match="there is no"):
                await client.read_resource(wrong)

    over_stdio(handbook, work)


def test_saved_searches_are_resources(own_handbook: Kb) -> None:
    own_handbook("saved", "add", "freezes", "deploy freeze")
    own_handbook("saved", "add", "about", "{topic} tag:ops")

    async def work(client: Client) -> None:
        listed = {one.uri: one for one in (await client.list_resources()).resources}
        assert listed["kb://saved/about"].description == "needs ?topic=…"
        found = (await client.read_resource("kb://saved/freezes")).contents[0]
        assert isinstance(found, TextResourceContents)
        hits = own_handbook.json("saved", "run", "freezes")["hits"]
        assert [hit["section"] for hit in hits] == re.findall(r"^- \[([^]]+)\]", found.text, re.M)
        await client.read_resource("kb://saved/about?topic=rollback%20plan")
        with pytest.raises(MCPError, match="about needs a value for topic"):
            await client.read_resource("kb://saved/about")
        with pytest.raises(MCPError, match="there is no saved search 'nobody'"):
            await client.read_resource("kb://saved/nobody")

    over_stdio(own_handbook, work)


def test_resources_are_listed_page_by_page(kb: Kb) -> None:
    for number in range(60):
        kb.write(f"notes/{number}.md", f"# Note {number}\n\nText {number}\n")
    kb("add", "notes", "--defer")

    async def work(client: Client) -> set[str]:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        assert (len(first.resources), second.next_cursor) == (50, None)
        return {one.uri for one in (*first.resources, *second.resources)}

    assert len(over_stdio(kb, work)) == 60


def test_prompts_recall_what_is_known_and_brief_a_session(kb: Kb) -> None:
    kb("remember", "We use React with TypeScript", "--type", "decision", "--project", "web")

    async def work(client: Client) -> None:
        assert {one.name for one in (await client.list_prompts()).prompts} == {
            "recall",
            "session_brief",
        }
        recall = await client.get_prompt("recall", {"task": "choose a user interface library"})
        brief = await client.get_prompt("session_brief", {"project": "web"})
        for prompt in (recall, brief):
            assert "We use React with TypeScript" in prompt.messages[0].content.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="task is missing"):
            await client.get_prompt("recall", {})
        with pytest.raises(MCPError, match="unknown argument 'x'"):
            await client.get_prompt("recall", {"task": "t", "x": "y"})
        with pytest.raises(MCPError, match="one of recall, session_brief"):
            await client.get_prompt("poem", {})

    over_stdio(kb, work)


def test_an_unknown_tool_is_an_error_that_names_the_tools(handbook: Kb) -> None:
    async def work(client: Client) -> None:
        with pytest.raises(MCPError, match="one of kb_search, kb_get_related"):
            await client.call_tool("kb_delete", {})

    over_stdio(handbook, work)


def test_one_project_is_all_that_is_seen_when_the_server_is_held_to_it(kb: Kb) -> None:
    ours = kb.json("remember", "Our tea is green", "--project", "ours")["document"]["code"]
    other = kb.json("remember", "Their tea is black", "--project", "theirs")["document"]["code"]

    async def work(client: Client) -> None:
        found = await client.call_tool("kb_search", {"query": "tea"})
        assert [one["code"] for one in found.structured_content["results"]] == [ours]
        asked = (("kb_get", "reference"), ("kb_timeline", "anchor"), ("kb_get_related", "entry_id"))
        for tool, key in asked:
            refused = await client.call_tool(tool, {key: other})
            assert refused.is_error
            assert "Their tea" not in text_of(refused)
        with pytest.raises(MCPError):
            await client.read_resource(f"kb://document/{other}")
        listed = await client.list_resources()
        assert [one.name for one in listed.resources] == [ours]
        brief = await client.call_tool("kb_brief", {})
        assert "Their" not in text_of(brief)
        for one in ("kb_brief", "kb_remember"):
            wanted = {"text": "x"} if one == "kb_remember" else {}
            refused = await client.call_tool(one, {**wanted, "project": "theirs"})
            assert refused.is_error
            assert "this access is for another project" in text_of(refused)
        with pytest.raises(MCPError, match="this access is for another project"):
            await client.get_prompt("session_brief", {"project": "theirs"})
        made = await client.call_tool("kb_remember", {"text": "Coffee is for guests"})
        assert made.structured_content["document"]["project"] == "ours"
        assert "kb_status" not in {tool.name for tool in (await client.list_tools()).tools}

    over_stdio(kb, work, "--project", "ours")
    assert call(kb, "kb_get", reference=other).is_error is False
