"""Pages and counts as an agent asks for them."""

from typing import Any

from agent import over_stdio, text_of
from mcp import Client
from mcp_types import CallToolResult

import knowbase
from conftest import Kb
from knowbase import Note

NUMBER = 12


def test_an_agent_pages_and_counts_too(kb: Kb) -> None:
    """A cursor of one call is refused by another, a document's as well."""
    with knowbase.create(str(kb.folder)) as base:
        for number in range(NUMBER):
            text = f"# Note {number}\n\nThe harbour log of day {number}."
            base.note(Note(text, project="web" if number % 3 else "ops", tags=("odd",)))

    async def work(client: Client) -> None:
        asked = {"query": "harbour log", "limit": 5, "detail": "ids", "facets": ["project"]}
        first = await client.call_tool("kb_search", asked)
        told = first.structured_content
        assert told["metadata"]["facets"]["project"][0] == {"value": "web", "documents": 8}
        assert "project: web 8, ops 4" in text_of(first)
        cursor = {"cursor": told["next_cursor"]}
        second = await client.call_tool("kb_search", {**asked, **cursor})
        codes = {one["code"] for page in (first, second) for one in results(page)}
        assert len(codes) == 10
        for tool, other in (
            ("kb_search", {**asked, "query": "harbour"}),
            ("kb_search", {**asked, "tags": ["odd"]}),
            ("kb_search", {**asked, "limit": 4}),
            ("kb_get", {"reference": told["results"][0]["code"]}),
        ):
            refused = await client.call_tool(tool, {**other, **cursor})
            assert refused.is_error
            assert "belongs to another call" in text_of(refused)

    over_stdio(kb, work)


def results(page: CallToolResult) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = page.structured_content["results"]
    return found
