"""Each tool gives what the Python function and the command give."""

from collections.abc import Callable
from typing import Any

import pytest
from agent import call

import knowbase
from conftest import Kb
from knowbase.base import Base
from knowbase.contracts.entries import kb_get_related, kb_search
from knowbase.operations.results import plain

QUERY = "may I release on a Friday?"
PASSING = ("query_time_ms", "timings", "debug_info", "access_count", "size_bytes")


def steady(value: Any) -> Any:
    """Without what differs from one run to the next."""
    if isinstance(value, dict):
        return {name: steady(part) for name, part in value.items() if name not in PASSING}
    return [steady(part) for part in value] if isinstance(value, list) else value


def within(part: Any, whole: Any) -> bool:
    """Whether `part` says nothing that `whole` does not, and leaves out no more than fields."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            name in whole and within(value, whole[name]) for name, value in part.items()
        )
    if isinstance(part, list):
        same = isinstance(whole, list) and len(part) == len(whole)
        return same and all(within(*pair) for pair in zip(part, whole, strict=True))
    return bool(part == whole)


READING: dict[str, tuple[dict[str, Any], Callable[[Base], Any], list[str]]] = {
    "kb_get": (
        {"reference": "HB-T-0021", "max_tokens": 100_000},
        lambda base: base.get("HB-T-0021"),
        ["get", "HB-T-0021"],
    ),
    "kb_timeline": (
        {"anchor": "HB-T-0021", "before": 2, "after": 2, "detail": "full"},
        lambda base: base.sessions.timeline("HB-T-0021", 2, 2),
        ["timeline", "HB-T-0021", "--before", "2", "--after", "2"],
    ),
    "kb_brief": (
        {"max_tokens": 500},
        lambda base: base.brief(None, 500),
        ["brief", "--max-tokens", "500"],
    ),
    "kb_status": ({}, lambda base: base.status(), ["status"]),
}


@pytest.mark.parametrize("tool", READING)
def test_a_tool_that_reads_gives_what_python_and_the_command_give(handbook: Kb, tool: str) -> None:
    """S4-24, S4-15"""
    arguments, python, command = READING[tool]
    given = steady(call(handbook, tool, **arguments).structured_content)
    given.pop("next_cursor", None)
    with knowbase.open(str(handbook.base)) as base:
        whole = steady(plain(python(base)))
    assert whole == steady(handbook.json(*command))
    assert within(given, whole), (given, whole)
    if arguments.get("detail") == "full" or tool == "kb_status":
        assert given == whole


def test_a_search_gives_what_python_and_the_command_give(handbook: Kb) -> None:
    """S4-24, S4-02"""
    asked = {"query": QUERY, "limit": 5, "explain": True}
    given = call(
        handbook, "kb_search", **asked, detail="full", max_tokens=100_000
    ).structured_content
    with knowbase.open(str(handbook.base)) as base:
        whole = plain(kb_search(base, **asked))
    assert given.pop("next_cursor").startswith("5-")
    assert steady(given) == steady(whole)
    told = handbook.json("search", QUERY, "--unit", "document", "--top", "5", "--explain")
    assert [(hit["id"], hit["score"], hit["section"]) for hit in told["hits"]] == [
        (entry["id"], entry["score"], entry["section"]) for entry in given["results"]
    ]
    assert told["total"] == given["metadata"]["total"]
    assert told["profile"] == given["metadata"]["profile"] == "best"


def test_related_entries_are_those_of_the_command(handbook: Kb) -> None:
    """S4-15, S4-29"""
    given = call(
        handbook, "kb_get_related", entry_id="HB-T-0021", limit=20, detail="full",
        max_tokens=100_000,
    ).structured_content  # fmt: skip
    with knowbase.open(str(handbook.base)) as base:
        assert steady(given) == steady(plain(kb_get_related(base, entry_id="HB-T-0021", limit=20)))
    told = handbook.json("related", "HB-T-0021", "--limit", "20")
    assert [(one["document"]["code"], one["relation"]) for one in told["results"]] == [
        (one["code"], one["relation"]) for one in given["results"]
    ]
    assert {**told["metadata"], "more": False} == given["metadata"]
    assert "linked" in told["metadata"]["relationship_types"]


def test_a_tool_that_writes_does_what_the_command_does(kb: Kb) -> None:
    """S4-24"""
    passing = ("id", "created_at", "updated_at", "seq", "code", "content_hash", "last_accessed_at")

    def lasting(document: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in document.items() if name not in passing}

    ours = call(kb, "kb_remember", text="We use Svelte", type="decision", tags=["ui"], project="a")
    theirs = kb.json("remember", "We use Svelte", "--type", "decision", "--tags", "ui",
                     "--project", "b")  # fmt: skip
    mine = lasting(ours.structured_content["document"])
    assert mine == {**mine, "type": "decision", "tags": ["ui"], "project": "a"}
    assert within({**mine, "project": "b"}, lasting(theirs["document"]))
    code = ours.structured_content["document"]["code"]
    said = call(kb, "kb_feedback", hit=code, verdict="good", session="s1").structured_content
    again = kb.json("feedback", code, "good", "--session", "s1")
    assert (said["verdict"], said["counted"]) == ("good", True)
    assert (again["verdict"], again["counted"]) == ("good", False)
    assert again["document"]["confirmed"] == 1
