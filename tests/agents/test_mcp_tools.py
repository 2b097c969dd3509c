"""The tools as a client sees them: what they are called, take, give, and cost."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from agent import call, calls, over_stdio, text_of
from mcp import Client
from mcp_types import ListToolsResult, ResourceLink, Tool

import knowbase
from conftest import FIXTURES, Kb
from knowbase.embed.granite import Granite
from postgres import new_base

MOST_TOKENS = 3000  # of everything that a client is told about all tools


def tokens(text: str) -> int:
    """As the packaged model counts them, or four letters each if that is more."""
    return max(len(Granite().token_spans(text)), math.ceil(len(text) / 4))


def wire(data: Any) -> str:
    """JSON as it goes over the wire."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def listed(kb: Kb, *options: str) -> dict[str, Tool]:
    async def work(client: Client) -> ListToolsResult:
        return await client.list_tools()

    return {tool.name: tool for tool in over_stdio(kb, work, *options).tools}


@pytest.fixture(scope="module")
def tools(handbook: Kb) -> dict[str, Tool]:
    return listed(handbook)


CONTRACTS: dict[str, dict[str, Any]] = {
    "kb_search": {
        "description": "Search the knowledge base using hybrid semantic + keyword search.",
        "properties": {
            "query": {"type": "string", "description": "Natural language search query"},
            "role": {
                "type": "string",
                "enum": ["pm", "dev", "qa", "all"],
                "description": "Filter by role (optional)",
            },
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Filter by tags - OR logic (optional)",
            },
            "entry_type": {
                "type": "string",
                "description": "Filter by entry type (optional): fact, decision, lesson, code,"
                " pdf …",
            },
            "limit": {
                "type": "integer",
                "default": 10,
                "minimum": 1,
                "maximum": 50,
                "description": "Maximum results to return",
            },
            "min_confidence": {
                "type": "number",
                "default": 0.0,
                "minimum": 0,
                "maximum": 1,
                "description": "Minimum confidence threshold (optional)",
            },
        },
        "required": ["query"],
    },
    "kb_get_related": {
        "description": "Find entries related to a specific entry via parent/sibling"
        " relationships, tag overlap or links.",
        "properties": {
            "entry_id": {
                "type": "string",
                "format": "uuid",
                "description": "UUID of the entry to find related entries for",
            },
            "limit": {
                "type": "integer",
                "default": 5,
                "minimum": 1,
                "maximum": 20,
                "description": "Maximum results to return",
            },
        },
        "required": ["entry_id"],
    },
}


@pytest.mark.parametrize("name", CONTRACTS)
def test_the_contracts_are_kept_to_the_letter(tools: dict[str, Tool], name: str) -> None:
    """S4-24, S4-01, S4-14"""
    tool, contract = tools[name], CONTRACTS[name]
    assert tool.description == contract["description"]
    given = tool.input_schema["properties"]
    assert {key: given[key] for key in contract["properties"]} == contract["properties"]
    assert tool.input_schema["required"] == contract["required"]
    assert tool.input_schema["additionalProperties"] is False


def test_there_are_few_tools_and_they_say_what_they_do_to_the_base(
    tools: dict[str, Tool],
) -> None:
    """S4-27"""
    writing = {"kb_remember", "kb_feedback"}
    reading = {
        "kb_search", "kb_get_related", "kb_get", "kb_list", "kb_timeline", "kb_brief", "kb_status",
    }  # fmt: skip
    assert set(tools) == writing | reading
    for name, tool in tools.items():
        hints = tool.annotations
        assert hints is not None
        assert hints.read_only_hint is (name in reading), name
        assert hints.open_world_hint is False
        if name in writing:
            assert (hints.destructive_hint, hints.idempotent_hint) == (False, True)
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"


def test_all_tools_together_cost_few_tokens(tools: dict[str, Tool]) -> None:
    told = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools.values()]
    assert tokens(wire(told)) < MOST_TOKENS
    for page, words in (
        ("docs/agents.md", r"the nine tools:.*?\| ([\d,]+) \|"),
        ("README.md", r"all of them together cost an agent ([\d,]+) tokens"),
    ):
        said = re.search(words, (FIXTURES.parent.parent / page).read_text(encoding="utf-8"))
        assert said is not None
        assert int(said[1].replace(",", "")) == pytest.approx(tokens(wire(told)), rel=0.03), page


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("kb_search", {"query": "x", "colour": "red"}, "unknown parameter 'colour' (one of query"),
    ("kb_search", {"query": "x", "limit": 51}, "limit cannot be 51 (from 1 to 50)"),
    ("kb_search", {"query": "x", "role": "boss"}, "one of pm, dev, qa, all"),
    ("kb_search", {"query": "x", "tags": 5}, "it must be a list of texts"),
    ("kb_search", {"query": "x", "tags": [5]}, "it must be a list of texts"),
    ("kb_search", {"query": "x", "detail": "all"}, "one of ids, snippets, full"),
    ("kb_search", {"query": "x", "max_tokens": 10}, "from 200 to 100000"),
    ("kb_search", {"query": "x", "cursor": "abc"}, "next_cursor of the answer before"),
    ("kb_search", {"query": " "}, "query cannot be empty (at least one word)"),
    ("kb_search", {}, "query is missing"),
    ("kb_get", {"reference": "HB-T-0099"}, "did you mean HB-T-"),
    ("kb_get", {"reference": "HB-T-0021:nowhere"}, "its sections: HB-T-0021:"),
    ("kb_remember", {}, "text is missing"),
    ("kb_remember", {"text": "x", "salience": 1}, "unknown parameter 'salience'"),
    ("kb_remember", {"text": "x", "type": "poem"}, "unknown type 'poem' (one of markdown"),
    ("kb_timeline", {"anchor": "nobody"}, "Anchor memory not found"),
    ("kb_feedback", {"hit": "HB-T-0021", "verdict": "meh"}, "one of good, bad"),
    ("kb_status", {"deep": True}, "unknown parameter 'deep'"),
]


def test_what_is_wrong_is_said_to_the_model(handbook: Kb) -> None:
    """S4-13, S4-19, C32"""

    async def work(client: Client) -> None:
        for tool, arguments, told in WRONG:
            result = await client.call_tool(tool, arguments)
            assert result.is_error, (tool, arguments)
            assert told in text_of(result), (tool, arguments)
            assert result.structured_content is None

    over_stdio(handbook, work)


def test_detail_says_how_much_of_each_result_is_told(handbook: Kb) -> None:
    asked = [
        {"query": "deploy", "limit": 3, "detail": detail} for detail in ("ids", "snippets", "full")
    ]
    ids, snippets, full = (
        one.structured_content["results"] for one in calls(handbook, "kb_search", asked)
    )
    codes = [[entry["code"] for entry in results] for results in (ids, snippets, full)]
    assert codes[0] == codes[1] == codes[2]
    assert set(ids[0]) == {"id", "code", "title", "score"}
    assert {"snippet", "section", "entry_type"} <= set(snippets[0]) < set(full[0])
    assert "content" in full[0]
    assert "content" not in snippets[0]


def test_results_link_to_their_documents(handbook: Kb) -> None:
    result = call(handbook, "kb_search", query="deploy", limit=3)
    links = [one for one in result.content if isinstance(one, ResourceLink)]
    codes = [entry["code"] for entry in result.structured_content["results"]]
    assert [link.uri for link in links] == [f"kb://document/{code}" for code in codes]


def test_an_answer_keeps_to_its_tokens_and_the_rest_is_behind_the_cursor(handbook: Kb) -> None:
    query = "the release of software"

    async def read(client: Client, **view: Any) -> list[str]:
        """The codes of ten results, however many answers they take."""
        found: list[str] = []
        while len(found) < 10:
            result = await client.call_tool("kb_search", {"query": query, "limit": 10, **view})
            data = result.structured_content
            links = [one.uri for one in result.content if isinstance(one, ResourceLink)]
            assert tokens(wire(data)) <= view["max_tokens"]
            assert tokens("\n".join((text_of(result), *links))) <= view["max_tokens"]
            assert data["results"], "something always fits"
            found += [entry["code"] for entry in data["results"]]
            view["cursor"] = data["next_cursor"]
            assert f'cursor="{view["cursor"]}"' in text_of(result)
        return found[:10]

    async def work(client: Client) -> None:
        whole = await client.call_tool("kb_search", {"query": query, "limit": 10})
        codes = [entry["code"] for entry in whole.structured_content["results"]]
        for most in (200, 400, 1500):
            for detail in ("ids", "snippets", "full"):
                explain = detail == "full"
                view = {"max_tokens": most, "detail": detail, "explain": explain}
                assert await read(client, **view) == codes, view

    over_stdio(handbook, work)


def test_pages_end_where_there_is_nothing_more(handbook: Kb) -> None:
    last = call(handbook, "kb_search", query="deploy", limit=50, detail="ids", max_tokens=100_000)
    assert "next_cursor" not in last.structured_content
    beyond = call(handbook, "kb_search", query="deploy", cursor="50")
    assert beyond.structured_content["results"] == []
    assert "next_cursor" not in beyond.structured_content


def test_a_long_document_is_read_piece_by_piece(own_handbook: Kb) -> None:
    parts = (f"## Part {n}\n\nSentence {n} of many. 🦦\n\n" for n in range(300))
    text = "# Long\n\n" + "".join(parts)
    own_handbook.write("long.md", text)
    own_handbook("add", "long.md")

    async def work(client: Client) -> str:
        read = ""
        cursor: dict[str, str] = {}
        while True:
            asked = {"reference": "long.md", "max_tokens": 1000, **cursor}
            result = await client.call_tool("kb_get", asked)
            data = result.structured_content
            assert tokens(wire(data)) <= 1000
            assert tokens(text_of(result)) <= 1000
            read += str(data["text"])
            if "next_cursor" not in data:
                return read
            cursor = {"cursor": data["next_cursor"]}

    assert over_stdio(own_handbook, work) == own_handbook.json("get", "long.md")["text"]


def test_a_timeline_keeps_to_its_tokens_nearest_first(kb: Kb) -> None:
    for number in range(12):
        kb("remember", f"Step {number} of the work on the harbour was finished", "--project", "p")
    whole = call(kb, "kb_timeline", anchor="KB-6", before=5, after=5, detail="full")
    assert len(whole.structured_content["before"]) == 5
    short = call(kb, "kb_timeline", anchor="KB-6", before=5, after=5, max_tokens=700)
    data = short.structured_content
    assert tokens(wire(data)) <= 700
    assert data["before"][-1]["code"] == "KB-5"
    assert data["after"][0]["code"] == "KB-7"
    assert data["left_out"] == 10 - len(data["before"]) - len(data["after"])
    for detail in ("ids", "snippets", "full"):
        least = call(kb, "kb_timeline", anchor="KB-6", detail=detail, max_tokens=350)
        assert tokens(wire(least.structured_content)) <= 350
        assert [one["code"] for one in least.structured_content["before"]][-1:] == ["KB-5"]


def test_what_an_agent_remembers_is_found_rated_and_briefed(kb: Kb) -> None:
    """S4-15"""

    async def work(client: Client) -> None:
        text = "Deploys wait for two reviews"
        made = await client.call_tool(
            "kb_remember", {"text": text, "type": "decision", "tags": ["ops", "review"]}
        )
        assert made.structured_content["created"] is True
        code = made.structured_content["document"]["code"]
        again = await client.call_tool("kb_remember", {"text": text, "type": "decision"})
        assert again.structured_content["created"] is False
        assert "known already" in text_of(again)
        found = await client.call_tool("kb_search", {"query": "may I deploy without a review?"})
        assert found.structured_content["results"][0]["code"] == code
        rated = await client.call_tool("kb_feedback", {"hit": code, "verdict": "good"})
        assert rated.structured_content["counted"] is True
        brief = await client.call_tool("kb_brief", {})
        assert text in text_of(brief)
        newer = await client.call_tool(
            "kb_remember", {"text": "Deploys wait for one review", "supersede": code}
        )
        assert newer.structured_content["superseded"]["code"] == code
        unknown = await client.call_tool("kb_get_related", {"entry_id": "no-such-entry"})
        assert unknown.is_error
        assert "there is no document 'no-such-entry'" in text_of(unknown)

    over_stdio(kb, work)


def test_with_less_access_there_are_fewer_tools_and_the_others_are_refused(handbook: Kb) -> None:
    """S4-27"""
    tools = listed(handbook, "--read-only")
    assert "kb_search" in tools
    assert not {"kb_remember", "kb_feedback"} & set(tools)
    refused = call(handbook, "kb_remember", "--read-only", text="Not to be kept")
    assert refused.is_error
    assert "kb_remember writes" in text_of(refused)


def test_a_base_in_postgresql_is_served_alike(tmp_path: Path) -> None:
    """S4-24"""
    place = new_base()
    knowbase.create(place).close()

    async def work(client: Client) -> list[str]:
        for text in ("Deploys wait for two reviews", "Lunch is at noon"):
            await client.call_tool("kb_remember", {"text": text, "type": "fact"})
        found = await client.call_tool("kb_search", {"query": "deploy", "entry_type": "fact"})
        assert found.structured_content["metadata"]["search_modes_used"] == ["keyword", "semantic"]
        return [entry["title"] for entry in found.structured_content["results"]]

    found = over_stdio(Kb(tmp_path), work, "--base", place)
    assert found[0] == "Deploys wait for two reviews"


def test_what_cannot_fit_at_all_is_said(kb: Kb) -> None:
    kb.write("long.md", "# " + "A title that is far too long " * 60 + "\n\nText about otters\n")
    kb("add", "long.md")
    found = call(kb, "kb_search", query="otters", max_tokens=200)
    assert found.structured_content["results"] == []
    read = call(kb, "kb_get", reference="long.md", max_tokens=200)
    for told in (found, read):
        assert "nothing fits: ask again with a larger max_tokens" in text_of(told)
    assert call(kb, "kb_get", reference="long.md").structured_content["text"]
