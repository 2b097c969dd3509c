"""What an agent must see of an entry to act on it: where it is, when, and all of it."""

import math
from contextlib import closing
from typing import Any

import pytest
from agent import over_stdio, text_of
from mcp import Client
from mcp_types import CallToolResult

from conftest import Kb
from services import Service

SOURCE = (
    '"""Stores."""\n\n\nclass PlainStore:\n    pass\n\n\nclass PostgresStore:\n    """Rows."""\n'
)


@pytest.fixture
def project(kb: Kb) -> Kb:
    kb.write("src/store.py", SOURCE)
    parts = (f"## Step {n}\n\nStep {n}: move the crates to quay {n}.\n\n" for n in range(50))
    kb.write("docs/quay.md", "# Quay\n\nIntroduction.\n\n" + "".join(parts))
    kb.write("notes.md", "# Notes\n\nSee [the quay](docs/quay.md).\n")
    kb("add", "src", "docs", "notes.md")
    return kb


def test_an_agent_is_led_to_the_file_and_the_line_and_reads_on(project: Kb) -> None:
    """S4-02, S4-29, S4-31, S4-33: path, line, heading and dates in text and JSON; all of an
    entry's text within the tokens, and where it goes on."""

    async def work(client: Client) -> None:
        async def ask(tool: str, **arguments: Any) -> CallToolResult:
            return await client.call_tool(tool, arguments)

        found = await ask("kb_search", query="class PostgresStore", limit=1)
        [entry] = found.structured_content["results"]
        assert (entry["path"], entry["line"]) == ("src/store.py", 8)
        assert entry["created_at"]
        assert entry["updated_at"][:10] in text_of(found)
        assert 'src/store.py:8, "PostgresStore" (' in text_of(found)
        assert "have the words" in text_of(found)
        assert found.structured_content["metadata"]["matching"] == 1

        read = await ask("kb_get", reference="store.py")
        assert "src/store.py:1" in text_of(read)
        assert "class PostgresStore" in text_of(read)
        section = await ask("kb_get", reference=entry["section"])
        assert 'src/store.py:8, "PostgresStore" (' in text_of(section)
        assert section.structured_content["sections"][0]["line"] == 8

        read = await ask("kb_get", reference="docs/quay.md", max_tokens=100_000)
        whole = read.structured_content
        full = await ask("kb_search", query="crates quay", limit=1, detail="full", max_tokens=700)
        [cut] = full.structured_content["results"]
        assert whole["text"].startswith(cut["content"])
        assert 200 < len(cut["content"]) < len(whole["text"])
        assert f'kb_get {cut["code"]}, cursor="{cut["content_cursor"]}"' in text_of(full)
        assert math.ceil(len(text_of(full)) / 4) <= 700
        rest = await ask(
            "kb_get", reference=cut["code"], cursor=cut["content_cursor"], max_tokens=100_000
        )
        assert cut["content"] + rest.structured_content["text"] == whole["text"]
        line = rest.structured_content["sections"][0]["line"]
        assert line == cut["content"].count("\n") + 1
        large = await ask(
            "kb_search", query="crates quay", limit=1, detail="full", max_tokens=100_000
        )
        assert large.structured_content["results"][0]["content"] == whole["text"]

        chapters = [f"## Chapter {one}\n\n{'Of ropes and knots. ' * 30}\n" for one in range(30)]
        last = "## Towing\n\nThe tug is called Halcyon.\n"
        await ask("kb_remember", text="\n".join((*chapters, last)), title="A long note")
        found = await ask("kb_search", query="tug Halcyon", limit=1, detail="full", max_tokens=700)
        [cut] = found.structured_content["results"]
        assert cut["content"] == f"…\n{last}"
        assert "content_cursor" not in cut

        related = await ask("kb_get_related", entry_id="docs/quay.md")
        [note] = related.structured_content["results"]
        assert (note["path"], note["relation"], note["entry_type"]) == (
            "notes.md", "linked", "markdown",
        )  # fmt: skip
        assert "notes.md:" in text_of(related)
        assert "See [the quay]" in note["snippet"]

    over_stdio(project, work)


def test_what_may_contradict_is_named_when_it_is_written(kb: Kb) -> None:
    """S2-02: also for decisions; nothing is said of what is about something else."""

    async def work(client: Client) -> None:
        async def remember(text: str, kind: str = "decision") -> CallToolResult:
            return await client.call_tool("kb_remember", {"text": text, "type": kind})

        first = await remember("We use PostgreSQL for the store")
        code = first.structured_content["document"]["code"]
        assert "similar" not in text_of(first)
        told = await remember("We use SQLite for the store")
        [one] = told.structured_content["similar"]
        assert (one["document"]["code"], one["contradicts"]) == (code, True)
        assert one["differs"] == "PostgreSQL → SQLite"
        assert f'"PostgreSQL → SQLite"): [{code}] > We use PostgreSQL for the store' in text_of(
            told
        )
        assert "supersede=CODE" in text_of(told)
        other = await remember("Lunch is at noon on weekdays", "fact")
        assert other.structured_content["similar"] == []

    over_stdio(kb, work)


def test_a_service_is_named_where_one_is_asked_and_nowhere_else(kb: Kb) -> None:
    """S4-24, S4-26: the packaged model is not a service (test_the_contracts_are_kept…)."""
    sentence = "Falls back to keyword-only if {} is unavailable."

    def description(**env: str) -> str:
        async def work(client: Client) -> str:
            listed = await client.list_tools()
            for tool in listed.tools:
                _all_described(tool.output_schema or {}, tool.name)
            return next(tool.description or "" for tool in listed.tools if tool.name == "kb_search")

        return over_stdio(kb, work, env=env)

    openai = description(
        KB_EMBED_MODEL="service:text-embedding-3-small", KB_EMBED_URL="https://api.openai.com/v1"
    )
    assert openai.endswith(sentence.format("OpenAI"))
    with closing(Service()) as service:
        env = {"KB_EMBED_MODEL": "service:m", "KB_EMBED_URL": service.url}
        kb("remember", "Deploys wait for two reviews", env=env)
        told = description(KB_EMBED_URL=service.url)  # what the base remembers decides
    assert told.endswith(sentence.format("the embedding service"))


def _all_described(schema: dict[str, Any], where: str) -> None:
    for name, part in schema.get("properties", {}).items():
        assert part.get("description"), f"{where}.{name}"
        _all_described(part.get("items", part), f"{where}.{name}")
