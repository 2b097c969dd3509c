"""How many results there are: two variables count on every surface."""

import json
import subprocess
from typing import Any

from agent import over_stdio, text_of
from mcp import Client

from conftest import COMMAND, Kb, environment

LIMITS = {"KB_SEARCH_DEFAULT_LIMIT": "2", "KB_SEARCH_MAX_LIMIT": "3"}
CONTRACTS = """
import json, sys, knowbase
from knowbase.contracts.knowledge import search_knowledge
from knowbase.contracts.memory import SearchOptions, create_search_service
with knowbase.open() as base:
    print(json.dumps([
        len(search_knowledge(base, "zebra")),
        len(create_search_service(base).search(SearchOptions("zebra", include_documents=True))),
        len(knowbase.KnowledgeBaseSearch(base).search(query="zebra").results),
    ]))
"""


def test_the_limits_of_the_environment_count_on_every_surface(kb: Kb) -> None:
    """S4-20, C5"""
    for number in range(5):
        kb.write(f"docs/{number}.md", f"zebra {number}")
    kb("add", "docs", "--defer")
    assert kb.json("search", "zebra", "--fts-only", env=LIMITS)["returned"] == 2
    assert kb.json("search", "zebra", "--fts-only", "--top", "3", env=LIMITS)["returned"] == 3
    refused = kb.error("search", "zebra", "--top", "4", "--profile", "kb", env=LIMITS, code=2)
    assert "from 1 to 3" in refused
    wrong = kb.error("search", "zebra", env={"KB_SEARCH_MAX_LIMIT": "many"}, code=2)
    assert "KB_SEARCH_MAX_LIMIT" in wrong

    async def work(client: Client) -> tuple[dict[str, Any], int, str]:
        (tool,) = [one for one in (await client.list_tools()).tools if one.name == "kb_search"]
        found = await client.call_tool("kb_search", {"query": "zebra"})
        refused = await client.call_tool("kb_search", {"query": "zebra", "limit": 4})
        assert refused.is_error
        results = (found.structured_content or {})["results"]
        return tool.input_schema["properties"]["limit"], len(results), text_of(refused)

    off = {**LIMITS, "KB_EMBED_VECTORS": "false"}
    schema, number, refusal = over_stdio(kb, work, env=off)
    assert (schema["default"], schema["maximum"], number) == (2, 3, 2)
    assert "limit" in refusal
    assert "3" in refusal
    done = subprocess.run(
        [COMMAND[0], "-c", CONTRACTS],
        capture_output=True,
        check=True,
        cwd=kb.folder,
        env=environment(**off),
    )
    assert json.loads(done.stdout) == [2, 2, 2]
