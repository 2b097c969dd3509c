"""What the server says unasked, or on the way: changes, progress, log lines; and completions."""

import json
import time
from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import pytest
from agent import PATIENCE, in_process, over_stdio
from mcp import Client
from mcp_types import (
    LOG_LEVEL_META_KEY,
    CompleteRequestParams,
    PromptReference,
    ResourceTemplateReference,
)
from test_mcp_http import ACCEPT, PING

import knowbase
from conftest import Kb
from knowbase import Note
from knowbase.base.references import References
from knowbase.mcp import listeners, watching, web
from knowbase.mcp.completions import complete
from knowbase.values.access import Access
from servers import Served, serving

ORIGIN = "https://wiki.example.com"
EVENTS = {"Accept": "text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def asking(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
def test_a_changed_document_notifies_over_stdio(kb: Kb) -> None:
    code = kb.json("remember", "Tea is green")["document"]["code"]
    told: list[str] = []

    async def heard(message: Any) -> None:
        uri = getattr(getattr(message, "params", None), "uri", None)
        if uri is not None:
            told.append(str(uri))

    async def work(client: Client) -> None:
        await client.session.subscribe_resource(f"kb://document/{code}")
        await client.session.subscribe_resource("kb://document/NOT-YET")
        with knowbase.open(str(kb.base)) as base:
            base.lifecycle.archive([code])
            await until(lambda: f"kb://document/{code}" in told)
            base.remember(Note("New", code="NOT-YET"))
        await until(lambda: "kb://document/NOT-YET" in told)
        await client.session.unsubscribe_resource(f"kb://document/{code}")

    over_stdio(kb, work, era="legacy", heard=heard)
    assert told == [f"kb://document/{code}", "kb://document/NOT-YET"]


@pytest.fixture(scope="module")
def server(handbook: Kb) -> Iterator[Served]:
    with serving(handbook.folder, env={"KB_SERVE_ORIGINS": ORIGIN}) as served:
        yield served


async def until(is_so: Any) -> None:
    with anyio.fail_after(PATIENCE):
        while not is_so():
            await anyio.sleep(0.05)


def test_streams_tell_what_their_token_may_see_and_end_when_the_server_stops(
    own_handbook: Kb,
) -> None:
    """A client of either era, over HTTP; SIGTERM ends both streams at once."""
    kb = own_handbook
    kb("remember", "Apollo flies in May", "--project", "apollo", "--code", "AP-1")
    token = str(kb.json("token", "new", "--scope", "read", "--project", "apollo")["token"])
    headers = {"Authorization": f"Bearer {token}"}
    with serving(kb.folder, env={"KB_SERVE_SHUTDOWN": "60"}) as server:
        with httpx2.Client(base_url=server.address, headers=headers, timeout=PATIENCE) as client:
            begun = client.post("/mcp", json=HELLO, headers=ACCEPT)
            named = {"Mcp-Session-Id": begun.headers["mcp-session-id"]}
            for uri in ("kb://document/HB-T-0021", "kb://document/AP-1"):
                asked = asking("resources/subscribe", uri=uri)
                got = client.post("/mcp", json=asked, headers={**ACCEPT, **named})
                assert got.json()["result"] == {}
            with (
                client.stream("GET", "/mcp", headers={**EVENTS, **named}) as old,
                client.stream("POST", "/mcp", json=LISTEN, headers={**ACCEPT, **MODERN}) as new,
            ):
                of_old, of_new = events(old), events(new)
                assert next(of_new)["method"] == "notifications/subscriptions/acknowledged"
                with knowbase.open(str(kb.base)) as base:
                    base.lifecycle.archive(["HB-T-0021", "AP-1"])
                for told in (next(of_old), next(of_new)):
                    assert told["method"] == "notifications/resources/updated"
                    assert told["params"]["uri"] == "kb://document/AP-1"
                server.process.terminate()
                assert list(of_old) == []
                assert [one["id"] for one in of_new] == [7]  # the listening's own answer
        assert server.process.wait(PATIENCE) == 0
        assert "Traceback" not in server.log.read_text()


MODERN = {
    "Mcp-Protocol-Version": "2026-07-28",
    "Mcp-Method": "subscriptions/listen",
}
LISTEN = asking(
    "subscriptions/listen",
    notifications={"resourceSubscriptions": ["kb://document/AP-1", "kb://document/HB-T-0021"]},
    _meta={
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    },
)


def events(response: Any) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_a_call_tells_progress_and_log_lines_when_it_is_asked_to(server: Served) -> None:
    params = {"name": "kb_search", "arguments": {"query": "deploy"}}
    post = server.client.post
    plain = post("/mcp", json=asking("tools/call", **params), headers=ACCEPT)
    assert plain.headers["content-type"] == "application/json"
    meta = {"progressToken": "p"}
    told = post("/mcp", json=asking("tools/call", **params, _meta=meta), headers=ACCEPT)
    first, *_, last = events(told)
    assert first["method"] == "notifications/progress"
    assert first["params"]["progressToken"] == "p"
    assert last["result"]["structuredContent"]["results"]
    begun = post("/mcp", json=HELLO, headers=ACCEPT)
    named = {**ACCEPT, "Mcp-Session-Id": begun.headers["mcp-session-id"]}
    post("/mcp", json=asking("logging/setLevel", level="info"), headers=named)
    heard = post("/mcp", json=asking("tools/call", **params), headers=named)
    lines = [one for one in events(heard) if one.get("method") == "notifications/message"]
    assert lines
    facts = [value for one in lines for key, value in one["params"]["data"].items()
             if key != "event"]  # fmt: skip
    assert all(isinstance(one, int | float) for one in facts)
    post("/mcp", json=asking("logging/setLevel", level="error"), headers=named)
    quiet = post("/mcp", json=asking("tools/call", **params), headers=named)
    assert [one for one in events(quiet) if "method" in one] == []
    modern = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        LOG_LEVEL_META_KEY: "info",
    }
    headers = {**MODERN, **ACCEPT, "Mcp-Method": "tools/call", "Mcp-Name": "kb_search"}
    new = post("/mcp", json=asking("tools/call", **params, _meta=modern), headers=headers)
    assert any(one.get("method") == "notifications/message" for one in events(new))


def test_codes_tags_projects_and_saved_searches_are_completed(own_handbook: Kb) -> None:
    kb = own_handbook
    kb("remember", "Apollo flies in May", "--project", "apollo")
    kb("remember", "Ares flies in June", "--project", "ares")
    kb("saved", "add", "on-call", "incident tag:{team}")

    def template(name: str) -> ResourceTemplateReference:
        return ResourceTemplateReference(type="ref/resource", uri=f"kb://{name}")

    async def values(client: Client, ref: Any, name: str, typed: str) -> list[str]:
        found = await client.complete(ref, {"name": name, "value": typed})
        return list(found.completion.values)

    async def work(client: Client) -> None:
        codes = await values(client, template("document/{code}"), "code", "hb-t-002")
        assert "HB-T-0021" in codes
        assert all(one.startswith("HB-T-002") for one in codes)
        assert "security" in await values(client, template("tag/{tag}"), "tag", "sec")
        assert await values(client, template("saved/{name}"), "name", "on") == ["on-call"]
        brief = PromptReference(type="ref/prompt", name="session_brief")
        assert await values(client, brief, "project", "ap") == ["apollo"]
        assert await values(client, brief, "project", "x") == []
        tagged = await client.read_resource("kb://tag/security")
        assert "HB-T-0025" in str(tagged.contents[0])
        project = await client.read_resource("kb://project/ares")
        assert "Ares flies in June" in str(project.contents[0])

    in_process(kb, work)

    async def held(client: Client) -> None:
        brief = PromptReference(type="ref/prompt", name="session_brief")
        assert await values(client, brief, "project", "") == ["apollo"]
        assert await values(client, template("document/{code}"), "code", "HB") == []

    in_process(kb, held, access=Access(project="apollo"))


def test_many_codes_are_completed_at_once() -> None:
    class Many:
        @property
        def store(self) -> "Many":
            return self

        def codes(self) -> list[str]:
            return [f"KB-{number}" for number in range(20_000)]

    asked = CompleteRequestParams(
        ref=ResourceTemplateReference(type="ref/resource", uri="kb://document/{code}"),
        argument={"name": "code", "value": "kb-"},  # type: ignore[arg-type]
    )
    began = time.monotonic()
    assert complete(Many(), asked).completion.total == 20_000  # type: ignore[arg-type]
    assert time.monotonic() - began < 5


def test_what_is_watched_and_not_there_is_compared_with_nothing(
    kb: Kb, monkeypatch: pytest.MonkeyPatch
) -> None:
    kb("remember", "Tea is green", "--code", "TEA")
    with knowbase.open(str(kb.base)) as base:

        def fails(*_: Any) -> str:
            raise AssertionError("looked for what is near")

        monkeypatch.setattr(References, "nearest", fails)
        uris = [f"kb://document/{one}" for one in ("TEA", "TEA:x", "NONE", "NONE:x")]
        marks = watching._marks(base, Access(), uris)
    assert [marks[uri] is None for uri in uris] == [False, False, True, True]
    assert marks[uris[0]] == marks[uris[1]]


class Dropped:
    """Stands for what is watched: who was dropped."""

    def __init__(self) -> None:
        self.names: list[object] = []

    def drop(self, who: object) -> None:
        self.names.append(who)


def test_who_has_a_stream_is_remembered_and_who_left_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dropped = Dropped()
    clients = listeners.Clients(dropped)  # type: ignore[arg-type]
    monkeypatch.setattr(listeners, "MOST_SESSIONS", 3)
    first, *others = (listeners.Name(one, Access()) for one in "abcdef")

    async def run() -> None:
        stream = clients.stream(first)
        for other in others:
            clients._mailbox(other)
        assert dropped.names == others[:3]  # not the oldest, which listens
        stream.close()
        clients.left(first)
        assert first not in dropped.names  # it may come back
        again = clients.stream(first)
        monkeypatch.setattr(listeners, "RETURN", 0.0)
        clients.left(None)
        assert first not in dropped.names
        again.close()
        clients.left(first)
        assert dropped.names[-1] == first
        assert first not in clients._mailboxes
        assert others[-1] in clients._mailboxes  # it never had a stream that could end

    anyio.run(run)


def test_a_stream_of_listening_ends_as_others_do(
    own_handbook: Kb, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who listens has to come back with a token that is still good."""
    assert watching.LONGEST == web.LONGEST
    monkeypatch.setattr(watching, "LONGEST", 0.2)
    with knowbase.open(str(own_handbook.base)) as base:
        application = web.app(base)

        async def run() -> list[dict[str, Any]]:
            transport = httpx2.ASGITransport(app=application)
            async with (
                application.router.lifespan_context(application),
                httpx2.AsyncClient(transport=transport, base_url="http://x") as client,
            ):
                with anyio.fail_after(PATIENCE):
                    got = await client.post("/mcp", json=LISTEN, headers={**ACCEPT, **MODERN})
                return list(events(got))

        first, last = anyio.run(run)
    assert first["method"] == "notifications/subscriptions/acknowledged"
    assert last["id"] == LISTEN["id"]
    assert "result" in last


def test_pages_of_known_origins_may_ask_with_the_headers_of_the_protocol(server: Served) -> None:
    wanted = "content-type,authorization,mcp-protocol-version,mcp-session-id,mcp-method,mcp-name"
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": wanted,
    }
    allowed = server.client.options("/mcp", headers=asked)
    assert allowed.status_code == 200
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    told = allowed.headers["access-control-allow-headers"].lower()
    assert set(wanted.split(",")) <= {one.strip() for one in told.split(",")}
    begun = server.client.post("/mcp", json=HELLO, headers={**ACCEPT, "Origin": ORIGIN})
    assert begun.headers["access-control-allow-origin"] == ORIGIN
    assert "mcp-session-id" in begun.headers["access-control-expose-headers"].lower()
    foreign = server.client.options("/mcp", headers={**asked, "Origin": "https://evil.example"})
    assert foreign.status_code in (400, 403)


@pytest.mark.parametrize("era", ["", "2026-07-28"])
def test_what_is_not_json_is_a_parse_error(server: Served, era: str) -> None:
    version = {"Mcp-Protocol-Version": era} if era else {}
    headers = {**ACCEPT, "Content-Type": "application/json", **version}
    for body in (b"{", b"", b"\xff\xfe", b"[" * 100_000, b"NaN", b'{"a": 1'):
        got = server.client.post("/mcp", content=body, headers=headers)
        assert got.status_code == 400, body[:10]
        assert got.json()["error"]["code"] == -32700, body[:10]
        assert got.json()["id"] is None
    right = server.client.post("/mcp", json=PING, headers=ACCEPT)
    assert right.status_code == 200
