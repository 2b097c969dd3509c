"""An agent's answer begins with whether the answer is there."""

from agent import calls, text_of

from conftest import Kb


def test_an_agents_answer_begins_with_the_verdict(handbook: Kb) -> None:
    asked = [{"query": "how long is a refresh token valid?"}, {"query": "whales of the Baltic Sea"}]
    ours, foreign = calls(handbook, "kb_search", asked)
    assert text_of(ours).startswith(("verdict: strong (", "verdict: likely (", "verdict: weak ("))
    assert text_of(foreign).startswith("verdict: nothing found (")
    assert foreign.structured_content is not None
    assert foreign.structured_content["metadata"]["verdict"] == "nothing found"
    assert foreign.structured_content["metadata"]["probability"] < 0.3
    assert foreign.structured_content["results"]
