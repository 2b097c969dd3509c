"""What a server does beside answering: it makes vectors that are missing, and keeps a log."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client

import knowbase
import services
from conftest import COMMAND, Kb, environment
from knowbase.base.background import WORK
from servers import PATIENCE, serving

TWO = {"text": "Ask Zoë."}
SAID = "quota of team-blue exceeded"  # by the service: nobody else's business
DEBUG = ("--log-level", "debug", "--log-format", "json")
PHASES = {"embedding_ms", "semantic_ms", "keyword_ms", "rrf_ms"}


@pytest.fixture
def service() -> Iterator[services.Service]:
    with services.service() as running:
        yield running


@pytest.fixture
def served(kb: Kb, service: services.Service) -> Kb:
    kb.write(
        "kb.toml",
        f"[embed]\nmodel = 'service:m'\nurl = '{service.url}'\ncache_mb = 0\nquery_timeout = 1\n",
    )
    return kb


def until(condition: Callable[[], bool]) -> None:
    patience = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < patience, "it never happens"
        time.sleep(0.1)


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def slowly(_: object) -> bool:
    """Long enough for two servers to be at it."""
    time.sleep(0.5)
    return False


def facts_of(log: Path) -> dict[str, dict[str, Any]]:
    """The last line of each event."""
    return {line["event"]: line for line in lines(log)}


def test_a_memory_is_kept_while_the_service_is_away_and_embedded_later(
    served: Kb, service: services.Service
) -> None:
    """S3-24, S3-44, S4-19, S4-18, S4-30, S2-27, S4-08, C20: it is said; where the service is and
    what it said is in the log alone."""
    address = service.url.removeprefix("http://").removesuffix("/v1")
    service.always = services.status(400, SAID)
    with serving(served.folder, *DEBUG) as running:
        kept = running.post("remember", text="Deploys freeze on Fridays.")
        assert kept.status_code == 200
        assert kept.json()["created"]
        assert "until its vectors are made" in kept.json()["notices"][0]
        for noted in (running.post("note", text="Ask Ada."), running.post("notes", notes=[TWO])):
            assert "until its vectors are made" in noted.json()["notices"][0]
            assert address not in noted.text
        told = served("note", "Ask Bob.", "--base", running.address).out
        assert "until its vectors are made" in told
        found = running.post("search", query="deploys")
        assert found.json()["returned"] == 1
        assert found.json()["fallback_mode"]
        assert found.json()["search_modes_used"] == ["keyword"]
        refused = running.post("search", query="deploys", mode="semantic")
        assert refused.status_code == 503
        for answer in (kept, found, refused):
            assert SAID not in answer.text
            assert address not in answer.text
        failed = facts_of(running.log)["embedding service failed"]
        assert (failed["address"], failed["said"], failed["retries"]) == (address, SAID, 0)
        assert failed["level"] == "error"

        service.always = None
        until(lambda: running.json("status")["embedded"] == 4)
        found = running.post("search", query="when may I ship", mode="semantic")
        assert found.json()["returned"] == 4
        running.json("search", query="")
        running.json("search", query="deploys", project="web")
    assert_named(facts_of(running.log))


def assert_named(facts: dict[str, dict[str, Any]]) -> None:
    """Every event and field has its name in the documents."""
    assert facts["embedded in the background"]["chunks"] == 4
    complete = facts["Hybrid search complete"]
    assert complete["level"] == "info"
    assert {"total", "returned", "mode", "ms"} <= complete.keys()
    assert {"query_time_ms", "result_count", *PHASES} <= complete.keys()
    assert facts["Search phases"].keys() >= PHASES
    assert facts["Search phases"]["level"] == facts["Query embedded"]["level"] == "debug"
    assert facts["Query embedded"]["model"] == "m"
    assert facts["FTS search"]["project_id"] == "web"
    assert facts["Vector search starting"]["project_id"] == "web"
    assert {"FTS search complete", "Vector search complete", "Empty FTS query"} <= facts.keys()


def test_agents_server_logs_and_embeds_too(served: Kb, tmp_path: Path) -> None:
    """S4-18, S3-24, S3-44"""
    served("note", "Deploys freeze on Fridays.", env={"KB_EMBED_VECTORS": "false"})
    assert served.json("status")["embedded"] == 0
    log = tmp_path / "mcp.log"
    started = StdioServerParameters(
        command=COMMAND[0],
        args=[*COMMAND[1:], "mcp", *DEBUG],
        cwd=served.folder,
        env=environment(),
    )

    async def work() -> None:
        with log.open("w") as errors:
            async with Client(stdio_client(started, errlog=errors)) as client:
                for _ in range(int(PATIENCE * 10)):
                    status = await client.call_tool("kb_status", {})
                    assert status.structured_content is not None
                    if status.structured_content["embedded"]:
                        break
                    await anyio.sleep(0.1)
                await client.call_tool("kb_search", {"query": "deploys"})

    anyio.run(work)
    facts = facts_of(log)
    assert facts["embedded in the background"]["chunks"] == 1
    assert {"query_time_ms", "result_count", *PHASES} <= facts["Hybrid search complete"].keys()


def test_of_several_servers_one_makes_the_vectors(served: Kb, service: services.Service) -> None:
    """S3-24, S3-44: nothing is sent twice, and what a killed one held is another's in the end."""
    service.always = slowly
    said = "".join(f'{{"text": "Rule {number} is this."}}\n' for number in range(8))
    served("notes", text=said, env={"KB_EMBED_VECTORS": "false"})
    with knowbase.open(str(served.base)) as base:
        held_until = time.time() + 3
        assert base.store.lease(WORK, "killed", 3)
        with serving(served.folder), serving(served.folder):
            until(lambda: base.status().embedded == 8)
            assert time.time() > held_until
            until(lambda: base.store.lease(WORK, "next", 1))  # it is given back
    rules = [text for text in service.texts if "Rule" in text]
    assert sorted(rules) == sorted(set(rules))
    assert len(rules) == 8


def test_a_watch_embeds_what_waits(served: Kb) -> None:
    """S3-24, S3-44"""
    served.write("docs/a.md", "Deploys freeze on Fridays.\n")
    served("add", "docs", env={"KB_EMBED_VECTORS": "false"})
    watching = subprocess.Popen(
        [*COMMAND, "watch"],
        cwd=served.folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        with knowbase.open(str(served.base)) as base:
            until(lambda: base.status().embedded == 1)
    finally:
        watching.terminate()
        watching.wait(PATIENCE)
