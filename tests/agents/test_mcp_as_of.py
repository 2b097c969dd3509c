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
