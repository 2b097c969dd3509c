"""What an agent has to do, done through the tools alone."""

import json
from typing import Any

import pytest
from agent import in_process, over_stdio, text_of
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Tool
from tasks import do_all
from test_mcp_tools import MOST_TOKENS, tokens, wire

from conftest import Kb
from knowbase.operations.schema import result_schema
from knowbase.values.access import Access


def test_ten_tasks_are_done_without_leaving_the_tools(own_handbook: Kb) -> None:
    """S4-32, S2-22"""
    costs = over_stdio(own_handbook, do_all, "--tools", "all")
    assert len(costs) == 10
    for cost in costs:
        assert cost.text < 4000 * cost.calls
        assert cost.data < 4000 * cost.calls


USE_CASES: tuple[tuple[str, str], ...] = (
    ("tag:ops AND tag:security", "HB-T-0025"),
    ("deploy under:HB-I-0018", "HB-T-0021"),
    ("deploy NOT tag:policy", "HB-T-0021"),
    ("database migration", "HB-T-"),
    ('similar:"undo a bad release"', "HB-T-"),
    ("like:HB-T-0021", "HB-T-"),
    ("related:HB-I-0018 depth:2", "HB-T-"),
)


def test_the_use_cases_are_asked_through_the_tools(handbook: Kb) -> None:
    """S3-42: UC-1 to UC-7 as queries, UC-8 as the map; the same hits as the command's."""
    asked = dict(USE_CASES)
    by_command = {query: [hit["code"] for hit in kb_hits(handbook, query)] for query in asked}

    async def work(client: Client) -> None:
        for query, code in USE_CASES:
            found = await client.call_tool(
                "kb_search", {"query": query, "syntax": "query", "limit": 10}
            )
            assert not found.is_error, text_of(found)
            codes = [one["code"] for one in found.structured_content["results"]]
            assert any(one.startswith(code) for one in codes), query
            assert set(codes[:3]) & set(by_command[query]), query
        groups = await client.call_tool("kb_map", {"action": "communities"})
        assert groups.structured_content["communities"][0]["size"] > 1

    in_process(handbook, work, "kb_search", "kb_map")


def kb_hits(kb: Kb, query: str) -> list[dict[str, Any]]:
    return list(kb.json("search", query, "--unit", "document", "--top", "10")["hits"])


def tools_of(kb: Kb, *names: str) -> dict[str, Tool]:
    async def work(client: Client) -> dict[str, Tool]:
        return {tool.name: tool for tool in (await client.list_tools()).tools}

    return in_process(kb, work, *names)


def test_tools_are_chosen_and_the_others_are_not_there(handbook: Kb) -> None:
    every = set(tools_of(handbook, "all"))
    assert {"kb_links", "kb_map", "kb_edit", "kb_session", "kb_saved", "kb_list"} <= every

    async def work(client: Client) -> set[str]:
        with pytest.raises(MCPError, match=r"no tool 'kb_search' \(one of kb_get, kb_edit\)"):
            await client.call_tool("kb_search", {"query": "x"})
        return {tool.name for tool in (await client.list_tools()).tools}

    assert over_stdio(handbook, work, "--tools", "kb_get,kb_edit") == {"kb_get", "kb_edit"}
    assert "one of default, all, chatgpt, kb_search" in handbook.error(
        "mcp", "--tools", "kb_serach", code=2
    )


def test_every_field_that_an_answer_is_said_to_have_is_described_and_there(handbook: Kb) -> None:
    """S4-26"""
    from knowbase.mcp.schemas import GIVES, _properties
    from knowbase.mcp.tools import tools

    for name, tool in tools_of(handbook, "all", "chatgpt").items():
        fields = (tool.output_schema or {})["properties"]
        assert fields
        for field, schema in fields.items():
            inner = schema.get("items", schema).get("properties", {})
            for one, part in {field: schema, **inner}.items():
                assert part["description"] not in ("", one), (name, one)
        given = {
            field
            for operation in tools()[name].operations
            for field in _properties(result_schema(operation))
        }
        assert set(GIVES.get(name, {})) <= given, name


def test_what_has_to_be_asked_for_is_cheap(handbook: Kb) -> None:
    every, pair = tools_of(handbook, "all"), tools_of(handbook, "chatgpt")
    usual = tools_of(handbook)
    every |= {name: tool for name, tool in pair.items() if name not in every}
    for name in set(every) - set(usual):
        told = every[name].model_dump(by_alias=True, exclude_none=True)
        assert tokens(wire(told)) < 350, name
    own = [one for name, one in every.items() if name not in pair]
    schemas = [(one.input_schema, one.output_schema) for one in own]
    assert tokens(wire(schemas)) < MOST_TOKENS


def test_access_holds_for_each_action(own_handbook: Kb) -> None:
    """Who may only read can list and show sessions, and start none."""
    kb = own_handbook
    kb("remember", "Apollo flies in May", "--project", "apollo", "--code", "AP-1")

    async def reading(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert "kb_edit" not in tools or actions(tools["kb_edit"]) == []
        assert actions(tools["kb_session"]) == ["list", "show"]
        assert "kb_saved" not in tools  # saved searches concern the whole base
        refused = await client.call_tool("kb_session", {"action": "start", "session": "s"})
        assert "kb_session start writes" in text_of(refused)
        held = await client.call_tool("kb_search", {"query": "Apollo", "session": "s"})
        assert "recording in a session is writing" in text_of(held)
        below = await client.call_tool("kb_list", {})
        assert [one["code"] for one in below.structured_content["documents"]] == ["AP-1"]
        assert below.structured_content["folders"] == []

    def actions(tool: Any) -> list[str]:
        return list(tool.input_schema["properties"]["action"]["enum"])

    in_process(kb, reading, "all", access=Access(write=False, project="apollo"))

    async def writing(client: Client) -> None:
        other = await client.call_tool("kb_edit", {"action": "forget", "references": ["HB-T-0021"]})
        assert other.is_error
        tagged = await client.call_tool(
            "kb_edit", {"action": "tag", "references": ["AP-1"], "add": ["moon"]}
        )
        assert tagged.structured_content["documents"][0]["tags"] == ["moon"]
        for wrong, told in (
            ({"action": "burn"}, "one of forget, archive, restore, tag"),
            ({}, "action is missing"),
            ({"action": "forget", "references": ["AP-1"], "add": ["x"]}, "unknown parameter 'add'"),
            ({"action": "tag", "references": ["AP-1"]}, "no tag is named"),
        ):
            assert told in text_of(await client.call_tool("kb_edit", wrong))

    in_process(kb, writing, "all", access=Access(project="apollo"))
    assert "come from its file" in kb.error("tag", "HB-T-0021", "--add", "x", code=2)


def test_a_folder_is_read_page_by_page(handbook: Kb) -> None:
    async def work(client: Client) -> tuple[list[str], int]:
        codes: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = await client.call_tool("kb_list", {"folder": "./handbook/", **cursor})
            data = page.structured_content
            assert tokens(wire(data)) <= 4000
            codes += [one["code"] for one in data["documents"]]
            if "next_cursor" not in data:
                return codes, data["total"]
            cursor = {"cursor": data["next_cursor"]}

    codes, total = in_process(handbook, work)
    assert len(codes) == len(set(codes)) == total
    by_command = handbook.json("browse", "handbook")
    assert codes == [one["code"] for one in by_command["documents"]]
    nowhere = handbook.json("browse", "handbook/nowhere")
    assert (nowhere["total"], len(nowhere["notices"])) == (0, 1)
    assert "the path '/handbook/nowhere/' (did you mean handbook/" in nowhere["notices"][0]


def test_chatgpt_finds_its_pair(handbook: Kb) -> None:
    async def work(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == {"search", "fetch"}
        found = await client.call_tool("search", {"query": "how do we deploy?"})
        assert json.loads(text_of(found)) == found.structured_content
        first = found.structured_content["results"][0]
        assert set(first) == {"id", "title", "url"}
        read = await client.call_tool("fetch", {"id": first["id"]})
        told = json.loads(text_of(read))
        assert set(told) == {"id", "title", "text", "url", "metadata"}
        assert told["text"] == handbook.json("get", first["id"])["text"]

    in_process(handbook, work, "chatgpt")
