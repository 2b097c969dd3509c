"""Ten tasks of an agent, done through the tools alone, on a base of code and notes (the handbook).

Each task asks what an agent would ask next from what it was told before, and ends with what it was
after. Run as a script, it prints what each answer costs, for docs/agents.md:

    PYTHONPATH=tests:tests/agents python tests/agents/tasks.py
"""

import json
import math
import sys
from collections.abc import Awaitable, Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from mcp import Client
from mcp_types import CallToolResult, ResourceLink, TextContent

from knowbase.embed.granite import Granite


class Cost(NamedTuple):
    """What the answers of one task cost as text, and as JSON."""

    task: str
    calls: int
    text: int
    data: int


def tokens(text: str) -> int:
    """As the packaged model counts them, or four letters each if that is more."""
    return max(len(_granite().token_spans(text)), math.ceil(len(text) / 4))


@cache
def _granite() -> Granite:
    return Granite()


class Agent:
    """Calls tools, and counts what it reads."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls = self.text = self.data = 0

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._client.call_tool(tool, arguments)
        assert not result.is_error, _spoken(result)
        self.calls += 1
        self.text += tokens(_spoken(result))
        self.data += tokens(json.dumps(result.structured_content, ensure_ascii=False))
        return dict(result.structured_content or {})


def _spoken(result: CallToolResult) -> str:
    texts = [one.text for one in result.content if isinstance(one, TextContent)]
    links = [one.uri for one in result.content if isinstance(one, ResourceLink)]
    return "\n".join((*texts, *links))


async def answer_a_question(agent: Agent) -> None:
    found = await agent("kb_search", query="How do I take back a bad release?", limit=5)
    chosen = next(one for one in found["results"][:3] if one["title"] == "Rollback")
    read = await agent("kb_get", reference=chosen["section"])
    assert "roll" in read["text"].lower()


async def find_code(agent: Agent) -> None:
    found = await agent("kb_search", query="retry after header of the http client", limit=5)
    code = next(one for one in found["results"] if one["entry_type"] == "code")
    read = await agent("kb_get", reference=code["code"])
    assert read["document"]["path"].endswith("http_client.py")
    assert "import time" in read["text"]


async def look_around(agent: Agent) -> None:
    top = await agent("kb_list")
    folder = top["folders"][0]["folder"]
    below = await agent("kb_list", folder=folder)
    assert {"handbook/operations/", "handbook/code/"} <= {one["folder"] for one in below["folders"]}
    files = await agent("kb_list", folder="handbook/code", type=["code"])
    assert files["total"] == 3


async def start_work(agent: Agent) -> None:
    started = await agent("kb_session", action="start", session="refactor", project="quay")
    assert started["id"] == "refactor"
    await agent("kb_brief", project="quay")
    found = await agent("kb_search", query="code review", session="refactor", limit=3)
    shown = await agent("kb_session", action="show", session="refactor")
    used = {one["document"]["code"] for one in shown["used"]}
    assert {one["code"] for one in found["results"]} <= used


async def keep_a_decision(agent: Agent) -> None:
    text = "We page the second person on call after ten minutes."
    made = await agent(
        "kb_remember", text=text, type="decision", project="quay", session="refactor"
    )
    found = await agent("kb_search", query="when is the second person paged?", limit=3)
    assert made["document"]["code"] in {one["code"] for one in found["results"]}


async def correct_a_decision(agent: Agent) -> None:
    found = await agent("kb_search", query="page the second person on call", limit=1)
    old = found["results"][0]["code"]
    text = "We page the second person on call after five minutes, not ten."
    new = await agent("kb_remember", text=text, type="decision", project="quay", supersede=old)
    assert new["superseded"]["code"] == old
    read = await agent("kb_get", reference=old)
    assert read["current"] == new["document"]["code"]


async def see_what_depends(agent: Agent) -> None:
    links = await agent("kb_links", reference="HB-T-0021")
    assert links["links"]
    map_of = await agent("kb_map", action="rank", top=5)
    assert len(map_of["documents"]) == 5
    groups = await agent("kb_map", action="communities")
    assert groups["communities"]


async def watch_a_subject(agent: Agent) -> None:
    await agent("kb_saved", action="add", name="of-tag", query="tag:{tag}")
    listed = await agent("kb_saved", action="list")
    assert [one["name"] for one in listed["saved"]] == ["of-tag"]
    found = await agent("kb_saved", action="run", name="of-tag", set=["tag=security"], top=5)
    assert found["hits"]


async def tidy_up(agent: Agent) -> None:
    note = await agent("kb_remember", text="The printer on floor two is broken.", tags=["office"])
    code = note["document"]["code"]
    tagged = await agent("kb_edit", action="tag", references=[code], add=["printer"])
    assert set(tagged["documents"][0]["tags"]) == {"office", "printer"}
    await agent("kb_edit", action="forget", references=[code])
    found = await agent("kb_search", query="printer floor two broken", limit=3)
    assert code not in {one["code"] for one in found["results"]}
    back = await agent("kb_edit", action="restore", references=[code])
    assert back["documents"][0]["code"] == code


async def end_work(agent: Agent) -> None:
    ended = await agent(
        "kb_session", action="end", session="refactor", summary="Paging is faster now."
    )
    assert ended["ended_at"]
    rated = await agent("kb_feedback", hit="HB-T-0021", verdict="good", session="refactor")
    assert rated["counted"]
    brief = await agent("kb_brief", project="quay")
    assert "five minutes" in brief["text"]


TASKS: tuple[Callable[[Agent], Awaitable[None]], ...] = (
    answer_a_question,
    find_code,
    look_around,
    start_work,
    keep_a_decision,
    correct_a_decision,
    see_what_depends,
    watch_a_subject,
    tidy_up,
    end_work,
)


async def do_all(client: Client) -> list[Cost]:
    """The costs of the tasks, once each of them is done."""
    costs = []
    for task in TASKS:
        agent = Agent(client)
        await task(agent)
        name = task.__name__.replace("_", " ")
        costs.append(Cost(name, agent.calls, agent.text, agent.data))
    return costs


def main() -> None:
    import shutil
    from tempfile import TemporaryDirectory

    from agent import over_stdio

    from conftest import FIXTURES, Kb

    with TemporaryDirectory() as folder:
        kb = Kb(Path(folder))
        shutil.copytree(FIXTURES / "handbook", kb.folder / "handbook")
        kb("init")
        kb("add", "handbook")
        for cost in over_stdio(kb, do_all, "--tools", "all"):
            print(f"| {cost.task} | {cost.calls} | {cost.text:,} | {cost.data:,} |")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))  # for what all tests share
    main()
