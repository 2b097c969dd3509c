"""Agents ask of the base as it was."""

from agent import call, calls, text_of

from conftest import Kb


def test_an_agent_asks_of_the_base_as_it_was(own_handbook: Kb) -> None:
    number = own_handbook.json("log", "--limit", "1")["changes"][0]["number"]
    own_handbook("note", "The otter eats urchins", "--code", "OT-1")
    own_handbook("note", "The otter sleeps", "--code", "OT-1", "--replace", "OT-1")
    first = f"#{number + 1}"
    found = text_of(call(own_handbook, "kb_search", query="otter", as_of=first))
    assert "eats urchins" in found
    assert "sleeps" not in found
    assert "eats urchins" in text_of(call(own_handbook, "kb_get", reference="OT-1", as_of=first))
    before = call(own_handbook, "kb_search", query="otter", as_of=f"#{number}").structured_content
    assert before is not None
    assert "OT-1" not in str(before["results"])
    listed = calls(own_handbook, "kb_list", [{"as_of": f"#{number}"}, {"as_of": "someday"}])
    assert "OT-1" not in text_of(listed[0])
    assert "'someday' is not a moment" in text_of(listed[1])
    assert listed[1].is_error


def test_an_agent_asks_what_was_related(kb: Kb) -> None:
    kb("note", "The parent of otters", "--code", "OT-1")
    kb("note", "One otter", "--code", "OT-2", "--parent", "OT-1")
    number = kb.json("log", "--limit", "1")["changes"][0]["number"]
    kb("note", "Another otter", "--code", "OT-3", "--parent", "OT-1")
    entry = kb.json("get", "OT-2")["document"]["id"]
    now = text_of(call(kb, "kb_get_related", entry_id=entry))
    assert "Another otter" in now
    then = text_of(call(kb, "kb_get_related", entry_id=entry, as_of=f"#{number}"))
    assert "The parent of otters" in then
    assert "Another otter" not in then
